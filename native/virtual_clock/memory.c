// Memory from lists of free pieces by size. Programs such as slurmctld clear nearly all they allocate, and the C
// library's calloc takes the long way; with one thread at a time there is nobody to keep apart, so a list for each size
// is enough. Large pieces, aligned ones, and all of them where no room can be set apart, are the C library's.
#define _GNU_SOURCE
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shim.h"

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void __libc_free(void *piece);

#define ROOM (1UL << 36)  // bytes of addresses; memory is taken where it is written to
#define SPAN (1UL << 18)  // bytes that hold pieces of one size
enum {
  GRAIN = 16,
  FINE = 1024,  // up to here every multiple of a grain is a size of its own; beyond, four in each doubling
  LARGEST = 1 << 15,
  SIZES = FINE / GRAIN + 4 * 5 + 1
};

struct piece {
  struct piece *next;
};
struct kind {
  struct piece *free;
  uintptr_t fresh, end;  // what no piece has been cut from yet: zeros
};

static struct kind kinds[SIZES];
static unsigned char kind_of_span[ROOM / SPAN];
static uintptr_t room, room_size, used;
static bool room_sought;
static atomic_flag taken = ATOMIC_FLAG_INIT;  // threads on their first and last steps run beside the others

static void take(void) {
  while (atomic_flag_test_and_set_explicit(&taken, memory_order_acquire)) syscall(SYS_sched_yield);
}

static void give(void) { atomic_flag_clear_explicit(&taken, memory_order_release); }

// Whoever was at the lists stayed in the parent. Lists change by one store, so they are whole.
static void after_fork(void) { give(); }

__attribute__((constructor)) static void know_children(void) { pthread_atfork(NULL, NULL, after_fork); }

// ---- sizes

static int kind_for(size_t size) {
  if (size <= FINE) return size ? (int)((size + GRAIN - 1) / GRAIN) : 1;
  int doubling = 63 - __builtin_clzl(size - 1);  // 2^doubling < size <= 2^(doubling + 1)
  int quarter = (int)((size - 1) >> (doubling - 2)) & 3;
  return FINE / GRAIN + 4 * (doubling - 10) + quarter + 1;
}

static size_t size_of(int kind) {
  if (kind <= FINE / GRAIN) return (size_t)kind * GRAIN;
  int step = kind - FINE / GRAIN - 1;
  return (size_t)(5 + step % 4) << (8 + step / 4);
}

static bool is_ours(const void *piece) { return (uintptr_t)piece - room < room_size; }

static int kind_of(const void *piece) { return kind_of_span[((uintptr_t)piece - room) / SPAN]; }

// ---- pieces

static bool more_room(struct kind *kind) {
  if (!room_sought) {
    room_sought = true;
    void *found = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (found != MAP_FAILED) {
      room = (uintptr_t)found;
      room_size = ROOM;
    }
  }
  if (used + SPAN > room_size) return false;
  uintptr_t fresh = room + used;
  kind_of_span[used / SPAN] = (unsigned char)(kind - kinds);
  used += SPAN;
  kind->fresh = fresh;
  kind->end = fresh + SPAN;
  return true;
}

// NULL: there is no room left. `zeros`: it has never been used.
static void *piece_of(int number, bool *zeros) {
  struct kind *kind = &kinds[number];
  size_t size = size_of(number);
  take();
  void *found = kind->free;
  *zeros = !found;
  if (found) {
    kind->free = kind->free->next;
  } else if (kind->fresh + size <= kind->end || more_room(kind)) {
    found = (void *)kind->fresh;
    kind->fresh += size;
  }
  give();
  return found;
}

static void put_back(void *piece) {
  struct kind *kind = &kinds[kind_of(piece)];
  take();
  ((struct piece *)piece)->next = kind->free;
  kind->free = piece;
  give();
}

// ---- what the program calls

void *malloc(size_t size) {
  bool zeros;
  void *found = size > LARGEST ? NULL : piece_of(kind_for(size), &zeros);
  return found ? found : __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
  size_t all;
  bool zeros;
  if (__builtin_mul_overflow(count, size, &all) || all > LARGEST) return __libc_calloc(count, size);
  void *found = piece_of(kind_for(all), &zeros);
  if (!found) return __libc_calloc(count, size);
  return zeros ? found : memset(found, 0, all);
}

void free(void *piece) {
  if (is_ours(piece))
    put_back(piece);
  else
    __libc_free(piece);
}

void *realloc(void *old, size_t size) {
  if (!old) return malloc(size);
  if (!is_ours(old)) return __libc_realloc(old, size);
  if (!size) {
    free(old);
    return NULL;
  }
  size_t before = size_of(kind_of(old));
  if (size <= before && size > before / 2) return old;
  void *grown = malloc(size);
  if (!grown) return NULL;
  memcpy(grown, old, size < before ? size : before);
  free(old);
  return grown;
}

size_t malloc_usable_size(void *piece) {
  return is_ours(piece) ? size_of(kind_of(piece)) : REAL(malloc_usable_size)(piece);
}
