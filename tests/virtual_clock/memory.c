// Threads that really run beside each other allocate, fill, grow, hand over and free pieces of all sizes; what is wrong
// with one ends the program. With `cores`: two threads on the clock take turns, and the program and a child say on how
// many cores they may run.
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SHELF = 256, ROUNDS = 200000, THREADS = 4, TURNS = 200 };
struct held {
  size_t size;
  unsigned char mark;
};
static _Atomic(struct held *) shelf[SHELF];  // what one thread puts there another takes

static void require(int good, const char *what) {
  if (good) return;
  fprintf(stderr, "%s\n", what);
  _exit(1);
}

static unsigned next(unsigned *seed) { return *seed = *seed * 1664525u + 1013904223u; }

static unsigned char *inside(struct held *one) { return (unsigned char *)(one + 1); }

static void check(struct held *one, size_t size, unsigned char mark, const char *what) {
  for (size_t i = 0; i < size; i++) require(inside(one)[i] == mark, what);
}

static struct held *made(unsigned *seed) {
  size_t size = next(seed) >> 8;
  size = size % 64 ? size % 40 : size % 70000;  // some beyond the largest that is kept in lists
  int cleared = next(seed) >> 31;
  struct held *one = cleared ? calloc(1, sizeof *one + size) : malloc(sizeof *one + size);
  require(one && !((uintptr_t)one % 16), "alignment");
  require(malloc_usable_size(one) >= sizeof *one + size, "room");
  if (cleared) check(one, size, 0, "zeros");
  *one = (struct held){size, next(seed) >> 24};
  memset(inside(one), one->mark, size);
  return one;
}

static struct held *grown(struct held *one, unsigned *seed) {
  size_t before = one->size, size = next(seed) % 3000;
  one = realloc(one, sizeof *one + size);
  require(one != NULL, "realloc");
  check(one, before < size ? before : size, one->mark, "kept by realloc");
  one->size = size;
  memset(inside(one), one->mark, size);
  return one;
}

static void *works(void *argument) {
  unsigned seed = (unsigned)(uintptr_t)argument;
  for (int round = 0; round < ROUNDS; round++) {
    struct held *one = made(&seed);
    if (round % 5 == 0) one = grown(one, &seed);
    one = atomic_exchange(&shelf[(next(&seed) >> 8) % SHELF], one);
    if (!one) continue;
    check(one, one->size, one->mark, "left alone");
    free(one);
  }
  return NULL;
}

static int memory(void) {
  pthread_t threads[THREADS];
  for (uintptr_t i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, works, (void *)(i + 1));
  for (int child = 0; child < 20; child++) {  // whose copy of the lists is whole
    pid_t pid = fork();
    if (!pid) {
      alarm(60);  // nobody else would end one that hangs
      unsigned seed = 77;
      for (int i = 0; i < 1000; i++) free(made(&seed));
      _exit(0);
    }
    int status;
    require(waitpid(pid, &status, 0) == pid && !status, "child");
  }
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  void *aligned = NULL;
  require(!posix_memalign(&aligned, 4096, 100) && !((uintptr_t)aligned % 4096), "aligned");
  free(aligned);
  free(NULL);
  volatile size_t half = SIZE_MAX / 2;  // compilers see through a constant
  require(calloc(half, 3) == NULL, "too much");
  puts("ok");
  return 0;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turns;

static void *takes_turns(void *argument) {
  int which = (int)(uintptr_t)argument;
  pthread_mutex_lock(&mutex);
  while (turns < TURNS) {
    if (turns % 2 != which) {
      pthread_cond_wait(&changed, &mutex);
      continue;
    }
    turns++;
    pthread_cond_signal(&changed);
  }
  pthread_mutex_unlock(&mutex);
  return NULL;
}

static int cores(void) {
  cpu_set_t set;
  pthread_t other;
  pthread_create(&other, NULL, takes_turns, (void *)1);
  takes_turns(0);
  pthread_join(other, NULL);
  sched_getaffinity(0, sizeof set, &set);
  int mine = CPU_COUNT(&set);
  fflush(stdout);
  if (!fork()) {
    sched_getaffinity(0, sizeof set, &set);
    printf("%d ", CPU_COUNT(&set));
    return 0;
  }
  wait(NULL);
  printf("%d\n", mine);
  return 0;
}

int main(int count, char **arguments) { return count > 1 && !strcmp(arguments[1], "cores") ? cores() : memory(); }
