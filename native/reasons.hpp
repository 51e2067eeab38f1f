// Why jobs wait, for runs that were asked to say so (docs/semantics.md, "Why a job waits").
#pragma once

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
  // Jobs that no longer wait have waited until now.
  template <class Waits>
  void close(Time now, Waits waits) {
    std::erase_if(open_, [&](Slot slot) {
      Open &open = by_slot_[slot];
      if (waits(slot, open.sequence)) return false;
      end(open, now);
      open.sequence = -1;
      return true;
    });
  }
  void finish() { host_.take(std::move(rows_)); }

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
  std::vector<Slot> open_;
  std::unordered_map<std::string, std::int32_t> numbers_;
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
