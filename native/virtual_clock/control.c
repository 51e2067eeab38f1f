// The driver's side: the helper thread reads commands and watches what no simulated thread can.
#define _GNU_SOURCE
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "shim.h"

enum { LOST_DRIVER = 70, LOOK_EVERY_MS = 1, LONGEST_COMMAND = 64 };

atomic_uint_fast64_t outward_calls;
uint64_t timers_fired;

static int control = -1, kick = -1;
static pthread_t helper;
static _Thread_local bool is_helper;
static bool kicked;

static struct {
  enum { NONE, IDLE, RUN } kind;
  int64_t until;
  uint64_t calls;  // made when the command began
} command;

_Noreturn void give_up(const char *message, const char *what) {
  dprintf(STDERR_FILENO, "schedlab clock: %s%s\n", message, what);
  _exit(LOST_DRIVER);
}

// ---- commands

static void answer(void) {
  int64_t next = next_deadline();
  int threads = 0;
  for (int state = 0; state < LEAVING; state++) threads += queues[state].count;
  char line[128];
  int length = snprintf(line, sizeof line, "%" PRId64 " %" PRId64 " %" PRIu64 " %" PRIu64 " %d\n", now(),
                        next == NEVER ? -1 : next, (uint64_t)outward_calls, timers_fired, threads);
  if (send(control, line, length, MSG_NOSIGNAL) != length) _exit(LOST_DRIVER);
}

bool may_fire(int64_t deadline) {
  if (command.kind == NONE) return false;
  if (command.kind == RUN && command.calls == outward_calls && now() <= command.until) {
    if (deadline != NEVER && deadline <= command.until) return true;
    move_clock_to(command.until);
  }
  command.kind = NONE;
  answer();
  return false;
}

static void obey(const char *line) {
  int64_t until;
  if (!strcmp(line, "idle"))
    command.kind = IDLE;
  else if (sscanf(line, "run %" SCNd64, &until) == 1) {
    command.kind = RUN;
    command.until = until;
    command.calls = outward_calls;
  } else
    give_up("the driver gave an unknown command: ", line);
}

static void read_commands(void) {
  static char text[LONGEST_COMMAND];
  static size_t have;
  ssize_t got = recv(control, text + have, sizeof text - 1 - have, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) _exit(LOST_DRIVER);
  have += got;
  text[have] = '\0';
  char *end = strchr(text, '\n');
  if (!end && have == sizeof text - 1) give_up("the driver gave a command that is too long: ", text);
  if (!end) return;
  *end = '\0';
  have = 0;  // the driver waits for the answer before it sends the next
  obey(text);
}

// ---- the helper thread

void kick_helper(void) {
  if (is_helper || kicked || kick < 0) return;
  kicked = true;
  uint64_t one = 1;
  if (write(kick, &one, sizeof one) < 0) give_up("cannot wake the helper: ", strerror(errno));
}

// Nothing has moved for a while: perhaps the running threads are blocked in calls that the shim does not know.
static void look_at_running(void) {
  if (busiest_of(&queues[RUNNING]) == RUNS) return;
  while (queues[RUNNING].first) move(queues[RUNNING].first, OUTSIDE);
}

static void unkick(void) {
  uint64_t count;
  kicked = false;
  if (read(kick, &count, sizeof count) < 0 && errno != EAGAIN) give_up("cannot read the event: ", strerror(errno));
}

static void *help(void *unused) {
  (void)unused;
  is_helper = true;
  struct descriptors watched = {0};
  const struct pollfd own[] = {{.fd = control, .events = POLLIN}, {.fd = kick, .events = POLLIN}};
  for (;;) {
    lock_schedule();
    run_next();
    bool idle = !queues[RUNNING].count;
    bool patient = idle && !child_awaited && !lock_awaited;
    uint64_t turns_before = turns;
    watched.count = 0;
    add_descriptors(&watched, own, 2);
    if (idle) collect_descriptors(&watched);
    unlock_schedule();
    REAL(poll)(watched.all, watched.count, patient ? -1 : LOOK_EVERY_MS);
    lock_schedule();
    if (watched.all[0].revents) read_commands();
    if (watched.all[1].revents) unkick();
    if (!idle && turns == turns_before) look_at_running();
    unlock_schedule();
  }
  return NULL;
}

int64_t helper_cpu(void) {
  clockid_t clock;
  struct timespec used;
  if (kick < 0 || pthread_getcpuclockid(helper, &clock) || REAL(clock_gettime)(clock, &used)) return 0;
  return nanoseconds(&used);
}

void close_control(void) {
  if (control < 0) return;
  close(control);
  close(kick);
}

void start_helper(void) {
  require_proc();
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strncpy(address.sun_path, settings.control, sizeof address.sun_path - 1);
  control = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (REAL(connect)(control, (struct sockaddr *)&address, sizeof address))
    give_up("nobody listens at ", settings.control);
  kick = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  if (REAL(pthread_create)(&helper, NULL, help, NULL)) give_up("cannot start a thread", "");
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}
