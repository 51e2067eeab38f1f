// Signals: waiting for them, and waking the sleeper whom one is sent to.
#define _GNU_SOURCE
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "shim.h"

static const char awaited;  // the name under which threads wait for signals

// A signal sent to the process makes the descriptor ready; one sent to this thread comes through pthread_kill.
static int take_signal(const sigset_t *set, siginfo_t *info, int64_t deadline) {
  static const struct timespec none = {0};
  struct pollfd descriptor = {.fd = signalfd(-1, set, SFD_CLOEXEC), .events = POLLIN};
  if (descriptor.fd < 0) return -1;
  struct wait wait = {
      .key = &awaited, .deadline = deadline, .interruptible = true, .descriptors = &descriptor, .count = 1};
  enum reason reason = WOKEN;
  int signal = REAL(sigtimedwait)(set, info, &none);
  while (signal < 0 && errno == EAGAIN && reason != TIMED_OUT) {
    reason = wait_for(&wait);
    signal = REAL(sigtimedwait)(set, info, &none);
  }
  int error = errno;
  close(descriptor.fd);
  errno = error;
  return signal;
}

int sigwait(const sigset_t *set, int *result) {
  if (!scheduled()) return REAL(sigwait)(set, result);
  int signal = take_signal(set, NULL, NEVER);
  if (signal < 0) return errno;
  *result = signal;
  return 0;
}

int sigwaitinfo(const sigset_t *set, siginfo_t *info) {
  if (!scheduled()) return REAL(sigwaitinfo)(set, info);
  return take_signal(set, info, NEVER);
}

int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout) {
  if (!scheduled()) return REAL(sigtimedwait)(set, info, timeout);
  return take_signal(set, info, timeout ? deadline_after(nanoseconds(timeout)) : NEVER);
}

static bool has_handler(int signal) {
  struct sigaction action;
  if (sigaction(signal, NULL, &action)) return false;
  return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
}

int pthread_kill(pthread_t handle, int signal) {
  if (!clock_started()) return REAL(pthread_kill)(handle, signal);
  enter_schedule();
  int error = REAL(pthread_kill)(handle, signal);
  struct thread *thread = error || !signal ? NULL : thread_of(handle);
  if (thread && thread->wait.interruptible && (thread->wait.key == &awaited || has_handler(signal)))
    wake(thread, INTERRUPTED);
  hand_over();
  return error;
}

// A sleeper notices its cancellation once it runs again.
int pthread_cancel(pthread_t handle) {
  if (!clock_started()) return REAL(pthread_cancel)(handle);
  enter_schedule();
  struct thread *thread = thread_of(handle);
  int error = REAL(pthread_cancel)(handle);
  if (thread && !error) wake(thread, INTERRUPTED);
  hand_over();
  return error;
}
