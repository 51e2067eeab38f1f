// Waiting for descriptors: the thread sleeps, whoever looks for the next thread to run asks the kernel for all of them.
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>

#include "shim.h"

static int64_t after_milliseconds(int milliseconds) {
  return milliseconds < 0 ? NEVER : deadline_after(milliseconds * 1000000LL);
}

static int64_t after(const struct timespec *timeout) { return timeout ? deadline_after(nanoseconds(timeout)) : NEVER; }

// A pending signal that the mask lets through is handled here, if anybody handles it: the wait is then over. With plain
// pthread_sigmask nobody would learn of it.
static bool lets_signal_through(const sigset_t *mask) {
  static const struct timespec none = {0};
  return mask && REAL(ppoll)(NULL, 0, &none, mask) < 0;
}

// The kernel's own call without waiting, as often as there is something to be seen; -1 with EINTR at a signal.
static int poll_until(struct pollfd *descriptors, nfds_t count, int64_t deadline, int (*look)(void *), void *call,
                      const sigset_t *mask) {
  int result = look(call);
  if (result) return result;
  if (lets_signal_through(mask)) return -1;
  if (deadline <= now()) return 0;
  struct wait wait = {.deadline = deadline, .interruptible = true, .descriptors = descriptors, .count = count};
  sigset_t before;
  if (mask) pthread_sigmask(SIG_SETMASK, mask, &before);
  enum reason reason = WOKEN;
  while (!result && reason == WOKEN) {
    reason = wait_for(&wait);
    if (reason != INTERRUPTED) result = look(call);
  }
  int error = reason == INTERRUPTED ? EINTR : errno;
  if (mask) pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (reason == INTERRUPTED) {
    pthread_testcancel();
    result = -1;
  }
  errno = error;
  return result;
}

// ---- poll

struct poll_call {
  struct pollfd *descriptors;
  nfds_t count;
};

static int look_by_poll(void *argument) {
  struct poll_call *call = argument;
  return REAL(poll)(call->descriptors, call->count, 0);
}

int poll(struct pollfd *descriptors, nfds_t count, int timeout) {
  if (!timeout || !scheduled()) return REAL(poll)(descriptors, count, timeout);
  struct poll_call call = {descriptors, count};
  return poll_until(descriptors, count, after_milliseconds(timeout), look_by_poll, &call, NULL);
}

int ppoll(struct pollfd *descriptors, nfds_t count, const struct timespec *timeout, const sigset_t *mask) {
  if (!scheduled()) return REAL(ppoll)(descriptors, count, timeout, mask);
  struct poll_call call = {descriptors, count};
  return poll_until(descriptors, count, after(timeout), look_by_poll, &call, mask);
}

// What programs call that were built with run-time checks of array sizes.
int __poll_chk(struct pollfd *descriptors, nfds_t count, int timeout, size_t size) {
  if (size / sizeof *descriptors < count) abort();
  return poll(descriptors, count, timeout);
}

int __ppoll_chk(struct pollfd *descriptors, nfds_t count, const struct timespec *timeout, const sigset_t *mask,
                size_t size) {
  if (size / sizeof *descriptors < count) abort();
  return ppoll(descriptors, count, timeout, mask);
}

// ---- select

struct select_call {
  int count;
  fd_set *results[3];
  fd_set asked[3];
};

static int look_by_select(void *argument) {
  struct select_call *call = argument;
  struct timeval none = {0};
  for (int i = 0; i < 3; i++)
    if (call->results[i]) *call->results[i] = call->asked[i];
  return REAL(select)(call->count, call->results[0], call->results[1], call->results[2], &none);
}

static int select_until(int count, fd_set *reading, fd_set *writing, fd_set *exceptions, int64_t deadline,
                        const sigset_t *mask) {
  struct select_call call = {.count = count, .results = {reading, writing, exceptions}};
  struct pollfd descriptors[FD_SETSIZE];
  nfds_t used = 0;
  if (count < 0 || count > FD_SETSIZE) {
    errno = EINVAL;
    return -1;
  }
  for (int i = 0; i < 3; i++)
    if (call.results[i]) call.asked[i] = *call.results[i];
  for (int fd = 0; fd < count; fd++) {
    // No event for exceptions: out-of-band data is unknown to Unix sockets and pipes.
    struct pollfd descriptor = {.fd = fd};
    if (reading && FD_ISSET(fd, &call.asked[0])) descriptor.events |= POLLIN;
    if (writing && FD_ISSET(fd, &call.asked[1])) descriptor.events |= POLLOUT;
    if (descriptor.events) descriptors[used++] = descriptor;
  }
  return poll_until(descriptors, used, deadline, look_by_select, &call, mask);
}

int select(int count, fd_set *reading, fd_set *writing, fd_set *exceptions, struct timeval *timeout) {
  bool at_once = timeout && !timeout->tv_sec && !timeout->tv_usec;
  if (at_once || !scheduled()) return REAL(select)(count, reading, writing, exceptions, timeout);
  int64_t deadline = timeout ? deadline_after(timeout->tv_sec * SECOND + timeout->tv_usec * 1000) : NEVER;
  int result = select_until(count, reading, writing, exceptions, deadline, NULL);
  if (timeout) {
    int64_t left = deadline > now() ? (deadline - now()) / 1000 : 0;
    *timeout = (struct timeval){.tv_sec = left / 1000000, .tv_usec = left % 1000000};
  }
  return result;
}

int pselect(int count, fd_set *reading, fd_set *writing, fd_set *exceptions, const struct timespec *timeout,
            const sigset_t *mask) {
  if (!scheduled()) return REAL(pselect)(count, reading, writing, exceptions, timeout, mask);
  return select_until(count, reading, writing, exceptions, after(timeout), mask);
}

// ---- epoll: its descriptor can itself be polled

struct epoll_call {
  int epoll;
  struct epoll_event *events;
  int most;
};

static int look_by_epoll(void *argument) {
  struct epoll_call *call = argument;
  return REAL(epoll_wait)(call->epoll, call->events, call->most, 0);
}

static int epoll_until(int epoll, struct epoll_event *events, int most, int64_t deadline, const sigset_t *mask) {
  struct epoll_call call = {epoll, events, most};
  struct pollfd descriptor = {.fd = epoll, .events = POLLIN};
  return poll_until(&descriptor, 1, deadline, look_by_epoll, &call, mask);
}

int epoll_pwait(int epoll, struct epoll_event *events, int most, int timeout, const sigset_t *mask) {
  if (!timeout || !scheduled()) return REAL(epoll_pwait)(epoll, events, most, timeout, mask);
  return epoll_until(epoll, events, most, after_milliseconds(timeout), mask);
}

int epoll_wait(int epoll, struct epoll_event *events, int most, int timeout) {
  if (!timeout || !scheduled()) return REAL(epoll_wait)(epoll, events, most, timeout);
  return epoll_until(epoll, events, most, after_milliseconds(timeout), NULL);
}

int epoll_pwait2(int epoll, struct epoll_event *events, int most, const struct timespec *timeout,
                 const sigset_t *mask) {
  bool at_once = timeout && !nanoseconds(timeout);
  if (at_once || !scheduled()) return REAL(epoll_pwait2)(epoll, events, most, timeout, mask);
  return epoll_until(epoll, events, most, after(timeout), mask);
}
