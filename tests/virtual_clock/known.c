// Parts that wait only in calls which the shim replaces.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "stress.h"

static struct timespec timespec_at(int64_t time) {
  return (struct timespec){.tv_sec = time / 1000000000, .tv_nsec = time % 1000000000};
}

static void join_all(pthread_t *threads, int count) {
  for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
}

// ---- many sleepers, often with equal deadlines

static void *sleeper(void *argument) {
  unsigned state = (unsigned)(intptr_t)argument;
  for (int round = 0; round < ROUNDS * 4; round++) {
    work("sleeper");
    sleep_exactly("sleeper", (1 + next_random(&state) % 20) * 50 * MILLISECOND);
    note("sleeper", "woke", (intptr_t)argument);
  }
  return NULL;
}

static void *sleepers(void *unused) {
  (void)unused;
  pthread_t threads[8];
  for (intptr_t i = 0; i < 8; i++) pthread_create(&threads[i], NULL, sleeper, (void *)i);
  join_all(threads, 8);
  return NULL;
}

// ---- a chain of producers and consumers: each passes on what it gets, at once

enum { STAGES = 5 };
static struct stage {
  pthread_mutex_t mutex;
  pthread_cond_t filled;
  int items;
} stages[STAGES];

static void pass_to(struct stage *stage) {
  pthread_mutex_lock(&stage->mutex);
  stage->items++;
  in_flight++;
  pthread_cond_signal(&stage->filled);
  pthread_mutex_unlock(&stage->mutex);
}

static void *consumer(void *argument) {
  struct stage *own = argument;
  for (int round = 0; round < ROUNDS * 3; round++) {
    pthread_mutex_lock(&own->mutex);
    while (!own->items) pthread_cond_wait(&own->filled, &own->mutex);
    own->items--;
    work("consumer");
    in_flight--;
    pthread_mutex_unlock(&own->mutex);
    note("consumer", "got", own - stages);
    if (own + 1 < stages + STAGES) pass_to(own + 1);
  }
  return NULL;
}

static void *chain(void *unused) {
  (void)unused;
  pthread_t threads[STAGES];
  for (int i = 0; i < STAGES; i++) {
    pthread_mutex_init(&stages[i].mutex, NULL);
    pthread_cond_init(&stages[i].filled, NULL);
    pthread_create(&threads[i], NULL, consumer, &stages[i]);
  }
  for (int round = 0; round < ROUNDS; round++) {
    sleep_exactly("producer", 70 * MILLISECOND);
    for (int i = 0; i < 3; i++) pass_to(&stages[0]);
  }
  join_all(threads, STAGES);
  return NULL;
}

// ---- broadcasts to a crowd

static pthread_mutex_t crowd_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t crowd_called = PTHREAD_COND_INITIALIZER;
static int generation;

static void *one_of_crowd(void *argument) {
  for (int seen = 0; seen < ROUNDS;) {
    pthread_mutex_lock(&crowd_mutex);
    while (generation == seen) pthread_cond_wait(&crowd_called, &crowd_mutex);
    seen = generation;
    pthread_mutex_unlock(&crowd_mutex);
    work("crowd");
    in_flight--;
    note("crowd", "came", (intptr_t)argument);
  }
  return NULL;
}

static void *broadcasts(void *unused) {
  (void)unused;
  pthread_t threads[10];
  for (intptr_t i = 0; i < 10; i++) pthread_create(&threads[i], NULL, one_of_crowd, (void *)i);
  for (int round = 0; round < ROUNDS; round++) {
    sleep_exactly("caller", 110 * MILLISECOND);
    pthread_mutex_lock(&crowd_mutex);
    generation++;
    in_flight += 10;
    pthread_cond_broadcast(&crowd_called);
    pthread_mutex_unlock(&crowd_mutex);
  }
  join_all(threads, 10);
  return NULL;
}

// ---- waits with timeout: every second one is signalled before its time

static pthread_mutex_t timed_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t timed_condition = PTHREAD_COND_INITIALIZER;

static void *signaller(void *unused) {
  (void)unused;
  for (int round = 0; round < ROUNDS; round++) {
    sleep_exactly("signaller", 100 * MILLISECOND);
    pthread_cond_signal(&timed_condition);
  }
  return NULL;
}

static void *timed_waits(void *unused) {
  (void)unused;
  pthread_t thread;
  int64_t start = now();
  pthread_create(&thread, NULL, signaller, NULL);
  pthread_mutex_lock(&timed_mutex);
  for (int round = 0; round < ROUNDS; round++) {
    int64_t before = now();
    struct timespec deadline = timespec_at(before + 60 * MILLISECOND);
    int error = round % 2 ? pthread_cond_clockwait(&timed_condition, &timed_mutex, CLOCK_MONOTONIC, &deadline)
                          : pthread_cond_timedwait(&timed_condition, &timed_mutex, &deadline);
    int64_t spent = now() - before, signalled = (now() - start) % (100 * MILLISECOND);
    if (error == ETIMEDOUT && spent != 60 * MILLISECOND) complain("timed", "timed out after", spent, 60 * MILLISECOND);
    if (!error && signalled) complain("timed", "signalled at", signalled, 0);
    note("timed", "ended", error);
    work("timed");
  }
  pthread_mutex_unlock(&timed_mutex);
  pthread_join(thread, NULL);
  return NULL;
}

// ---- descriptors: an answer at once, or a timeout

static int pair[2];

static void *echo(void *unused) {
  (void)unused;
  char byte = 1;
  int epoll = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {.events = EPOLLIN};
  epoll_ctl(epoll, EPOLL_CTL_ADD, pair[1], &event);
  for (; byte; note("echo", "answered", byte)) {
    if (epoll_wait(epoll, &event, 1, -1) != 1) complain("echo", "epoll_wait", errno, 0);
    if (read(pair[1], &byte, 1) != 1) break;
    work("echo");
    if (write(pair[1], &byte, 1) != 1) break;
  }
  close(epoll);
  return NULL;
}

static void await_reply(int way) {
  struct pollfd descriptor = {.fd = pair[0], .events = POLLIN};
  struct timeval timeout = {.tv_sec = 5};
  fd_set reading;
  FD_ZERO(&reading);
  FD_SET(pair[0], &reading);
  int ready = way ? select(pair[0] + 1, &reading, NULL, NULL, &timeout) : poll(&descriptor, 1, 5000);
  if (ready != 1) complain("asker", "ready", ready, 1);
}

static void *polls(void *unused) {
  (void)unused;
  pthread_t thread;
  socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
  pthread_create(&thread, NULL, echo, NULL);
  for (char round = ROUNDS; round >= 0; round--) {
    int64_t before = now();
    in_flight++;
    char byte = round;
    if (write(pair[0], &byte, 1) != 1) break;
    await_reply(round % 2);
    if (read(pair[0], &byte, 1) != 1) break;
    in_flight--;
    if (now() != before) complain("asker", "answered later", now(), before);
    struct pollfd silent = {.fd = pair[0], .events = POLLIN};
    if (round && poll(&silent, 1, 30)) complain("asker", "silence", 1, 0);
    if (round) check_advanced("asker", before + 30 * MILLISECOND);
  }
  pthread_join(thread, NULL);
  close(pair[0]);
  close(pair[1]);
  return NULL;
}

// ---- TCP as the program believes

static struct sockaddr_in service = {.sin_family = AF_INET};

static void *serve(void *argument) {
  int listener = *(int *)argument;
  for (int round = 0; round < ROUNDS; round++) {
    struct pollfd descriptor = {.fd = listener, .events = POLLIN};
    poll(&descriptor, 1, -1);
    struct sockaddr_in caller = {0};
    socklen_t length = sizeof caller;
    int fd = accept(listener, (struct sockaddr *)&caller, &length);
    if (caller.sin_addr.s_addr != htonl(INADDR_LOOPBACK)) complain("server", "caller", caller.sin_addr.s_addr, 0);
    work("server");
    if (write(fd, "x", 1) != 1) complain("server", "write", errno, 0);
    in_flight--;
    close(fd);
  }
  return NULL;
}

static void *network(void *unused) {
  (void)unused;
  pthread_t thread;
  char byte;
  service.sin_port = htons(6817);
  service.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  if (bind(listener, (struct sockaddr *)&service, sizeof service) || listen(listener, 16))
    complain("server", "listen", errno, 0);
  pthread_create(&thread, NULL, serve, &listener);
  for (int round = 0; round < ROUNDS; round++) {
    sleep_exactly("client", 90 * MILLISECOND);
    int64_t before = now();
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    in_flight++;
    if (connect(fd, (struct sockaddr *)&service, sizeof service)) complain("client", "connect", errno, 0);
    struct pollfd descriptor = {.fd = fd, .events = POLLIN};
    if (poll(&descriptor, 1, 10000) != 1 || read(fd, &byte, 1) != 1) complain("client", "answer", errno, 0);
    if (now() != before) complain("client", "answered later", now(), before);
    note("client", "served", round);
    close(fd);
  }
  pthread_join(thread, NULL);
  close(listener);
  return NULL;
}

// ---- short lives

static void *short_life(void *argument) {
  work("short");
  sleep_exactly("short", (intptr_t)argument * 10 * MILLISECOND);
  note("short", "ends", (intptr_t)argument);
  return argument;
}

static void *births(void *unused) {
  (void)unused;
  for (int round = 0; round < ROUNDS; round++) {
    pthread_t threads[4];
    int64_t before = now();
    for (intptr_t i = 0; i < 4; i++) pthread_create(&threads[i], NULL, short_life, (void *)i);
    join_all(threads, 4);
    if (now() != before + 30 * MILLISECOND) complain("parent", "joined at", now(), before + 30 * MILLISECOND);
  }
  return NULL;
}

// ---- locks held across sleeps

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t read_write = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

static void *holder(void *argument) {
  for (int round = 0; round < ROUNDS; round++) {
    pthread_mutex_lock(&held);
    work("holder");
    sleep_exactly("holder", 7 * MILLISECOND);
    note("holder", "lets go", (intptr_t)argument);
    pthread_mutex_unlock(&held);
    bool writes = (intptr_t)argument % 2;
    if (writes)
      pthread_rwlock_wrlock(&read_write);
    else
      pthread_rwlock_rdlock(&read_write);
    sleep_exactly("holder", 3 * MILLISECOND);
    note("holder", writes ? "wrote" : "read", (intptr_t)argument);
    pthread_rwlock_unlock(&read_write);
  }
  return NULL;
}

static void *locks(void *unused) {
  (void)unused;
  pthread_t threads[4];
  for (intptr_t i = 0; i < 4; i++) pthread_create(&threads[i], NULL, holder, (void *)i);
  join_all(threads, 4);
  return NULL;
}

// ---- semaphores and signals

static sem_t semaphore;

static void *taker(void *unused) {
  (void)unused;
  for (int round = 0; round < ROUNDS; round++) {
    struct timespec deadline = timespec_at(now() + 1000 * MILLISECOND);
    if (sem_timedwait(&semaphore, &deadline)) complain("taker", "sem_timedwait", errno, 0);
    work("taker");
    in_flight--;
    note("taker", "took", round);
  }
  struct timespec deadline = timespec_at(now() + 20 * MILLISECOND);
  if (!sem_timedwait(&semaphore, &deadline) || errno != ETIMEDOUT) complain("taker", "timeout", errno, ETIMEDOUT);
  return NULL;
}

static void *semaphores(void *unused) {
  (void)unused;
  pthread_t thread;
  sem_init(&semaphore, 0, 0);
  pthread_create(&thread, NULL, taker, NULL);
  for (int round = 0; round < ROUNDS; round++) {
    sleep_exactly("giver", 40 * MILLISECOND);
    in_flight++;
    sem_post(&semaphore);
  }
  pthread_join(thread, NULL);
  return NULL;
}

static void *receiver(void *argument) {
  for (int round = 0, got; round < ROUNDS; round++) {
    if (sigwait(argument, &got) || got != SIGUSR2) complain("receiver", "signal", got, SIGUSR2);
    work("receiver");
    in_flight--;
    note("receiver", "signalled", round);
  }
  return NULL;
}

static void *signals(void *unused) {
  (void)unused;
  pthread_t thread;
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  pthread_create(&thread, NULL, receiver, &set);
  for (int round = 0; round < ROUNDS; round++) {
    sleep_exactly("sender", 130 * MILLISECOND);
    in_flight++;
    pthread_kill(thread, SIGUSR2);
  }
  pthread_join(thread, NULL);
  return NULL;
}

const part known_parts[] = {sleepers, chain, broadcasts, timed_waits, polls, network,
                            births,   locks, semaphores, signals,     NULL};
