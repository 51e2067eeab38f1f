// What the parts of the virtual clock know of each other. docs/virtual-clock.md tells how it works.
#pragma once

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#pragma GCC visibility push(hidden)  // only what replaces the C library's functions is seen from outside

#define SECOND 1000000000LL
#define NEVER INT64_MAX

// The next definition of a function that this library replaces: the C library's.
void *find_real(const char *name);
#define REAL(name)                                           \
  ({                                                         \
    static __typeof__(&name) found;                          \
    if (!found) found = (__typeof__(&name))find_real(#name); \
    found;                                                   \
  })

// ---- settings.c: what the environment asks for. The defaults are those of a program without a clock.
struct settings {
  const char *control;   // SCHEDLAB_CLOCK: where the driver listens; NULL: time is real
  const char *sockets;   // SCHEDLAB_SOCKETS: the folder of rerouted sockets; NULL: left alone
  const char *people;    // SCHEDLAB_PEOPLE: a file in passwd format; NULL: the system's
  const char *unwanted;  // SCHEDLAB_UNWANTED: texts, one a line; output with one of them is not written
  long uid;              // SCHEDLAB_UID: who the program thinks it is; -1: who it is
  int64_t tick;          // SCHEDLAB_CLOCK_TICK: nanoseconds that each look at the clock takes
  double cpu_factor;     // SCHEDLAB_CLOCK_CPU: simulated time per processor time
  int64_t coalesced;     // SCHEDLAB_CLOCK_COALESCE: a sleep of exactly so many microseconds ...
  int coalesced_times;   // ... is taken as one long one, so many times as long
};
extern struct settings settings;

// ---- clock.c
extern atomic_bool virtual_time;  // this process has simulated time (a forked child has not)
int64_t now(void);
void absorb_cost(void);            // at an idle moment: processor time used becomes simulated time
void move_clock_to(int64_t time);  // never backwards
int64_t deadline_after(int64_t nanoseconds);
int64_t nanoseconds(const struct timespec *time);
struct timespec timespec_of(int64_t nanoseconds);

// ---- schedule.c: one thread runs at a time; time moves when none can.
enum reason { WOKEN, TIMED_OUT, INTERRUPTED };
enum state {
  RUNNING,  // at most one, but for threads back from outside
  READY,    // may run when its turn comes
  WAITING,  // for what its `wait` says
  OUTSIDE,  // seen blocked in a call that the shim does not know
  LEAVING,  // its own code has ended, the C library's may not have
  STATES
};

struct wait {
  const void *key;                   // what wake_one and wake_all name
  int64_t deadline;                  // NEVER: no timeout
  bool interruptible;                // a signal or a cancellation ends it
  const struct pollfd *descriptors;  // any of these being ready ends it
  nfds_t count;
  const volatile int *lock;  // being unlocked by another process, which does not tell, ends it
};

struct thread {
  enum state state;
  enum reason reason;
  atomic_uint go;  // futex word: 1 when the thread may run
  pid_t tid;       // 0 until it has started
  int core;        // of cores.c
  pthread_t handle;
  struct wait wait;
  int coalesced;  // sleeps skipped so far
  int rounds;     // of thread-specific destructors seen
  struct thread *next, *previous;
};

struct queue {
  struct thread *first, *last;
  int count;
};
struct descriptors {
  struct pollfd *all;
  nfds_t count, size;
};
void add_descriptors(struct descriptors *into, const struct pollfd *added, nfds_t count);

extern struct queue queues[STATES];
extern uint64_t turns;      // changes whenever any thread changes its state
extern bool child_awaited;  // nobody can run, but time stands still
extern bool lock_awaited;   // nobody can run, and what another process may unlock has to be watched
extern bool locks_shared;   // a thread has waited for what another process may unlock: few programs do
extern _Thread_local struct thread *self __attribute__((tls_model("initial-exec")));

bool scheduled(void);      // this thread is a simulated one; starts the clock at the first call
bool clock_started(void);  // as scheduled, but never starts the clock
void lock_schedule(void);
void unlock_schedule(void);
void run_next(void);               // schedule locked: lets the next thread run, if none does
void hand_over(void);              // run_next and unlock
void enter_schedule(void);         // lock_schedule by a simulated thread
bool is_guard(uintptr_t address);  // it is in the lock of the schedule
void append(struct thread *thread, enum state state);
void move(struct thread *thread, enum state state);
void forget(struct thread *thread);
struct thread *thread_of(pthread_t handle);  // NULL: not one of ours
void stop_schedule(void);                    // schedule locked, in a forked child

enum reason wait_for(const struct wait *wait);
enum reason fall_asleep(const struct wait *wait);  // after enter_schedule; hands over
void sleep_until_released(struct thread *me);
void yield_turn(void);
// The rest with the schedule locked.
void wake(struct thread *thread, enum reason reason);
bool wake_one(const void *key);
bool wake_all(const void *key);
bool waited_for(const void *key);
void collect_descriptors(struct descriptors *into);
int64_t next_deadline(void);

// ---- threads.c
void adopt_caller(void);
bool anybody_leaves(void);  // schedule locked

// ---- cores.c: where threads run
void know_cores(void);                   // before any is told
void bring_home(struct thread *thread);  // schedule locked; about to be woken
void leave_home(void);                   // in a forked child

// ---- look.c: what the kernel says about threads in calls that the shim does not know
enum activity { RUNS, AWAITS_CHILD, BLOCKED };  // busiest first
enum activity busiest_of(const struct queue *queue);
void require_proc(void);

// ---- control.c: the driver's commands
extern atomic_uint_fast64_t outward_calls;
extern uint64_t timers_fired;
void start_helper(void);
bool may_fire(int64_t deadline);  // schedule locked, nobody can run; NEVER: there is no timer
void kick_helper(void);           // schedule locked
int64_t helper_cpu(void);
void close_control(void);
_Noreturn void give_up(const char *message, const char *what);

// ---- locks.c
int release_mutex(pthread_mutex_t *mutex);  // schedule locked

#pragma GCC visibility pop
