// Users and groups from a file of the driver's: each user has one group, of the same name; then those of the system.
#define _GNU_SOURCE
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shim.h"

static struct passwd **by_name, **by_uid, **by_gid;
static size_t people;
static pthread_once_t once = PTHREAD_ONCE_INIT;

// ---- the table

static int compare_names(const void *left, const void *right) {
  return strcmp((*(struct passwd **)left)->pw_name, (*(struct passwd **)right)->pw_name);
}

static int compare_uids(const void *left, const void *right) {
  uid_t a = (*(struct passwd **)left)->pw_uid, b = (*(struct passwd **)right)->pw_uid;
  return (a > b) - (a < b);
}

static int compare_gids(const void *left, const void *right) {
  gid_t a = (*(struct passwd **)left)->pw_gid, b = (*(struct passwd **)right)->pw_gid;
  return (a > b) - (a < b);
}

static struct passwd *copy_of(const struct passwd *person) {
  struct passwd *copy = malloc(sizeof *copy);
  if (!copy) abort();
  *copy = *person;
  copy->pw_name = strdup(person->pw_name);
  copy->pw_passwd = strdup(person->pw_passwd);
  copy->pw_gecos = strdup(person->pw_gecos);
  copy->pw_dir = strdup(person->pw_dir);
  copy->pw_shell = strdup(person->pw_shell);
  return copy;
}

static struct passwd **sorted(int (*compare)(const void *, const void *)) {
  struct passwd **table = malloc(people * sizeof *table);
  if (!table) abort();
  memcpy(table, by_name, people * sizeof *table);
  qsort(table, people, sizeof *table, compare);
  return table;
}

static void load(void) {
  FILE *file = fopen(settings.people, "re");
  if (!file) give_up("cannot read ", settings.people);
  for (struct passwd *person; (person = fgetpwent(file));) {
    by_name = realloc(by_name, (people + 1) * sizeof *by_name);
    if (!by_name) abort();
    by_name[people++] = copy_of(person);
  }
  fclose(file);
  if (!people) give_up("there is nobody in ", settings.people);
  by_uid = sorted(compare_uids);
  by_gid = sorted(compare_gids);
  qsort(by_name, people, sizeof *by_name, compare_names);
}

static bool known(void) {
  if (!settings.people) return false;
  pthread_once(&once, load);
  return true;
}

static const struct passwd *find(struct passwd **table, struct passwd wanted,
                                 int (*compare)(const void *, const void *)) {
  struct passwd *key = &wanted;
  struct passwd **found = bsearch(&key, table, people, sizeof *table, compare);
  return found ? *found : NULL;
}

static const struct passwd *find_name(const char *name) {
  return known() ? find(by_name, (struct passwd){.pw_name = (char *)name}, compare_names) : NULL;
}

static const struct passwd *find_uid(uid_t uid) {
  return known() ? find(by_uid, (struct passwd){.pw_uid = uid}, compare_uids) : NULL;
}

static const struct passwd *find_gid(gid_t gid) {
  return known() ? find(by_gid, (struct passwd){.pw_gid = gid}, compare_gids) : NULL;
}

// ---- answers, in the caller's buffer where there is one

static char *put(char **buffer, size_t *room, const char *text) {
  size_t length = strlen(text) + 1;
  if (length > *room) return NULL;
  char *copy = memcpy(*buffer, text, length);
  *buffer += length;
  *room -= length;
  return copy;
}

static int give_user(const struct passwd *found, struct passwd *user, char *buffer, size_t room,
                     struct passwd **result) {
  *result = NULL;
  *user = *found;
  if (!(user->pw_name = put(&buffer, &room, found->pw_name))) return ERANGE;
  if (!(user->pw_passwd = put(&buffer, &room, found->pw_passwd))) return ERANGE;
  if (!(user->pw_gecos = put(&buffer, &room, found->pw_gecos))) return ERANGE;
  if (!(user->pw_dir = put(&buffer, &room, found->pw_dir))) return ERANGE;
  if (!(user->pw_shell = put(&buffer, &room, found->pw_shell))) return ERANGE;
  *result = user;
  return 0;
}

static int give_group(const struct passwd *found, struct group *group, char *buffer, size_t room,
                      struct group **result) {
  *result = NULL;
  size_t skip = -(uintptr_t)buffer % sizeof(char *);
  if (room < skip + sizeof(char *)) return ERANGE;
  char **members = (char **)(buffer + skip);
  members[0] = NULL;
  buffer += skip + sizeof(char *);
  room -= skip + sizeof(char *);
  char *name = put(&buffer, &room, found->pw_name), *password = put(&buffer, &room, "x");
  if (!name || !password) return ERANGE;
  *group = (struct group){.gr_name = name, .gr_passwd = password, .gr_gid = found->pw_gid, .gr_mem = members};
  *result = group;
  return 0;
}

static struct passwd *own_user(const struct passwd *found) {
  static _Thread_local struct passwd user;
  user = *found;
  return &user;
}

static struct group *own_group(const struct passwd *found) {
  static _Thread_local struct group group;
  static char *nobody[] = {NULL};
  group = (struct group){.gr_name = found->pw_name, .gr_passwd = "x", .gr_gid = found->pw_gid, .gr_mem = nobody};
  return &group;
}

// ---- users

struct passwd *getpwnam(const char *name) {
  const struct passwd *found = find_name(name);
  return found ? own_user(found) : REAL(getpwnam)(name);
}

struct passwd *getpwuid(uid_t uid) {
  const struct passwd *found = find_uid(uid);
  return found ? own_user(found) : REAL(getpwuid)(uid);
}

int getpwnam_r(const char *restrict name, struct passwd *restrict user, char *restrict buffer, size_t room,
               struct passwd **restrict result) {
  const struct passwd *found = find_name(name);
  if (!found) return REAL(getpwnam_r)(name, user, buffer, room, result);
  return give_user(found, user, buffer, room, result);
}

int getpwuid_r(uid_t uid, struct passwd *restrict user, char *restrict buffer, size_t room,
               struct passwd **restrict result) {
  const struct passwd *found = find_uid(uid);
  if (!found) return REAL(getpwuid_r)(uid, user, buffer, room, result);
  return give_user(found, user, buffer, room, result);
}

// ---- groups

struct group *getgrnam(const char *name) {
  const struct passwd *found = find_name(name);
  return found ? own_group(found) : REAL(getgrnam)(name);
}

struct group *getgrgid(gid_t gid) {
  const struct passwd *found = find_gid(gid);
  return found ? own_group(found) : REAL(getgrgid)(gid);
}

int getgrnam_r(const char *restrict name, struct group *restrict group, char *restrict buffer, size_t room,
               struct group **restrict result) {
  const struct passwd *found = find_name(name);
  if (!found) return REAL(getgrnam_r)(name, group, buffer, room, result);
  return give_group(found, group, buffer, room, result);
}

int getgrgid_r(gid_t gid, struct group *restrict group, char *restrict buffer, size_t room,
               struct group **restrict result) {
  const struct passwd *found = find_gid(gid);
  if (!found) return REAL(getgrgid_r)(gid, group, buffer, room, result);
  return give_group(found, group, buffer, room, result);
}

int getgrouplist(const char *name, gid_t group, gid_t *groups, int *count) {
  if (!find_name(name)) return REAL(getgrouplist)(name, group, groups, count);
  int room = *count;
  *count = 1;
  if (room < 1) return -1;
  groups[0] = group;
  return 1;
}

int initgroups(const char *name, gid_t group) { return find_name(name) ? 0 : REAL(initgroups)(name, group); }

// ---- all of them: only the file's, so that a run does not depend on the machine's users

static size_t next_user, next_group;

void setpwent(void) {
  next_user = 0;
  if (!known()) REAL(setpwent)();
}

void endpwent(void) {
  next_user = 0;
  if (!known()) REAL(endpwent)();
}

void setgrent(void) {
  next_group = 0;
  if (!known()) REAL(setgrent)();
}

void endgrent(void) {
  next_group = 0;
  if (!known()) REAL(endgrent)();
}

struct passwd *getpwent(void) {
  if (!known()) return REAL(getpwent)();
  return next_user < people ? own_user(by_uid[next_user++]) : NULL;
}

struct group *getgrent(void) {
  if (!known()) return REAL(getgrent)();
  return next_group < people ? own_group(by_gid[next_group++]) : NULL;
}

int getpwent_r(struct passwd *restrict user, char *restrict buffer, size_t room, struct passwd **restrict result) {
  if (!known()) return REAL(getpwent_r)(user, buffer, room, result);
  *result = NULL;
  if (next_user == people) return ENOENT;
  int error = give_user(by_uid[next_user], user, buffer, room, result);
  if (!error) next_user++;
  return error;
}

int getgrent_r(struct group *restrict group, char *restrict buffer, size_t room, struct group **restrict result) {
  if (!known()) return REAL(getgrent_r)(group, buffer, room, result);
  *result = NULL;
  if (next_group == people) return ENOENT;
  int error = give_group(by_gid[next_group], group, buffer, room, result);
  if (!error) next_group++;
  return error;
}
