// Why jobs wait, for runs that were asked to say so (docs/semantics.md, "Why a job waits").
#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "job.hpp"
#include "tables.hpp"

namespace schedlab {

// In the order of WAIT_REASONS in model/states.py.
enum class WaitReason : std::uint8_t {
  NotEnoughFree,
  WouldDelay,
  Behind,
  Dependency,
  Held,
  Limit,
  Partition,
  ClosedNodes,
  OverBudget,
  Calendar,
  Gate,
  NotStarted,
  OwnWords,
};
std::optional<WaitReason> wait_reason(std::string_view word);  // by its word

struct Why {
  WaitReason reason;
  Slot who = kNoSlot;  // who is in the way
};

// What a job waits for: the same for as long as a row of the table lasts.
struct Waited {
  WaitReason reason;
  std::int64_t who = -1;    // a job's id
  std::int32_t words = -1;  // number of a text: who refused it, or what a decider says in words of its own
  bool operator==(const Waited &) const = default;
};

// Keeps what each job waits for, and writes a row whenever that has changed.
class WaitRecord {
 public:
  explicit WaitRecord(Host &host) : host_(host) {}

  // The job waits for this from now on. A reason that did not last leaves no trace.
  void set(Slot slot, const Job &job, Time now, const Waited &waited);
  bool has(Slot slot, const Job &job, const Waited &waited) const;
  // The job that was told of in this slot no longer waits, if it is not this one: it has waited until now.
  void close(Slot slot, std::int64_t waits, Time now);
  void finish(Time now);

  std::int32_t number_of(const std::string &text);
  const std::string &text(std::int32_t number) const { return rows_.texts_so_far[static_cast<std::size_t>(number)]; }

 private:
  struct Open {
    std::int64_t sequence = -1, id = -1;
    Waited waited;
    Time since = 0;
    std::optional<std::pair<Waited, Time>> before;  // what ended when this began, and when it began
  };
  void end(const Open &open, Time now);
  void write(const Open &open, const Waited &waited, Time from, Time until);

  Host &host_;
  ReasonRows rows_{0};
  std::vector<Open> by_slot_;
  std::unordered_map<std::string, std::int32_t> numbers_;
};

// Waiting jobs by the cores that they ask for.
class ByCores {
 public:
  void add(Slot slot, Amount cores);
  void remove(Slot slot);
  void collect(Amount most, std::vector<Slot> &found) const;  // those that ask for no more than this

 private:
  struct Place {
    Amount cores = 0;
    std::size_t index = 0;
  };
  std::map<Amount, std::vector<Slot>> slots_;
  std::vector<Place> places_;  // by slot
};

class Blame;
class Decider;

// What the engine keeps for it. A text about a job is good only while the slot is that job's.
struct Reasons {
  explicit Reasons(Host &host);
  ~Reasons();

  struct Said {
    std::int64_t sequence;
    Waited waited;
  };
  WaitRecord record;
  Decider *decider = nullptr;            // who is asked, if he explains; else
  std::weak_ptr<Decider> native;         // the policy that he builds on; else the engine says what it can
  std::vector<Slot> held;                // jobs that are or were held
  std::vector<Slot> left;                // the queue since the last instant
  std::unordered_map<Slot, Said> said;   // by deciders in words of their own
  std::unordered_map<Slot, Said> gated;  // by whom a start was last refused
  std::int64_t last_pass = -1;           // that reasons were given for
  bool stepped = false;                  // there was a pass by hand
  Time known_until = -kNever;            // until then, the journal says what jobs wait for
  struct Past {
    Slot slot;
    Waited waited;
  };
  std::vector<Past> past;  // what it says of this instant

  [[gnu::noinline, gnu::cold]] void came(Slot slot, Amount cores);  // into the queue
  [[gnu::noinline, gnu::cold]] void went(Slot slot);

  // Who is to be asked for because what it waits for can have changed.
  bool ask_all = true;                  // nothing is known yet
  std::vector<Slot> fresh;              // who came, or of whom something was said
  ByCores waiting;                      // who may fit, now or when it was last asked
  const Decider *last_asked = nullptr;  // who decided then,
  std::int64_t last_first = -1;         // sequence of the job that all waited for, if they did,
  Amount last_free = 0;                 // how many cores were free,
  bool some_were_closed = false;        // and whether nodes were closed

  // What stands in the way of a job by itself, looked at once in an instant.
  struct Obstacle {
    std::uint64_t instant = 0;
    std::int16_t reason = -1;  // -1: nothing
  };
  std::uint64_t instant = 1;
  std::vector<Obstacle> obstacles;
  std::unordered_map<std::int32_t, Request> anywhere;  // requests without partition and features, by number
  std::unique_ptr<Blame> blame;                        // for reservations of deciders that keep no plan
  std::uint64_t blamed = 0;                            // in which instant it was last looked for
};

}  // namespace schedlab
