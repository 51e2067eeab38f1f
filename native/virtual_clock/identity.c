// Who a client program thinks it is.
#define _GNU_SOURCE
#include <pwd.h>
#include <unistd.h>

#include "shim.h"

static gid_t claimed_group(void) {
  struct passwd *user = getpwuid(settings.uid);
  return user ? user->pw_gid : (gid_t)settings.uid;
}

uid_t getuid(void) { return settings.uid < 0 ? REAL(getuid)() : (uid_t)settings.uid; }
uid_t geteuid(void) { return settings.uid < 0 ? REAL(geteuid)() : (uid_t)settings.uid; }
gid_t getgid(void) { return settings.uid < 0 ? REAL(getgid)() : claimed_group(); }
gid_t getegid(void) { return settings.uid < 0 ? REAL(getegid)() : claimed_group(); }
