// Jobs that deciders and observers submit while the simulation runs.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "predecessors.hpp"
#include "tables.hpp"

namespace schedlab {

constexpr std::int64_t kFirstOwnId = 1'000'000'000'000;  // jobs that are submitted without an id count from here

// One job. `at` is when it enters.
struct Submission {
  Time at, runtime, limit, cancel;
  std::int64_t id, count;  // an id < 0: the next one that is free
  std::int32_t request, user, group, queue, partition;
};

// What few of them have besides.
struct Baggage {
  std::string attachments;          // JSON
  std::vector<Predecessor> before;  // whom it waits for,
  bool any = false;                 // of whom one suffices
  bool empty() const { return attachments.empty() && before.empty(); }
};

// Many jobs that were submitted at once, in the order in which they enter; they get slots when they do.
struct Parcel {
  std::vector<Submission> jobs;
  std::vector<Baggage> baggage;  // empty if none has any
  Time called;
  std::size_t next = 0;
};

// One that has not entered yet: a job in its slot, or the next one of a parcel.
struct Coming {
  Time at;
  std::uint64_t order;  // of being submitted
  Slot slot;            // kNoSlot: of a parcel
  std::uint32_t parcel;
  bool before(const Coming &o) const { return at != o.at ? at < o.at : order < o.order; }
};

// Which ids jobs have, kept once somebody chooses one (no two jobs may have the same) or names one as a predecessor.
struct TakenIds {
  std::unordered_map<std::int64_t, Slot> live;  // of jobs that are in the system
  std::unordered_set<std::int64_t> chosen;      // by those who submitted
};

}  // namespace schedlab
