// One thread runs at a time, so all of them are best off on the core where the last one ran: to wake a core that sleeps
// takes longer than most turns. Now and then a thread may run anywhere, so that the kernel can choose a better core.
#define _GNU_SOURCE
#include <sched.h>

#include "shim.h"

enum { ANYWHERE = 0, FREE_EVERY = 256 };  // turns

static cpu_set_t allowed;
static bool several;
static int home;  // core + 1
static unsigned turn;

void know_cores(void) { several = !sched_getaffinity(0, sizeof allowed, &allowed) && CPU_COUNT(&allowed) > 1; }

void bring_home(struct thread *thread) {
  if (!several || !thread->tid) return;
  if (self) home = sched_getcpu() + 1;
  int wanted = ++turn % FREE_EVERY ? home : ANYWHERE;
  if (thread->core == wanted) return;
  cpu_set_t cores = allowed;
  if (wanted != ANYWHERE) {
    CPU_ZERO(&cores);
    CPU_SET((size_t)wanted - 1, &cores);
  }
  if (!sched_setaffinity(thread->tid, sizeof cores, &cores)) thread->core = wanted;
}

void leave_home(void) {
  if (several) sched_setaffinity(0, sizeof allowed, &allowed);
}
