// Threads come and go: each is counted before it exists and until the last of its own code has run.
#define _GNU_SOURCE
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "shim.h"

static pthread_key_t at_exit;
static pthread_once_t once = PTHREAD_ONCE_INIT;

// ---- the end

// A thread on its last steps may still hold locks of the C library, and whoever joins it waits for the very end.
bool anybody_leaves(void) {
  struct thread *next;
  for (struct thread *thread = queues[LEAVING].first; thread; thread = next) {
    next = thread->next;
    if (!tgkill(getpid(), thread->tid, 0)) continue;
    forget(thread);
    free(thread);
  }
  return queues[LEAVING].count;
}

// The program's own destructors may follow ours in a round; ours therefore leaves in the last one.
static void leave(void *argument) {
  struct thread *me = argument;
  if (!virtual_time) return;
  if (++me->rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
    pthread_setspecific(at_exit, me);
    return;
  }
  lock_schedule();
  anybody_leaves();  // clears away those who have gone
  move(me, LEAVING);
  wake_all(me);  // who joins it
  self = NULL;
  hand_over();
}

// ---- the beginning

static void make_key(void) { pthread_key_create(&at_exit, leave); }

static struct thread *new_thread(void) {
  struct thread *thread = calloc(1, sizeof *thread);
  if (!thread) abort();
  return thread;
}

// The kernel gives numbers again: whoever left with this one has gone.
static void forget_namesake(pid_t tid) {
  for (struct thread *thread = queues[LEAVING].first; thread; thread = thread->next)
    if (thread->tid == tid) {
      forget(thread);
      free(thread);
      return;
    }
}

// Schedule locked.
static void become(struct thread *thread) {
  pthread_once(&once, make_key);
  thread->tid = gettid();
  forget_namesake(thread->tid);
  thread->handle = pthread_self();
  self = thread;
  pthread_setspecific(at_exit, thread);
}

void adopt_caller(void) {
  become(new_thread());
  append(self, RUNNING);
}

struct start {
  struct thread *thread;
  void *(*routine)(void *);
  void *argument;
};

static void *begin(void *argument) {
  struct start start = *(struct start *)argument;
  free(argument);
  lock_schedule();
  become(start.thread);
  hand_over();
  sleep_until_released(start.thread);
  return start.routine(start.argument);
}

int pthread_create(pthread_t *handle, const pthread_attr_t *attributes, void *(*routine)(void *), void *argument) {
  if (!scheduled()) return REAL(pthread_create)(handle, attributes, routine, argument);
  struct start *start = malloc(sizeof *start);
  if (!start) return EAGAIN;
  struct thread *thread = new_thread();
  *start = (struct start){thread, routine, argument};
  thread->core = self->core;  // the kernel's rule
  enter_schedule();
  int error = REAL(pthread_create)(handle, attributes, begin, start);
  if (error) {
    free(start);
    free(thread);
  } else {
    thread->handle = *handle;
    append(thread, READY);
  }
  hand_over();
  return error;
}

int pthread_join(pthread_t handle, void **result) {
  if (scheduled()) {
    enter_schedule();
    struct thread *thread = thread_of(handle);
    if (thread && thread != self)
      fall_asleep(&(struct wait){.key = thread, .deadline = NEVER});
    else
      hand_over();
  }
  return REAL(pthread_join)(handle, result);
}

int sched_yield(void) {
  if (!clock_started()) return REAL(sched_yield)();
  yield_turn();
  return 0;
}
