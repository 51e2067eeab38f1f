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

// A job that waits for another one.
struct Follower {
  Slot slot;
  std::int64_t sequence;  // the slot may have been reused
  Condition condition;
  Time delay;
};

// Those of one job, in the order in which they came: places in a pool, since there are many short lists.
struct FollowerList {
  std::int32_t first = -1, last = -1;
};

class FollowerPool {
 public:
  void add(FollowerList &list, const Follower &follower) {
    std::int32_t place = free_;
    if (place >= 0)
      free_ = nodes_[at(place)].next, nodes_[at(place)] = {follower, -1};
    else
      place = static_cast<std::int32_t>(nodes_.size()), nodes_.push_back({follower, -1});
    if (list.first < 0)
      list.first = place;
    else
      nodes_[at(list.last)].next = place;
    list.last = place;
  }

  // Of those that are told, nobody is left.
  template <class Told>
  void remove_if(FollowerList &list, Told told) {
    FollowerList kept;
    for (std::int32_t place = list.first; place >= 0;) {
      const std::int32_t next = nodes_[at(place)].next;
      const bool gone = told(nodes_[at(place)].follower);
      nodes_[at(place)].next = -1;
      if (gone)
        nodes_[at(place)].next = free_, free_ = place;
      else if (kept.first < 0)
        kept.first = kept.last = place;
      else
        nodes_[at(kept.last)].next = place, kept.last = place;
      place = next;
    }
    list = kept;
  }

  void forget(FollowerList &list) {
    remove_if(list, [](const Follower &) { return true; });
  }

 private:
  struct Node {
    Follower follower;
    std::int32_t next;
  };
  static std::size_t at(std::int32_t place) { return static_cast<std::size_t>(place); }
  std::vector<Node> nodes_;
  std::int32_t free_ = -1;
};

// A job that others refer to: from its submission until it has left and the last of them has come.
struct Awaited {
  static constexpr Time kOpen = std::numeric_limits<double>::quiet_NaN();

  std::int64_t last_referrer;  // its position in the log
  Time started = kOpen, ended = kOpen;
  bool completed = false;
  FollowerList followers = {};

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
