// The heart: which thread runs next, and when time may move.
//
// At any moment one thread runs; the others stand in a queue. Whoever falls asleep picks the next one: first those that
// somebody woke, in that order; then those whose descriptors are ready; then, if the driver allows, the earliest timer.
// So nobody is runnable when a timer fires, and a repetition takes the same course whatever else the machine does.
#define _GNU_SOURCE
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shim.h"

struct queue queues[STATES];
uint64_t turns;
bool child_awaited, lock_awaited, locks_shared;
_Thread_local struct thread *self;

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool started;
static struct {
  int cancel_state, error;
} before_lock;  // of the thread that holds the guard

// ---- queues

void append(struct thread *thread, enum state state) {
  struct queue *queue = &queues[state];
  thread->state = state;
  thread->next = NULL;
  thread->previous = queue->last;
  if (queue->last)
    queue->last->next = thread;
  else
    queue->first = thread;
  queue->last = thread;
  queue->count++;
  turns++;
}

void forget(struct thread *thread) {
  struct queue *queue = &queues[thread->state];
  if (thread->previous)
    thread->previous->next = thread->next;
  else
    queue->first = thread->next;
  if (thread->next)
    thread->next->previous = thread->previous;
  else
    queue->last = thread->previous;
  queue->count--;
  turns++;
}

void move(struct thread *thread, enum state state) {
  forget(thread);
  append(thread, state);
}

struct thread *thread_of(pthread_t handle) {
  for (int state = 0; state < LEAVING; state++)
    for (struct thread *thread = queues[state].first; thread; thread = thread->next)
      if (pthread_equal(thread->handle, handle)) return thread;
  return NULL;
}

// ---- choosing

static struct thread *release(struct thread *thread, enum reason reason) {
  move(thread, RUNNING);
  thread->reason = reason;
  thread->go = 1;
  return thread;
}

// The earliest timer; of equal ones that which was set first, since the queue keeps their order.
static struct thread *next_timer(void) {
  struct thread *first = NULL;
  for (struct thread *thread = queues[WAITING].first; thread; thread = thread->next)
    if (thread->wait.deadline != NEVER && (!first || thread->wait.deadline < first->wait.deadline)) first = thread;
  return first;
}

int64_t next_deadline(void) {
  struct thread *timer = next_timer();
  return timer ? timer->wait.deadline : NEVER;
}

void add_descriptors(struct descriptors *into, const struct pollfd *added, nfds_t count) {
  if (!count) return;
  if (into->count + count > into->size) {
    into->size = (into->count + count) * 2;
    into->all = realloc(into->all, into->size * sizeof *into->all);
    if (!into->all) abort();
  }
  memcpy(into->all + into->count, added, count * sizeof *added);
  into->count += count;
}

void collect_descriptors(struct descriptors *into) {
  for (struct thread *thread = queues[WAITING].first; thread; thread = thread->next)
    add_descriptors(into, thread->wait.descriptors, thread->wait.count);
}

static struct thread *first_with_ready_descriptor(void) {
  static struct descriptors polled;
  polled.count = 0;
  collect_descriptors(&polled);
  if (!polled.count || REAL(poll)(polled.all, polled.count, 0) <= 0) return NULL;
  const struct pollfd *descriptor = polled.all;
  for (struct thread *thread = queues[WAITING].first; thread; thread = thread->next)
    for (nfds_t i = 0; i < thread->wait.count; i++, descriptor++)
      if (descriptor->revents) return thread;
  return NULL;
}

static struct thread *first_with_free_lock(void) {
  lock_awaited = false;
  if (!locks_shared) return NULL;
  for (struct thread *thread = queues[WAITING].first; thread; thread = thread->next) {
    if (!thread->wait.lock) continue;
    if (!(*thread->wait.lock & FUTEX_TID_MASK)) return thread;  // also if its owner has died
    lock_awaited = true;
  }
  return NULL;
}

// Threads that were blocked outside may be back without having told.
static bool anybody_outside_runs(void) {
  child_awaited = false;
  if (!queues[OUTSIDE].count) return false;
  enum activity busiest = busiest_of(&queues[OUTSIDE]);
  child_awaited = busiest == AWAITS_CHILD;
  if (busiest != RUNS) return false;
  while (queues[OUTSIDE].first) move(queues[OUTSIDE].first, RUNNING);
  return true;
}

// With nobody able to run: the timer that the driver lets fire.
static struct thread *due_timer(void) {
  if (child_awaited) return NULL;
  absorb_cost();
  struct thread *timer = next_timer();
  if (!may_fire(timer ? timer->wait.deadline : NEVER)) return NULL;
  move_clock_to(timer->wait.deadline);
  timers_fired++;
  return timer;
}

// The thread that may run now, if any. Called with the schedule locked whenever something has changed.
static struct thread *choose(void) {
  if (queues[RUNNING].count) return NULL;
  struct thread *thread = queues[READY].first;
  if (thread) return release(thread, thread->reason);
  if (!anybody_outside_runs()) {
    if ((thread = first_with_ready_descriptor())) return release(thread, WOKEN);
    if ((thread = first_with_free_lock())) return release(thread, WOKEN);
    if ((thread = due_timer())) return release(thread, TIMED_OUT);
  }
  kick_helper();  // to watch whom nobody else can
  return NULL;
}

// The shim's own calls to the kernel must neither cancel the thread nor change its errno.
void lock_schedule(void) {
  int error = errno, state;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
  REAL(pthread_mutex_lock)(&guard);
  before_lock.cancel_state = state;
  before_lock.error = error;
}

void unlock_schedule(void) {
  int error = before_lock.error, state = before_lock.cancel_state;
  REAL(pthread_mutex_unlock)(&guard);
  pthread_setcancelstate(state, NULL);
  errno = error;
}

bool is_guard(uintptr_t address) { return address >= (uintptr_t)&guard && address < (uintptr_t)(&guard + 1); }

// The word by which to wake the thread that may run now. Once the schedule is unlocked nothing else of that thread may
// be touched: if it was not asleep, it may have run, ended and been freed. To wake a word that is no more does no harm.
static atomic_uint *release_next(void) {
  struct thread *next = choose();
  if (!next || next == self) return NULL;
  bring_home(next);
  return &next->go;
}

static void wake_up(atomic_uint *word) {
  if (!word) return;
  int error = errno;
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
  errno = error;
}

void run_next(void) { wake_up(release_next()); }

void hand_over(void) {
  atomic_uint *word = release_next();
  unlock_schedule();
  wake_up(word);
}

// ---- entering and leaving

bool clock_started(void) { return started && virtual_time && self; }

bool scheduled(void) {
  if (!virtual_time) return false;
  if (!self) {
    lock_schedule();
    adopt_caller();
    unlock_schedule();
  }
  if (!started) {
    started = true;
    start_helper();  // after the first thread is known: else the process would look idle
  }
  return true;
}

void stop_schedule(void) {
  unlock_schedule();
  started = false;
  self = NULL;
}

// A thread that was seen blocked in a call of its own is back.
void enter_schedule(void) {
  lock_schedule();
  if (self->state == OUTSIDE) {
    move(self, RUNNING);
    kick_helper();
  }
}

void sleep_until_released(struct thread *me) {
  // With a timeout the kernel reports every signal that was handled, however the handler was installed.
  static const struct timespec ages = {.tv_sec = INT_MAX};
  int error = errno;
  while (!me->go) {
    long result = syscall(SYS_futex, &me->go, FUTEX_WAIT_PRIVATE, 0, &ages, NULL, 0);
    if (result < 0 && errno == EINTR && me->wait.interruptible) {
      lock_schedule();
      wake(me, INTERRUPTED);
      hand_over();
    }
  }
  me->go = 0;
  errno = error;
}

enum reason fall_asleep(const struct wait *wait) {
  struct thread *me = self;
  me->wait = *wait;
  move(me, WAITING);
  hand_over();
  sleep_until_released(me);
  return me->reason;
}

enum reason wait_for(const struct wait *wait) {
  enter_schedule();
  return fall_asleep(wait);
}

void wake(struct thread *thread, enum reason reason) {
  if (thread->state != WAITING) return;
  thread->reason = reason;
  move(thread, READY);
}

bool wake_one(const void *key) {
  for (struct thread *thread = queues[WAITING].first; thread; thread = thread->next)
    if (thread->wait.key == key) {
      wake(thread, WOKEN);
      return true;
    }
  return false;
}

bool waited_for(const void *key) {
  for (struct thread *thread = queues[WAITING].first; thread; thread = thread->next)
    if (thread->wait.key == key) return true;
  return false;
}

bool wake_all(const void *key) {
  bool any = false;
  while (wake_one(key)) any = true;
  return any;
}

void yield_turn(void) {
  struct thread *me = self;
  enter_schedule();
  me->wait = (struct wait){0};
  me->reason = WOKEN;
  move(me, READY);
  hand_over();
  sleep_until_released(me);
}
