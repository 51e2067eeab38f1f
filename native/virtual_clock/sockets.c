// TCP that never reaches the network: port P is the Unix socket P in one folder, so delivery is immediate and private.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "shim.h"

enum { CALLER_PORT = 40000, FIRST_FREE_PORT = 32768, LAST_PORT = 65535 };

static bool is_internet(const struct sockaddr *address, socklen_t length) {
  return settings.sockets && length >= sizeof(struct sockaddr_in) &&
         (address->sa_family == AF_INET || address->sa_family == AF_INET6);
}

static int option_of(int fd, int option) {
  int value = -1;
  socklen_t length = sizeof value;
  return REAL(getsockopt)(fd, SOL_SOCKET, option, &value, &length) ? -1 : value;
}

static bool is_stream(int fd) { return option_of(fd, SO_TYPE) == SOCK_STREAM; }

static int port_in(const struct sockaddr *address) {  // at the same place in both families
  return ntohs(((const struct sockaddr_in *)address)->sin_port);
}

static bool set_path(struct sockaddr_un *path, int port) {
  path->sun_family = AF_UNIX;
  int length = snprintf(path->sun_path, sizeof path->sun_path, "%s/%d", settings.sockets, port);
  if (length < (int)sizeof path->sun_path) return true;
  errno = ENAMETOOLONG;
  return false;
}

// The port that a rerouted socket's address stands for; -1: it is some other socket's address.
static int port_of(const struct sockaddr_un *path, socklen_t length) {
  size_t folder = strlen(settings.sockets);
  if (length <= sizeof path->sun_family || path->sun_family != AF_UNIX) return -1;
  if (strncmp(path->sun_path, settings.sockets, folder) || path->sun_path[folder] != '/') return -1;
  return atoi(path->sun_path + folder + 1);
}

typedef int (*ask_name)(int, struct sockaddr *, socklen_t *);

static int port_by(ask_name ask, int fd) {
  struct sockaddr_un path = {0};
  socklen_t length = sizeof path - 1;
  return ask(fd, (struct sockaddr *)&path, &length) ? -1 : port_of(&path, length);
}

static bool is_rerouted(int fd) {
  if (!settings.sockets || option_of(fd, SO_DOMAIN) != AF_UNIX) return false;
  return port_by(REAL(getsockname), fd) >= 0 || port_by(REAL(getpeername), fd) >= 0;
}

static void fill_in(struct sockaddr *address, socklen_t *length, int port) {
  if (!address || !length) return;
  struct sockaddr_in loopback = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
  memcpy(address, &loopback, *length < sizeof loopback ? *length : sizeof loopback);
  *length = sizeof loopback;
}

// Puts a Unix socket in the place of the program's own, with the flags that it had.
static int replace(int fd, int unix_socket) {
  int status = fcntl(fd, F_GETFL), flags = fcntl(fd, F_GETFD);
  int result = dup3(unix_socket, fd, flags & FD_CLOEXEC ? O_CLOEXEC : 0) < 0 ? -1 : 0;
  if (!result && (status & O_NONBLOCK)) result = fcntl(fd, F_SETFL, O_NONBLOCK);
  return result;
}

static int close_with_errno(int fd, int result) {
  int error = errno;
  close(fd);
  errno = error;
  return result;
}

// ---- listening

static int bind_port(int unix_socket, int port) {
  struct sockaddr_un path = {0};
  if (!set_path(&path, port)) return -1;
  if (!REAL(bind)(unix_socket, (struct sockaddr *)&path, sizeof path)) return 0;
  if (errno != EADDRINUSE) return -1;
  int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  bool alive = !REAL(connect)(probe, (struct sockaddr *)&path, sizeof path);
  close(probe);
  if (!alive && !unlink(path.sun_path)) return REAL(bind)(unix_socket, (struct sockaddr *)&path, sizeof path);
  errno = EADDRINUSE;
  return -1;
}

static int bind_free_port(int unix_socket) {
  for (int port = FIRST_FREE_PORT; port <= LAST_PORT; port++) {
    struct sockaddr_un path = {0};
    if (!set_path(&path, port)) return -1;
    if (!REAL(bind)(unix_socket, (struct sockaddr *)&path, sizeof path)) return 0;
    if (errno != EADDRINUSE) return -1;
  }
  return -1;
}

int bind(int fd, const struct sockaddr *address, socklen_t length) {
  if (!is_internet(address, length) || !is_stream(fd)) return REAL(bind)(fd, address, length);
  int unix_socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (unix_socket < 0) return -1;
  int port = port_in(address);
  int result = port ? bind_port(unix_socket, port) : bind_free_port(unix_socket);
  if (!result) result = replace(fd, unix_socket);
  return close_with_errno(unix_socket, result);
}

int accept4(int fd, struct sockaddr *address, socklen_t *length, int flags) {
  if (!is_rerouted(fd)) return REAL(accept4)(fd, address, length, flags);
  int result = REAL(accept4)(fd, NULL, NULL, flags);
  if (result >= 0) fill_in(address, length, CALLER_PORT);
  return result;
}

int accept(int fd, struct sockaddr *address, socklen_t *length) { return accept4(fd, address, length, 0); }

// ---- connecting

static int connect_port(int fd, int port) {
  struct sockaddr_un path = {0};
  if (!set_path(&path, port)) return -1;
  int unix_socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (unix_socket < 0) return -1;
  int result = REAL(connect)(unix_socket, (struct sockaddr *)&path, sizeof path);
  if (result && errno == ENOENT) errno = ECONNREFUSED;
  if (!result) result = replace(fd, unix_socket);
  return close_with_errno(unix_socket, result);
}

int connect(int fd, const struct sockaddr *address, socklen_t length) {
  bool rerouted = is_internet(address, length) && is_stream(fd);
  bool outward = address->sa_family == AF_INET || address->sa_family == AF_INET6;
  int result = rerouted ? connect_port(fd, port_in(address)) : REAL(connect)(fd, address, length);
  if (outward && virtual_time && (!result || errno == EINPROGRESS)) outward_calls++;
  return result;
}

// ---- questions about sockets

int getsockname(int fd, struct sockaddr *address, socklen_t *length) {
  if (!is_rerouted(fd)) return REAL(getsockname)(fd, address, length);
  int port = port_by(REAL(getsockname), fd);
  fill_in(address, length, port < 0 ? CALLER_PORT : port);
  return 0;
}

int getpeername(int fd, struct sockaddr *address, socklen_t *length) {
  if (!is_rerouted(fd)) return REAL(getpeername)(fd, address, length);
  struct sockaddr_un path;
  socklen_t room = sizeof path;
  if (REAL(getpeername)(fd, (struct sockaddr *)&path, &room)) return -1;  // not connected
  int port = port_by(REAL(getpeername), fd);
  fill_in(address, length, port < 0 ? CALLER_PORT : port);
  return 0;
}

static bool is_network_level(int level) { return level == IPPROTO_TCP || level == IPPROTO_IP || level == IPPROTO_IPV6; }

int setsockopt(int fd, int level, int option, const void *value, socklen_t length) {
  if (is_network_level(level) && is_rerouted(fd)) return 0;
  return REAL(setsockopt)(fd, level, option, value, length);
}

int getsockopt(int fd, int level, int option, void *value, socklen_t *length) {
  if (!is_network_level(level) || !is_rerouted(fd)) return REAL(getsockopt)(fd, level, option, value, length);
  memset(value, 0, *length);
  return 0;
}
