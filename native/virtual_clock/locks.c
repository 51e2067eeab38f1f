// Mutexes, read-write locks and semaphores stay the C library's; only the waiting for them is the shim's.
#define _GNU_SOURCE
#include <semaphore.h>

#include "shim.h"

static atomic_int waiters;  // threads in `acquire`: without any, unlocking costs nothing

static int acquire_by(const struct wait *wait, void *lock, int (*attempt)(void *)) {
  int error;
  waiters++;  // before the attempt: whoever unlocks after it sees that somebody waits
  for (;;) {
    enter_schedule();
    error = attempt(lock);
    if (error != EBUSY) {
      hand_over();
      break;
    }
    if (fall_asleep(wait) == TIMED_OUT) {
      error = ETIMEDOUT;
      break;
    }
  }
  waiters--;
  return error;
}

static int acquire(const void *key, void *lock, int (*attempt)(void *), int64_t deadline) {
  return acquire_by(&(struct wait){.key = key, .deadline = deadline}, lock, attempt);
}

// After unlocking: the fence keeps the question from being asked before.
static bool anybody_waits(void) {
  atomic_thread_fence(memory_order_seq_cst);
  return waiters;
}

// The unlocker steps behind whom it woke: else a loop that sleeps with the lock held would never let anybody in.
static void let_in(bool woken) {
  hand_over();
  if (woken) yield_turn();
}

// ---- mutexes

static bool is_shared(const pthread_mutex_t *mutex) {
  const int shared = 128;
  return mutex->__data.__kind & shared;
}

static bool reports_mistakes(const pthread_mutex_t *mutex) {
  return (mutex->__data.__kind & 3) == PTHREAD_MUTEX_ERRORCHECK_NP;
}

static int try_mutex(void *mutex) { return REAL(pthread_mutex_trylock)(mutex); }

// As try_mutex, but the owner learns of its mistake.
static int try_checked_mutex(void *mutex) {
  static const struct timespec past = {0};
  int error = REAL(pthread_mutex_timedlock)(mutex, &past);
  return error == ETIMEDOUT ? EBUSY : error;
}

// Left to the C library: those that other processes share, and those that report their owner's mistakes.
int pthread_mutex_lock(pthread_mutex_t *mutex) {
  bool plain = !is_shared(mutex) && !reports_mistakes(mutex);
  if (!clock_started() || !plain) return REAL(pthread_mutex_lock)(mutex);
  int error = try_mutex(mutex);
  return error == EBUSY ? acquire(mutex, mutex, try_mutex, NEVER) : error;
}

// The C library's own timeouts are of real time: so these are all the shim's.
int pthread_mutex_timedlock(pthread_mutex_t *restrict mutex, const struct timespec *restrict deadline) {
  if (!clock_started()) return REAL(pthread_mutex_timedlock)(mutex, deadline);
  int (*attempt)(void *) = reports_mistakes(mutex) ? try_checked_mutex : try_mutex;
  int error = attempt(mutex);
  if (error != EBUSY) return error;
  struct wait wait = {.key = mutex, .deadline = nanoseconds(deadline)};
  if (is_shared(mutex)) wait.lock = &mutex->__data.__lock, locks_shared = true;
  return acquire_by(&wait, mutex, attempt);
}

int pthread_mutex_clocklock(pthread_mutex_t *restrict mutex, clockid_t clock,
                            const struct timespec *restrict deadline) {
  if (!clock_started()) return REAL(pthread_mutex_clocklock)(mutex, clock, deadline);
  return pthread_mutex_timedlock(mutex, deadline);
}

int release_mutex(pthread_mutex_t *mutex) {
  int error = REAL(pthread_mutex_unlock)(mutex);
  if (!error && waiters) wake_one(mutex);
  return error;
}

int pthread_mutex_unlock(pthread_mutex_t *mutex) {
  int error = REAL(pthread_mutex_unlock)(mutex);
  if (error || !clock_started() || !anybody_waits()) return error;
  enter_schedule();
  let_in(wake_one(mutex));
  return 0;
}

// ---- read-write locks: writers wait under a name of their own, so that readers can see them

static const void *writers_of(void *lock) { return (const char *)lock + 1; }

static int try_write(void *lock) { return REAL(pthread_rwlock_trywrlock)(lock); }

static int try_read(void *lock) {
  const pthread_rwlock_t *own = lock;
  bool writers_first = own->__data.__flags == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP;
  if (writers_first && waited_for(writers_of(lock))) return EBUSY;
  return REAL(pthread_rwlock_tryrdlock)(lock);
}

static int lock_for_reading(pthread_rwlock_t *lock, int64_t deadline) {
  if (waiters) return acquire(lock, lock, try_read, deadline);
  int error = REAL(pthread_rwlock_tryrdlock)(lock);
  return error == EBUSY ? acquire(lock, lock, try_read, deadline) : error;
}

static int lock_for_writing(pthread_rwlock_t *lock, int64_t deadline) {
  int error = try_write(lock);
  return error == EBUSY ? acquire(writers_of(lock), lock, try_write, deadline) : error;
}

int pthread_rwlock_rdlock(pthread_rwlock_t *lock) {
  if (!clock_started()) return REAL(pthread_rwlock_rdlock)(lock);
  return lock_for_reading(lock, NEVER);
}

int pthread_rwlock_wrlock(pthread_rwlock_t *lock) {
  if (!clock_started()) return REAL(pthread_rwlock_wrlock)(lock);
  return lock_for_writing(lock, NEVER);
}

int pthread_rwlock_timedrdlock(pthread_rwlock_t *restrict lock, const struct timespec *restrict deadline) {
  if (!clock_started()) return REAL(pthread_rwlock_timedrdlock)(lock, deadline);
  return lock_for_reading(lock, nanoseconds(deadline));
}

int pthread_rwlock_timedwrlock(pthread_rwlock_t *restrict lock, const struct timespec *restrict deadline) {
  if (!clock_started()) return REAL(pthread_rwlock_timedwrlock)(lock, deadline);
  return lock_for_writing(lock, nanoseconds(deadline));
}

// All clocks show the same time.
int pthread_rwlock_clockrdlock(pthread_rwlock_t *restrict lock, clockid_t clock,
                               const struct timespec *restrict deadline) {
  if (!clock_started()) return REAL(pthread_rwlock_clockrdlock)(lock, clock, deadline);
  return lock_for_reading(lock, nanoseconds(deadline));
}

int pthread_rwlock_clockwrlock(pthread_rwlock_t *restrict lock, clockid_t clock,
                               const struct timespec *restrict deadline) {
  if (!clock_started()) return REAL(pthread_rwlock_clockwrlock)(lock, clock, deadline);
  return lock_for_writing(lock, nanoseconds(deadline));
}

int pthread_rwlock_unlock(pthread_rwlock_t *lock) {
  int error = REAL(pthread_rwlock_unlock)(lock);
  if (error || !clock_started() || !anybody_waits()) return error;
  enter_schedule();
  bool writer = wake_one(writers_of(lock));
  let_in(wake_all(lock) || writer);
  return 0;
}

// ---- semaphores

static int try_semaphore(void *semaphore) {
  if (!REAL(sem_trywait)(semaphore)) return 0;
  return errno == EAGAIN ? EBUSY : errno;
}

static int take_semaphore(sem_t *semaphore, int64_t deadline) {
  int error = try_semaphore(semaphore);
  if (error == EBUSY) error = acquire(semaphore, semaphore, try_semaphore, deadline);
  if (!error) return 0;
  errno = error;
  return -1;
}

int sem_wait(sem_t *semaphore) {
  if (!scheduled()) return REAL(sem_wait)(semaphore);
  return take_semaphore(semaphore, NEVER);
}

int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict deadline) {
  if (!scheduled()) return REAL(sem_timedwait)(semaphore, deadline);
  return take_semaphore(semaphore, nanoseconds(deadline));
}

int sem_clockwait(sem_t *restrict semaphore, clockid_t clock, const struct timespec *restrict deadline) {
  if (!scheduled()) return REAL(sem_clockwait)(semaphore, clock, deadline);
  return take_semaphore(semaphore, nanoseconds(deadline));
}

int sem_post(sem_t *semaphore) {
  int result = REAL(sem_post)(semaphore);
  if (result || !clock_started() || !anybody_waits()) return result;
  enter_schedule();
  wake_one(semaphore);
  hand_over();
  return 0;
}
