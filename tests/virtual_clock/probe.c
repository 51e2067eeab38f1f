// Small programs for the tests of the virtual clock: the first argument says which.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <grp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long clock_of(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static long long now(void) { return clock_of(CLOCK_REALTIME); }

static struct sockaddr_in port(int number) {
  return (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(number), .sin_addr = {htonl(INADDR_LOOPBACK)}};
}

// ---- time

static int sleeps(void) {
  for (unsigned seconds = 1; seconds <= 3; seconds++) {
    sleep(seconds);
    printf("%lld %lld\n", now(), clock_of(CLOCK_MONOTONIC));
  }
  return 0;
}

static int naps(void) {
  for (int i = 0; i < 25; i++) {
    usleep(100000);
    printf("%lld\n", now());
  }
  return 0;
}

static int looks(void) {
  struct timespec time_now;
  for (int i = 0; i < 5; i++) clock_gettime(CLOCK_MONOTONIC, &time_now);
  time(NULL);
  printf("%lld\n", now());
  sleep(1);
  printf("%lld\n", now());
  return 0;
}

// Processor time used between two looks, and how far the clock went meanwhile.
static int burns(void) {
  usleep(1);
  for (int round = 0; round < 3; round++) {
    long long time_before = now(), before = clock_of(CLOCK_THREAD_CPUTIME_ID), used = 0;
    for (long long last = time_before, time; used < 20000000; last = time) {
      used = clock_of(CLOCK_THREAD_CPUTIME_ID) - before;
      if ((time = now()) < last) return 1;
    }
    long long time_after = now();
    usleep(500000);
    printf("%lld %lld %lld\n", used, time_after - time_before, now() - time_after);
  }
  return 0;
}

static int forks(void) {
  usleep(1);
  if (!fork()) {
    usleep(1000);
    printf("%lld\n", now());
    fflush(stdout);
    _exit(0);
  }
  wait(NULL);
  printf("%lld\n", now());
  return 0;
}

static int computes(void) {
  usleep(1);
  for (volatile long i = 0;; i++) continue;
  return 0;
}

// ---- signals and cancellation

static void handle(int signal) { (void)signal; }

static int handles(void) {
  sigaction(SIGUSR1, &(struct sigaction){.sa_handler = handle, .sa_flags = SA_RESTART}, NULL);
  printf("%u\n", sleep(10));
  int result = poll(NULL, 0, 5000);
  printf("%d %s\n", result, strerrorname_np(errno));
  printf("%lld\n", now());
  return 0;
}

// Waits that let a signal through which had come before.
static int poll_masked(const sigset_t *mask) { return ppoll(NULL, 0, NULL, mask); }

static int select_masked(const sigset_t *mask) { return pselect(0, NULL, NULL, NULL, NULL, mask); }

static int epoll_masked(const sigset_t *mask) {
  struct epoll_event event;
  return epoll_pwait(epoll_create1(EPOLL_CLOEXEC), &event, 1, -1, mask);
}

static bool is_pending(int signal) {
  sigset_t pending;
  sigpending(&pending);
  return sigismember(&pending, signal);
}

static int lets_through(void) {
  int (*waits[])(const sigset_t *) = {poll_masked, select_masked, epoll_masked};
  sigset_t blocked, none, mask;
  sigemptyset(&none);
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  sigaddset(&blocked, SIGWINCH);
  pthread_sigmask(SIG_BLOCK, &blocked, NULL);
  sigaction(SIGUSR1, &(struct sigaction){.sa_handler = handle, .sa_flags = SA_RESTART}, NULL);
  for (int i = 0; i < 3; i++) {
    raise(SIGUSR1);
    int result = waits[i](&none);
    printf("%d %s %d", result, strerrorname_np(errno), is_pending(SIGUSR1));
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    printf(" %d\n", sigismember(&mask, SIGUSR1));
  }
  raise(SIGWINCH);  // nobody handles it
  int result = ppoll(NULL, 0, &(struct timespec){.tv_sec = 1}, &none);
  printf("%d %d\n", result, is_pending(SIGWINCH));
  raise(SIGUSR1);
  int pipes[2];
  if (pipe(pipes)) return 1;
  struct pollfd ready = {.fd = pipes[1], .events = POLLOUT};
  result = ppoll(&ready, 1, NULL, &none);
  printf("%d %d\n", result, is_pending(SIGUSR1));
  printf("%lld\n", now());
  return 0;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

static void unlock(void *unused) {
  (void)unused;
  printf("unlocks %d\n", pthread_mutex_unlock(&mutex));
}

static void *waits(void *unused) {
  pthread_mutex_lock(&mutex);
  pthread_cleanup_push(unlock, NULL);
  for (;;) pthread_cond_wait(&never, &mutex);
  pthread_cleanup_pop(0);
  return unused;
}

static void *dozes(void *unused) {
  sleep(1000);
  return unused;
}

static int cancels(void) {
  void *(*routines[])(void *) = {waits, dozes};
  for (int i = 0; i < 2; i++) {
    pthread_t thread;
    void *result;
    pthread_create(&thread, NULL, routines[i], NULL);
    sleep(1);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    printf("%d %lld\n", result == PTHREAD_CANCELED, now());
  }
  return 0;
}

// ---- locks with timeouts

static struct timespec after(int seconds) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  time.tv_sec += seconds;
  return time;
}

static void show(int error) { printf("%s %lld\n", error ? strerrorname_np(error) : "0", now()); }

// A child, whose time is real, has the lock until it is told to unlock.
static int shares(void) {
  int locked[2], unlock[2];
  char byte = 0;
  pthread_mutex_t *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutex_init(shared, &attributes);
  if (pipe(locked) || pipe(unlock)) return 1;
  usleep(1);
  if (!fork()) {
    close(unlock[1]);  // so that it also ends with its parent
    pthread_mutex_lock(shared);
    if (write(locked[1], &byte, 1) != 1 || read(unlock[0], &byte, 1) != 1) _exit(1);
    usleep(100000);  // the parent waits by then
    pthread_mutex_unlock(shared);
    _exit(0);
  }
  close(locked[1]);
  if (read(locked[0], &byte, 1) != 1) return 2;
  struct timespec soon = after(1), later = after(10);
  show(pthread_mutex_timedlock(shared, &soon));
  if (write(unlock[1], &byte, 1) != 1) return 3;
  show(pthread_mutex_timedlock(shared, &later));
  wait(NULL);
  return 0;
}

static void *holds_mutex(void *held) {
  pthread_mutex_lock(held);
  sleep(2);
  pthread_mutex_unlock(held);
  return NULL;
}

static int reports(void) {
  pthread_mutex_t checked = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
  pthread_t thread;
  pthread_create(&thread, NULL, holds_mutex, &checked);
  usleep(1);
  struct timespec soon = after(1), later = after(10);
  show(pthread_mutex_timedlock(&checked, &soon));
  show(pthread_mutex_timedlock(&checked, &later));
  show(pthread_mutex_timedlock(&checked, &later));
  return 0;
}

static void *holds_lock(void *held) {
  pthread_rwlock_wrlock(held);
  sleep(2);
  pthread_rwlock_unlock(held);
  return NULL;
}

static int reads_and_writes(void) {
  int (*locks[])(pthread_rwlock_t *, clockid_t, const struct timespec *) = {pthread_rwlock_clockrdlock,
                                                                            pthread_rwlock_clockwrlock};
  for (int i = 0; i < 2; i++) {
    pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    pthread_t thread;
    pthread_create(&thread, NULL, holds_lock, &lock);
    usleep(1);
    struct timespec soon = after(1), later = after(10);
    show(locks[i](&lock, CLOCK_MONOTONIC, &soon));
    show(locks[i](&lock, CLOCK_MONOTONIC, &later));
    pthread_join(thread, NULL);
  }
  return 0;
}

// ---- sockets and people

static int calls(void) {
  struct sockaddr_in address = port(9000), peer;
  socklen_t length = sizeof peer;
  char reply[16] = "";
  int one = 1;
  sleep(1);
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (connect(fd, (struct sockaddr *)&address, sizeof address)) return 1;
  if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one)) return 2;
  if (getpeername(fd, (struct sockaddr *)&peer, &length) || ntohs(peer.sin_port) != 9000) return 3;
  struct pollfd descriptor = {.fd = fd, .events = POLLIN};
  int ready = poll(&descriptor, 1, 10000);
  if (read(fd, reply, sizeof reply - 1) < 0) return 4;
  printf("%d %s %lld\n", ready, reply, now());
  address = port(9001);
  int result = connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&address, sizeof address);
  printf("%d %s\n", result, strerrorname_np(errno));
  return 0;
}

static int listens(void) {
  struct sockaddr_in address = port(0), caller;
  socklen_t length = sizeof address;
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 5)) return 1;
  getsockname(listener, (struct sockaddr *)&address, &length);
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  struct pollfd descriptor = {.fd = listener, .events = POLLIN};
  poll(&descriptor, 1, -1);
  length = sizeof caller;
  accept(listener, (struct sockaddr *)&caller, &length);
  printf("%s\n", inet_ntoa(caller.sin_addr));
  return 0;
}

static void show_user(const struct passwd *user) {
  if (user)
    printf("%s %u %u %s\n", user->pw_name, user->pw_uid, user->pw_gid, user->pw_dir);
  else
    puts("nobody");
}

static int people(void) {
  char buffer[256];
  struct passwd user, *found;
  struct group *group;
  gid_t groups[4];
  int count = 4;
  show_user(getpwnam("ada"));
  show_user(getpwuid(3002));
  show_user(getpwnam("charles"));
  show_user(getpwnam("root"));
  getpwuid_r(3001, &user, buffer, sizeof buffer, &found);
  show_user(found);
  printf("%d\n", getpwuid_r(3001, &user, buffer, 5, &found));
  group = getgrgid(3002);
  printf("%s %u %d\n", group->gr_name, group->gr_gid, !group->gr_mem[0]);
  int found_groups = getgrouplist("ada", 3001, groups, &count);
  printf("%d %u\n", found_groups, groups[0]);
  while ((found = getpwent())) show_user(found);
  printf("%u %u %u %u\n", getuid(), geteuid(), getgid(), getegid());
  printf("%d\n", now() > 1600000000000000000);
  return 0;
}

// ---- names of hosts, and output

static int resolves(void) {
  struct addrinfo hints = {.ai_flags = AI_ADDRCONFIG, .ai_socktype = SOCK_STREAM}, *found;
  const char *hosts[] = {"127.0.0.1", "no-such-host.invalid", NULL};
  for (int i = 0; i < 3; i++) {
    char text[INET6_ADDRSTRLEN] = "";
    int error = getaddrinfo(hosts[i], "6817", &hints, &found);
    if (error) return printf("%s\n", gai_strerror(error)), 1;
    struct sockaddr_in *address = (struct sockaddr_in *)found->ai_addr;
    if (hosts[i]) inet_ntop(AF_INET, &address->sin_addr, text, sizeof text);
    printf("%s %d\n", text, ntohs(address->sin_port));
    freeaddrinfo(found);
  }
  sleep(1);
  return 0;
}

static void write_line(const char *format, ...) {
  va_list values;
  va_start(values, format);
  vfprintf(stdout, format, values);
  va_end(values);
}

static int writes(void) {
  for (int i = 0; i < 3; i++) write_line("%d %s\n", i, i == 1 ? "cannot reach anybody" : "all is well");
  sleep(1);
  return 0;
}

static const struct {
  const char *name;
  int (*run)(void);
} programs[] = {{"sleeps", sleeps},
                {"naps", naps},
                {"looks", looks},
                {"burns", burns},
                {"forks", forks},
                {"computes", computes},
                {"handles", handles},
                {"cancels", cancels},
                {"calls", calls},
                {"listens", listens},
                {"people", people},
                {"resolves", resolves},
                {"writes", writes},
                {"lets-through", lets_through},
                {"shares", shares},
                {"reports", reports},
                {"reads-and-writes", reads_and_writes}};

int main(int count, char **arguments) {
  for (size_t i = 0; count == 2 && i < sizeof programs / sizeof *programs; i++)
    if (!strcmp(programs[i].name, arguments[1])) return programs[i].run();
  return 64;
}
