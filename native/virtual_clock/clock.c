// What time it is, and sleeping.
#define _GNU_SOURCE
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "shim.h"

atomic_bool virtual_time;

static _Atomic int64_t clock_time;              // nanoseconds since 1970
static _Atomic int64_t cpu_seen, cpu_absorbed;  // processor time of the program

int64_t nanoseconds(const struct timespec *time) { return (int64_t)time->tv_sec * SECOND + time->tv_nsec; }

struct timespec timespec_of(int64_t nanoseconds) {
  return (struct timespec){.tv_sec = nanoseconds / SECOND, .tv_nsec = nanoseconds % SECOND};
}

// ---- the clock

// Without the helper's own. The two numbers are of one instant if the helper did not run between two looks at its own;
// where it always does, at least never less than before.
static int64_t cpu_used(void) {
  struct timespec process;
  int64_t helper, after = helper_cpu(), seen = cpu_seen;
  int looks = 0;
  do {
    helper = after;
    REAL(clock_gettime)(CLOCK_PROCESS_CPUTIME_ID, &process);
    after = helper_cpu();
  } while (after != helper && ++looks < 8);
  int64_t used = nanoseconds(&process) - helper;
  while (used > seen && !atomic_compare_exchange_weak(&cpu_seen, &seen, used)) continue;
  return used > seen ? used : seen;
}

int64_t now(void) {
  if (!settings.cpu_factor) return clock_time;
  return clock_time + (int64_t)((cpu_used() - cpu_absorbed) * settings.cpu_factor);
}

void absorb_cost(void) {
  if (!settings.cpu_factor) return;
  int64_t used = cpu_used();
  clock_time += (int64_t)((used - cpu_absorbed) * settings.cpu_factor);
  cpu_absorbed = used;
}

void move_clock_to(int64_t time) {
  if (time > clock_time) clock_time = time;
}

int64_t deadline_after(int64_t nanoseconds) {
  int64_t start = now();
  return nanoseconds > NEVER - start ? NEVER : start + nanoseconds;
}

// What the program sees when it looks.
static int64_t look_at_clock(void) {
  if (settings.tick) clock_time += settings.tick;
  return now();
}

static bool is_simulated(clockid_t clock) {
  switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_BOOTTIME:
    case CLOCK_TAI:
      return virtual_time;
    default:
      return false;  // processor time is real
  }
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  if (!is_simulated(clock)) return REAL(clock_gettime)(clock, time);
  *time = timespec_of(look_at_clock());
  return 0;
}

int timespec_get(struct timespec *time, int base) {
  if (base != TIME_UTC) return 0;
  clock_gettime(CLOCK_REALTIME, time);
  return base;
}

time_t time(time_t *result) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  if (result) *result = time.tv_sec;
  return time.tv_sec;
}

int gettimeofday(struct timeval *restrict result, void *restrict zone) {
  if (!virtual_time) return REAL(gettimeofday)(result, zone);
  if (zone) memset(zone, 0, sizeof(struct timezone));
  struct timespec time = timespec_of(look_at_clock());
  *result = (struct timeval){.tv_sec = time.tv_sec, .tv_usec = time.tv_nsec / 1000};
  return 0;
}

// ---- sleeps: what is left when a signal came, else 0

static int64_t sleep_until(int64_t deadline) {
  if (deadline <= now()) {
    yield_turn();
    return 0;
  }
  struct wait wait = {.deadline = deadline, .interruptible = true};
  if (wait_for(&wait) != INTERRUPTED) return 0;
  pthread_testcancel();
  int64_t left = deadline - now();
  return left > 0 ? left : 1;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *asked, struct timespec *left) {
  if (!is_simulated(clock) || !scheduled()) return REAL(clock_nanosleep)(clock, flags, asked, left);
  if (asked->tv_sec < 0 || asked->tv_nsec < 0 || asked->tv_nsec >= SECOND) return EINVAL;
  bool absolute = flags & TIMER_ABSTIME;
  int64_t rest = sleep_until(absolute ? nanoseconds(asked) : deadline_after(nanoseconds(asked)));
  if (rest && left && !absolute) *left = timespec_of(rest);
  return rest ? EINTR : 0;
}

int nanosleep(const struct timespec *asked, struct timespec *left) {
  int error = clock_nanosleep(CLOCK_REALTIME, 0, asked, left);
  if (error) errno = error;
  return error ? -1 : 0;
}

unsigned sleep(unsigned seconds) {
  if (!scheduled()) return REAL(sleep)(seconds);
  return (sleep_until(deadline_after(seconds * SECOND)) + SECOND - 1) / SECOND;
}

// Of a loop of short naps only every n-th is taken, n times as long: as far, with fewer wake-ups.
static int64_t coalesced_nap(useconds_t microseconds) {
  if (!settings.coalesced || microseconds != settings.coalesced) return microseconds;
  if (++self->coalesced < settings.coalesced_times) return 0;
  self->coalesced = 0;
  return (int64_t)microseconds * settings.coalesced_times;
}

int usleep(useconds_t microseconds) {
  if (!scheduled()) return REAL(usleep)(microseconds);
  int64_t nap = coalesced_nap(microseconds);
  if (!nap && microseconds) return 0;
  if (!sleep_until(deadline_after(nap * 1000))) return 0;
  errno = EINTR;
  return -1;
}
