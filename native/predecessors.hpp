// Whom a job has to wait for before it becomes eligible, and what is remembered of jobs that others wait for.
#pragma once

#include <limits>
#include <vector>

#include "types.hpp"

namespace schedlab {

enum class Condition : std::uint8_t { Ended, Completed, NotCompleted, Started };

struct Predecessor {
  std::int64_t job;  // its id
  Condition condition;
  Time delay;  // from then on
};

// What a held job still waits for.
struct Waits {
  bool any;                       // one of its predecessors suffices; otherwise all are needed
  bool never = false;             // all are needed, and one will never do
  Time release;                   // the earliest (any) or latest (all) time of those that are decided
  std::vector<Predecessor> open;  // those that are not

  explicit Waits(bool one_suffices) : any(one_suffices), release(one_suffices ? kNever : -kNever) {}

  // It is known since when a condition holds, or that it never will (kNever).
  void decide(Time since, Time delay) {
    const Time then = since + delay;
    if (any)
      release = std::min(release, then);
    else if (since == kNever)
      never = true;
    else
      release = std::max(release, then);
  }
  bool hopeless() const { return any ? open.empty() && release == kNever : never; }
  bool settled() const { return any ? release < kNever : open.empty(); }  // `release` is the time
};

struct Follower {
  Slot slot;
  std::int64_t sequence;  // the slot may have been reused
  Condition condition;
  Time delay;
};

// A job that others refer to: from its submission until it has left and the last of them has come.
struct Awaited {
  static constexpr Time kOpen = std::numeric_limits<double>::quiet_NaN();

  std::int64_t last_referrer;  // its position in the log
  Time started = kOpen, ended = kOpen;
  bool completed = false;
  std::vector<Follower> followers;  // in the order in which they came

  bool left() const { return ended == ended; }

  // Since when the condition holds: kNever if it never will, not a number while that is open.
  Time since(Condition condition) const {
    switch (condition) {
      case Condition::Ended:
        return ended;
      case Condition::Completed:
        return left() && !completed ? kNever : ended;
      case Condition::NotCompleted:
        return left() && completed ? kNever : ended;
      case Condition::Started:
        return started == started ? started : ended;  // or it will never start
    }
    return ended;
  }
};

}  // namespace schedlab
