// Names of hosts: where sockets are rerouted, only ports count, so every host is this one; nobody is asked for it.
#define _GNU_SOURCE
#include <netdb.h>
#include <sys/socket.h>

#include "shim.h"

int getaddrinfo(const char *restrict host, const char *restrict service, const struct addrinfo *restrict hints,
                struct addrinfo **restrict result) {
  if (!settings.sockets) return REAL(getaddrinfo)(host, service, hints, result);
  struct addrinfo wanted = hints ? *hints : (struct addrinfo){.ai_family = AF_UNSPEC};
  wanted.ai_flags &= ~AI_ADDRCONFIG;  // it leaves out loopback addresses on a machine that has no others
  if (host) {
    wanted.ai_flags |= AI_NUMERICHOST;
    host = wanted.ai_family == AF_INET6 ? "::1" : "127.0.0.1";
  }
  return REAL(getaddrinfo)(host, service, &wanted, result);
}
