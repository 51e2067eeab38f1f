// What the kernel says about threads that are in calls which the shim does not know.
//
// A thread counts as blocked when it is off the processors' queues in a call that only another thread, or the world
// outside, can end. Looking twice, with its processor time unchanged, makes sure that nobody ran in between.
// Time stands still while a thread waits for a child's work, but other threads go on.
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shim.h"

enum { LONGEST = 160 };

// Of a pipe: whether this process holds its other end. If not, a child is at work there.
static bool holds_other_end(dev_t device, ino_t inode, int mode) {
  DIR *folder = opendir("/proc/self/fd");
  bool found = false;
  for (struct dirent *entry; folder && !found && (entry = readdir(folder));) {
    struct stat file;
    int fd = atoi(entry->d_name);
    if (fstat(fd, &file) || file.st_dev != device || file.st_ino != inode) continue;
    found = (fcntl(fd, F_GETFL) & O_ACCMODE) != mode;
  }
  if (folder) closedir(folder);
  return found;
}

static enum activity waits_at(int fd) {
  struct stat file;
  if (fstat(fd, &file) || S_ISREG(file.st_mode) || S_ISDIR(file.st_mode) || S_ISBLK(file.st_mode)) return RUNS;
  if (!S_ISFIFO(file.st_mode)) return BLOCKED;
  return holds_other_end(file.st_dev, file.st_ino, fcntl(fd, F_GETFL) & O_ACCMODE) ? BLOCKED : AWAITS_CHILD;
}

// A call that ends by itself after some real time counts as running.
static enum activity activity_in(long call, const unsigned long argument[4]) {
  switch (call) {
    case SYS_futex:
      return argument[3] || is_guard(argument[0]) ? RUNS : BLOCKED;
    case SYS_rt_sigtimedwait:
      return argument[2] ? RUNS : BLOCKED;
    case SYS_rt_sigsuspend:
#ifdef SYS_pause
    case SYS_pause:
#endif
      return BLOCKED;
    case SYS_read:
    case SYS_readv:
    case SYS_write:
    case SYS_writev:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_accept:
    case SYS_accept4:
    case SYS_connect:
      return waits_at((int)argument[0]);
    case SYS_wait4:
    case SYS_waitid:
      return AWAITS_CHILD;
    default:
      return RUNS;  // files and whatever is unknown
  }
}

static bool read_task(const struct thread *thread, const char *file, char *text) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/task/%d/%s", thread->tid, file);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t length = read(fd, text, LONGEST - 1);
  close(fd);
  text[length > 0 ? length : 0] = '\0';
  return length > 0;
}

// The kernel answers "running" unless the thread has left the processors' queues.
static enum activity activity_of(const struct thread *thread) {
  char text[LONGEST];
  long call;
  unsigned long argument[4];
  if (!thread->tid || !read_task(thread, "syscall", text)) return RUNS;
  int got = sscanf(text, "%ld %lx %lx %lx %lx", &call, &argument[0], &argument[1], &argument[2], &argument[3]);
  return got == 5 ? activity_in(call, argument) : RUNS;
}

enum activity busiest_of(const struct queue *queue) {
  char before[queue->count + 1][LONGEST], after[LONGEST];
  enum activity busiest = BLOCKED;
  int i = 0;
  if (anybody_leaves()) return RUNS;
  for (struct thread *thread = queue->first; thread; thread = thread->next, i++)
    if (!read_task(thread, "schedstat", before[i]) || activity_of(thread) == RUNS) return RUNS;
  i = 0;
  for (struct thread *thread = queue->first; thread; thread = thread->next, i++) {
    enum activity activity = activity_of(thread);
    if (!read_task(thread, "schedstat", after) || strcmp(before[i], after)) return RUNS;
    if (activity < busiest) busiest = activity;
  }
  return busiest;
}

void require_proc(void) {
  if (access("/proc/self/syscall", R_OK) || access("/proc/self/schedstat", R_OK))
    give_up("the kernel does not show what threads wait for: ",
            "/proc/self/syscall or /proc/self/schedstat is missing");
}
