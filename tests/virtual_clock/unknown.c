// Parts that also block where the shim can only ask the kernel: plain reads, barriers, checked mutexes, children.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stress.h"

// ---- a thread in a plain read of a pipe that another thread writes to

static int own_pipe[2];

static void *reader(void *unused) {
  (void)unused;
  int64_t sent;
  while (read(own_pipe[0], &sent, sizeof sent) == sizeof sent) {
    if (now() != sent) complain("reader", "read at", now(), sent);
    work("reader");
    in_flight--;
  }
  return NULL;
}

static void *plain_reads(void *unused) {
  (void)unused;
  pthread_t thread;
  if (pipe(own_pipe)) return NULL;
  pthread_create(&thread, NULL, reader, NULL);
  for (int round = 0; round < ROUNDS; round++) {
    sleep_exactly("writer", 55 * MILLISECOND);
    int64_t sent = now();
    in_flight++;
    if (write(own_pipe[1], &sent, sizeof sent) != sizeof sent) complain("writer", "write", 0, sizeof sent);
    work("writer");
  }
  close(own_pipe[1]);
  pthread_join(thread, NULL);
  close(own_pipe[0]);
  return NULL;
}

// ---- a barrier and a mutex that the C library keeps to itself

static pthread_barrier_t barrier;
static pthread_mutex_t checked;

static void *walker(void *argument) {
  for (int round = 0; round < ROUNDS; round++) {
    int64_t last = now() + 30 * MILLISECOND;
    sleep_exactly("walker", (intptr_t)argument * 10 * MILLISECOND);
    work("walker");
    pthread_barrier_wait(&barrier);
    if (now() != last) complain("walker", "passed the barrier at", now(), last);
    pthread_mutex_lock(&checked);
    work("walker");
    pthread_mutex_unlock(&checked);
    pthread_barrier_wait(&barrier);
  }
  return NULL;
}

static void *barriers(void *unused) {
  (void)unused;
  pthread_t threads[4];
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(&checked, &attributes);
  pthread_barrier_init(&barrier, NULL, 4);
  for (intptr_t i = 0; i < 4; i++) pthread_create(&threads[i], NULL, walker, (void *)i);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  return NULL;
}

// ---- children: time stands still while their parent waits for them

static void work_of_child(int result) {
  volatile long sum = 0;
  for (long i = 0; i < 2000000; i++) sum += i;
  usleep(2000);  // real, in the child
  if (write(result, "x", 1) != 1) _exit(1);
  _exit(7);
}

static void *children(void *unused) {
  (void)unused;
  for (int round = 0; round < ROUNDS; round++) {
    sleep_exactly("parent", 75 * MILLISECOND);
    int64_t before = now();
    int result[2], status = 0;
    char byte;
    if (pipe(result)) return NULL;
    working++;
    pid_t child = fork();
    if (!child) work_of_child(result[1]);
    close(result[1]);
    if (round % 2 && read(result[0], &byte, 1) != 1) complain("parent", "read", 0, 1);
    if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 7) complain("parent", "status", status, 7);
    working--;
    if (now() != before) complain("parent", "time moved during a child's work", now(), before);
    close(result[0]);
  }
  return NULL;
}

// ---- threads that yield until another has done something

static void *setter(void *flag) {
  work("setter");
  *(atomic_bool *)flag = true;
  return NULL;
}

static void *yields(void *unused) {
  (void)unused;
  for (int round = 0; round < ROUNDS; round++) {
    pthread_t thread;
    atomic_bool flag = false;
    int64_t before = now();
    pthread_create(&thread, NULL, setter, &flag);
    while (!flag) sched_yield();
    if (now() != before) complain("yielder", "time moved", now(), before);
    pthread_join(thread, NULL);
    sleep_exactly("yielder", 65 * MILLISECOND);
  }
  return NULL;
}

const part unknown_parts[] = {plain_reads, barriers, children, yields, NULL};
