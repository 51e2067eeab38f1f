// Condition variables, entirely the shim's: the address of one is only a name, and who waits longest is woken first.
#define _GNU_SOURCE
#include "shim.h"

static int wait_on_condition(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t deadline) {
  struct wait wait = {.key = condition, .deadline = deadline};
  enter_schedule();
  int error = release_mutex(mutex);
  if (error) {
    hand_over();
    return error;
  }
  enum reason reason = fall_asleep(&wait);
  error = pthread_mutex_lock(mutex);
  pthread_testcancel();
  if (error) return error;
  return reason == TIMED_OUT ? ETIMEDOUT : 0;
}

int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) {
  if (!scheduled()) return REAL(pthread_cond_wait)(condition, mutex);
  return wait_on_condition(condition, mutex, NEVER);
}

static int wait_until(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *deadline) {
  if (deadline->tv_nsec < 0 || deadline->tv_nsec >= SECOND) return EINVAL;
  if (nanoseconds(deadline) > now()) return wait_on_condition(condition, mutex, nanoseconds(deadline));
  pthread_mutex_unlock(mutex);
  yield_turn();
  int error = pthread_mutex_lock(mutex);
  return error ? error : ETIMEDOUT;
}

int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict deadline) {
  if (!scheduled()) return REAL(pthread_cond_timedwait)(condition, mutex, deadline);
  return wait_until(condition, mutex, deadline);
}

int pthread_cond_clockwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex, clockid_t clock,
                           const struct timespec *restrict deadline) {
  if (!scheduled()) return REAL(pthread_cond_clockwait)(condition, mutex, clock, deadline);
  return wait_until(condition, mutex, deadline);
}

int pthread_cond_signal(pthread_cond_t *condition) {
  if (!clock_started()) return REAL(pthread_cond_signal)(condition);
  enter_schedule();
  wake_one(condition);
  hand_over();
  return 0;
}

int pthread_cond_broadcast(pthread_cond_t *condition) {
  if (!clock_started()) return REAL(pthread_cond_broadcast)(condition);
  enter_schedule();
  wake_all(condition);
  hand_over();
  return 0;
}
