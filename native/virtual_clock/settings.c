// Reads the environment at the start and switches the shim off in forked children.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim.h"

struct settings settings = {.uid = -1};

void *find_real(const char *name) {
  // x86-64 has two generations of condition variables; this is the one that programs are linked to.
  void *found = strncmp(name, "pthread_cond_", 13) ? NULL : dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
  return found ? found : dlsym(RTLD_NEXT, name);
}

static const char *copy_of(const char *variable) {
  const char *value = getenv(variable);
  return value && *value ? strdup(value) : NULL;
}

static void after_fork(void) {
  if (!virtual_time) return;
  virtual_time = false;
  leave_home();
  stop_schedule();
  close_control();
}

static void before_fork(void) {
  if (virtual_time) lock_schedule();
}

static void in_parent(void) {
  if (virtual_time) hand_over();
}

__attribute__((constructor)) static void read_settings(void) {
  settings.control = copy_of("SCHEDLAB_CLOCK");
  settings.sockets = copy_of("SCHEDLAB_SOCKETS");
  settings.people = copy_of("SCHEDLAB_PEOPLE");
  settings.unwanted = copy_of("SCHEDLAB_UNWANTED");
  const char *text = getenv("SCHEDLAB_UID");
  if (text && *text) settings.uid = atol(text);
  if ((text = getenv("SCHEDLAB_CLOCK_TICK"))) settings.tick = atoll(text);
  if ((text = getenv("SCHEDLAB_CLOCK_CPU"))) settings.cpu_factor = strtod(text, NULL);
  if ((text = getenv("SCHEDLAB_CLOCK_COALESCE"))) {
    long long microseconds = 0;
    if (sscanf(text, "%lld:%d", &microseconds, &settings.coalesced_times) == 2) settings.coalesced = microseconds;
  }
  unsetenv("LD_PRELOAD");  // what the program starts is not simulated
  if (!settings.control) return;
  text = getenv("SCHEDLAB_CLOCK_EPOCH");
  move_clock_to((text ? atoll(text) : 0) * SECOND);
  know_cores();
  pthread_atfork(before_fork, in_parent, after_fork);
  virtual_time = true;
}
