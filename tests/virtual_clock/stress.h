// What the parts of the stress program share: a log in the order in which things happened, and the watch over time.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define MILLISECOND 1000000LL
#define ROUNDS 12

extern atomic_int working;    // threads in a stretch of real work
extern atomic_int in_flight;  // signals and bytes sent to threads that wait for nothing but them

int64_t now(void);
unsigned next_random(unsigned *state);  // the same in every repetition
void work(const char *who);             // some real time, different in every repetition; the clock must stand
void sleep_exactly(const char *who, int64_t span);  // must end at its deadline, with nobody at work
void note(const char *who, const char *what, int64_t number);
void complain(const char *who, const char *what, int64_t found, int64_t expected);
void check_advanced(const char *who, int64_t deadline);

// Every part starts threads of its own and joins them. Those of known.c wait only in calls that the shim replaces, so
// that even the order of their notes repeats; those of unknown.c also block in others.
typedef void *(*part)(void *);
extern const part known_parts[], unknown_parts[];  // ended by NULL
