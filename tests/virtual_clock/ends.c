// A thread that runs and ends while another one still hands over to it. The program's own sched_setaffinity, which the
// shim calls on the way, makes that the rule: it wakes the thread before its time and waits for its end.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static pid_t last;
static bool hands_over;
static int seen, gone;

int sched_setaffinity(pid_t thread, size_t size, const cpu_set_t *cores) {
  if (hands_over && thread == last) {
    hands_over = false;
    seen++;
    bool there = !tgkill(getpid(), thread, SIGUSR1);
    for (int i = 0; there && i < 100; i++) {
      syscall(SYS_nanosleep, &(struct timespec){.tv_nsec = 1000000}, NULL);
      there = !tgkill(getpid(), thread, 0);
    }
    gone += !there;
  }
  return (int)syscall(SYS_sched_setaffinity, thread, size, cores);
}

static void handle(int signal) { (void)signal; }

static void *end(void *unused) {
  last = gettid();
  sleep(2);
  return unused;
}

// To another core, so that the shim brings the next thread there.
static void change_core(const cpu_set_t *allowed) {
  cpu_set_t others = *allowed;
  CPU_CLR(sched_getcpu(), &others);
  syscall(SYS_sched_setaffinity, 0, sizeof others, &others);
}

int main(void) {
  cpu_set_t allowed;
  pthread_t thread;
  sched_getaffinity(0, sizeof allowed, &allowed);
  sigaction(SIGUSR1, &(struct sigaction){.sa_handler = handle}, NULL);
  pthread_create(&thread, NULL, end, NULL);
  sleep(1);
  change_core(&allowed);
  hands_over = true;
  sleep(5);
  pthread_join(thread, NULL);
  printf("%d %d\n", seen, gone);
  return 0;
}
