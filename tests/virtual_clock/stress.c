// A program that does everything at once that could fool a virtual clock, and complains when time moves wrongly.
// Usage: stress known|all
#define _GNU_SOURCE
#include "stress.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

atomic_int working, in_flight;

static atomic_int complaints;
static pthread_mutex_t log_mutex = PTHREAD_MUTEX_INITIALIZER;
static char log_text[1 << 22];
static size_t log_used;

int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static int64_t real_now(void) {
  struct timespec time;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

unsigned next_random(unsigned *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

void note(const char *who, const char *what, int64_t number) {
  pthread_mutex_lock(&log_mutex);
  log_used += snprintf(log_text + log_used, sizeof log_text - log_used, "%lld %s %s %lld\n", (long long)now(), who,
                       what, (long long)number);
  pthread_mutex_unlock(&log_mutex);
}

void complain(const char *who, const char *what, int64_t found, int64_t expected) {
  complaints++;
  fprintf(stderr, "%s: %s: %lld instead of %lld\n", who, what, (long long)found, (long long)expected);
}

void work(const char *who) {
  unsigned short span;
  if (getrandom(&span, sizeof span, 0) != sizeof span) return;
  working++;
  int64_t before = now(), until = real_now() + (span % 8 ? span % 20000 : span * 10);
  while (real_now() < until) continue;
  int64_t after = now();
  working--;
  if (after != before) complain(who, "time moved during work", after, before);
}

void check_advanced(const char *who, int64_t deadline) {
  int busy = working, flying = in_flight;
  int64_t time = now();
  if (time != deadline) complain(who, "woken at the wrong time", time, deadline);
  if (busy) complain(who, "time moved while others worked", busy, 0);
  if (flying) complain(who, "time moved while signals were on their way", flying, 0);
}

void sleep_exactly(const char *who, int64_t span) {
  int64_t deadline = now() + span;
  nanosleep(&(struct timespec){.tv_sec = span / 1000000000, .tv_nsec = span % 1000000000}, NULL);
  if (span) check_advanced(who, deadline);
}

static int start_all(const part *parts, pthread_t *threads) {
  int count = 0;
  for (; parts[count]; count++) pthread_create(&threads[count], NULL, parts[count], NULL);
  return count;
}

int main(int count, char **arguments) {
  pthread_t threads[64];
  if (count != 2) return 2;
  int started = start_all(known_parts, threads);
  if (!strcmp(arguments[1], "all")) started += start_all(unknown_parts, threads + started);
  for (int i = 0; i < started; i++) pthread_join(threads[i], NULL);
  fwrite(log_text, 1, log_used, stdout);
  return complaints ? 1 : 0;
}
