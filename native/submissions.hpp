// Jobs that deciders and observers submit while the simulation runs.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "heap.hpp"
#include "predecessors.hpp"
#include "tables.hpp"

namespace schedlab {

constexpr std::int64_t kFirstOwnId = 1'000'000'000'000;  // jobs that are submitted without an id count from here

// One job. `at` is when it enters.
struct Submission {
  Time at, runtime, limit, cancel;
  std::int64_t id, count;  // an id < 0: the next one that is free
  std::int32_t request, user, group, queue, partition;
  std::int32_t application = -1;
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

// Those that have not entered, the next one first. Most are submitted in the order in which they enter: they stand in a
// row, and only the others in a heap.
class ComingJobs {
 public:
  bool empty() const { return size_ == 0; }
  const Coming &top() const { return other_first() ? others_.top() : row_[next_]; }
  void push(const Coming &coming) {
    ++size_;
    if (next_ > row_.size() / 2) row_.erase(row_.begin(), row_.begin() + static_cast<std::ptrdiff_t>(next_)), next_ = 0;
    if (row_.empty() || !coming.before(row_.back()))
      row_.push_back(coming);
    else
      others_.push(coming);
  }
  void pop() {
    --size_;
    if (other_first())
      others_.pop();
    else
      ++next_;
  }

 private:
  bool other_first() const { return !others_.empty() && (next_ == row_.size() || others_.top().before(row_[next_])); }

  std::size_t size_ = 0;  // every instant asks whether there are any
  std::vector<Coming> row_;
  std::size_t next_ = 0;
  Heap<Coming> others_;
};

// Which ids jobs have, kept once somebody chooses one (no two jobs may have the same) or names one as a predecessor.
struct TakenIds {
  std::unordered_map<std::int64_t, Slot> live;  // of jobs that are in the system
  std::unordered_set<std::int64_t> chosen;      // by those who submitted
};

}  // namespace schedlab
