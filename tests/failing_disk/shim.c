/* A disk that fails when it is told to. Preloaded, it counts what is asked of the files below one folder, by all
   processes together, and lets one of these calls fail, or that one and all later ones. Removing is never refused: a
   full disk allows it. Waiting for the disk is left out. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { WRITES = 1, READS = 2 }; /* what is counted */
enum { ONCE = 0, FOR_EVER = 1, SHORT = 2, SIGNAL = 3 };

/* As tests/failing_disk/disk.py lays it out. */
struct state {
  atomic_llong seen;
  long long at;                      /* the first call to fail, from 1; 0: none does */
  int how, number, counted, padding; /* number: of errno, or of the signal */
  char what[64];                     /* the call that failed first, and on what */
  char file[448];
  char folder[512];
};

static struct state *state;

/* From now on, as the file says; also called by processes that are forked. */
void disk_begin(const char *path) {
  int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
  void *found = file < 0 ? MAP_FAILED : mmap(NULL, sizeof *state, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (file >= 0) syscall(SYS_close, file);
  state = found == MAP_FAILED ? NULL : found;
}

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("SCHEDLAB_TEST_DISK");
  if (path != NULL) disk_begin(path);
}

static int below(const char *path) {
  size_t length = strlen(state->folder);
  return strncmp(path, state->folder, length) == 0 && (path[length] == '/' || path[length] == 0);
}

/* Whether this call is to fail; then errno is set. -1: it is to do half of what it was asked for. */
static int fails(const char *call, const char *path, int kind) {
  if (state == NULL || !(state->counted & kind) || !below(path)) return 0;
  long long now = atomic_fetch_add(&state->seen, 1) + 1;
  if (state->at == 0 || now < state->at || (now > state->at && state->how != FOR_EVER)) return 0;
  if (now == state->at) {
    snprintf(state->what, sizeof state->what, "%s", call);
    snprintf(state->file, sizeof state->file, "%s", path + strlen(state->folder));
  }
  if (state->how == SIGNAL) {
    kill(getpid(), state->number);
    return 0;
  }
  if (state->how == SHORT) return -1;
  errno = state->number;
  return 1;
}

static void path_of(int file, char *path) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  path[length < 0 ? 0 : length] = 0;
}

static int file_fails(const char *call, int file, int kind) {
  if (state == NULL || !(state->counted & kind)) return 0;
  char path[PATH_MAX];
  int before = errno;
  path_of(file, path);
  errno = before;
  return fails(call, path, kind);
}

/* Names may be relative to a folder that is open, or to the one the process is in. */
static int name_fails(const char *call, int folder, const char *name, int kind) {
  if (state == NULL || !(state->counted & kind)) return 0;
  char path[2 * PATH_MAX];
  int before = errno;
  if (name[0] == '/') {
    snprintf(path, sizeof path, "%s", name);
  } else {
    if (folder == AT_FDCWD ? getcwd(path, PATH_MAX) == NULL : (path_of(folder, path), 0)) path[0] = 0;
    size_t length = strlen(path);
    snprintf(path + length, sizeof path - length, "/%s", name);
  }
  errno = before;
  return fails(call, path, kind);
}

#define REAL(name) ((__typeof__(&name))real(#name))
static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

#define OPEN(name, folder, opened, ...)                                               \
  mode_t mode = 0;                                                                    \
  if (flags & (O_CREAT | O_TMPFILE)) {                                                \
    va_list more;                                                                     \
    va_start(more, flags);                                                            \
    mode = va_arg(more, mode_t);                                                      \
    va_end(more);                                                                     \
  }                                                                                   \
  if ((flags & O_CREAT) && name_fails("open", folder, opened, WRITES) > 0) return -1; \
  return REAL(name)(__VA_ARGS__, flags, mode)

int open(const char *path, int flags, ...) { OPEN(open, AT_FDCWD, path, path); }
int open64(const char *path, int flags, ...) { OPEN(open64, AT_FDCWD, path, path); }
int openat(int folder, const char *path, int flags, ...) { OPEN(openat, folder, path, folder, path); }
int openat64(int folder, const char *path, int flags, ...) { OPEN(openat64, folder, path, folder, path); }

FILE *fopen(const char *path, const char *mode) {
  if (mode[0] != 'r' && name_fails("fopen", AT_FDCWD, path, WRITES) > 0) return NULL;
  return REAL(fopen)(path, mode);
}
FILE *fopen64(const char *path, const char *mode) {
  if (mode[0] != 'r' && name_fails("fopen", AT_FDCWD, path, WRITES) > 0) return NULL;
  return REAL(fopen64)(path, mode);
}

#define TRANSFER(call, kind, size, half, whole) \
  int failed = file_fails(call, file, kind);    \
  if (failed > 0) return -1;                    \
  if (failed < 0 && (size) > 1) return half;    \
  return whole

ssize_t write(int file, const void *bytes, size_t size) {
  TRANSFER("write", WRITES, size, REAL(write)(file, bytes, size / 2), REAL(write)(file, bytes, size));
}
ssize_t pwrite(int file, const void *bytes, size_t size, off_t at) {
  TRANSFER("pwrite", WRITES, size, REAL(pwrite)(file, bytes, size / 2, at), REAL(pwrite)(file, bytes, size, at));
}
ssize_t pwrite64(int file, const void *bytes, size_t size, off64_t at) {
  TRANSFER("pwrite", WRITES, size, REAL(pwrite64)(file, bytes, size / 2, at), REAL(pwrite64)(file, bytes, size, at));
}
ssize_t writev(int file, const struct iovec *pieces, int count) {
  TRANSFER("writev", WRITES, count, REAL(writev)(file, pieces, count / 2), REAL(writev)(file, pieces, count));
}
ssize_t read(int file, void *bytes, size_t size) {
  TRANSFER("read", READS, size, REAL(read)(file, bytes, size / 2), REAL(read)(file, bytes, size));
}
ssize_t pread(int file, void *bytes, size_t size, off_t at) {
  TRANSFER("pread", READS, size, REAL(pread)(file, bytes, size / 2, at), REAL(pread)(file, bytes, size, at));
}
ssize_t pread64(int file, void *bytes, size_t size, off64_t at) {
  TRANSFER("pread", READS, size, REAL(pread64)(file, bytes, size / 2, at), REAL(pread64)(file, bytes, size, at));
}

/* Copies inside the kernel are not there: the caller writes. */
ssize_t copy_file_range(int in, off64_t *from, int out, off64_t *to, size_t size, unsigned flags) {
  char path[PATH_MAX];
  path_of(out, path);
  if (state != NULL && below(path)) return errno = ENOSYS, -1;
  return REAL(copy_file_range)(in, from, out, to, size, flags);
}
ssize_t sendfile64(int out, int in, off64_t *from, size_t size) {
  return file_fails("sendfile", out, WRITES) > 0 ? -1 : (ssize_t)syscall(SYS_sendfile, out, in, from, size);
}
ssize_t sendfile(int out, int in, off_t *from, size_t size) { return sendfile64(out, in, from, size); }

int fsync(int file) { return file_fails("fsync", file, WRITES) > 0 ? -1 : 0; }
int fdatasync(int file) { return file_fails("fdatasync", file, WRITES) > 0 ? -1 : 0; }
int ftruncate(int file, off_t size) {
  return file_fails("ftruncate", file, WRITES) > 0 ? -1 : REAL(ftruncate)(file, size);
}
int ftruncate64(int file, off64_t size) {
  return file_fails("ftruncate", file, WRITES) > 0 ? -1 : REAL(ftruncate64)(file, size);
}
int posix_fallocate(int file, off_t at, off_t size) {
  return file_fails("posix_fallocate", file, WRITES) > 0 ? errno : REAL(posix_fallocate)(file, at, size);
}
int posix_fallocate64(int file, off64_t at, off64_t size) {
  return file_fails("posix_fallocate", file, WRITES) > 0 ? errno : REAL(posix_fallocate64)(file, at, size);
}
int mkdir(const char *path, mode_t mode) {
  return name_fails("mkdir", AT_FDCWD, path, WRITES) > 0 ? -1 : REAL(mkdir)(path, mode);
}
int rename(const char *old, const char *new) {
  return name_fails("rename", AT_FDCWD, new, WRITES) > 0 ? -1 : REAL(rename)(old, new);
}
int renameat(int from, const char *old, int to, const char *new) {
  return name_fails("rename", to, new, WRITES) > 0 ? -1 : REAL(renameat)(from, old, to, new);
}
