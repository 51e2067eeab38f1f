// Jobs that deciders and observers submit while the simulation runs.
#pragma once

#include <deque>
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

// What has become of one that was just submitted: it is in a slot, or has a ticket for later.
struct Submitted {
  std::int64_t id;
  Slot slot;  // kNoSlot: for later
  std::int64_t ticket = -1;
};

// Many jobs that were submitted at once, in the order in which they enter; they get slots when they do.
struct Parcel {
  std::vector<Submission> jobs;
  std::vector<Baggage> baggage;  // empty if none has any
  Time called;
  std::size_t next = 0;
};

// A job that was submitted alone, for later. It gets a slot when it enters; whoever holds its ticket finds it there.
struct Announced {
  static constexpr std::int64_t kComing = -1, kWithdrawn = -2;

  Submission job;
  Time called;
  std::unique_ptr<Baggage> baggage;  // null: none
  std::int64_t sequence = kComing;   // once it has entered
  Slot slot = kNoSlot;               // likewise
  std::uint32_t users = 1;           // those who hold its ticket, and one while it is in the row of those who come
};

// Tickets are numbers in the order of being submitted, the same when a run is taken up again. What is known of them is
// kept in pages that go when nobody needs any of it.
class Tickets {
 public:
  std::int64_t give(const Submission &job, Time called, Baggage &&baggage) {
    if (next_ % kPage == 0) turn_page();
    Page &page = *pages_.back();
    page.jobs.push_back({job, called, baggage.empty() ? nullptr : std::make_unique<Baggage>(std::move(baggage))});
    ++page.used;
    return next_++;
  }
  Announced &operator[](std::int64_t ticket) {
    return pages_[static_cast<std::size_t>(ticket / kPage)]->jobs[static_cast<std::size_t>(ticket % kPage)];
  }
  void hold(std::int64_t ticket) { ++(*this)[ticket].users; }
  void let_go(std::int64_t ticket) {
    if (--(*this)[ticket].users > 0) return;
    auto &page = pages_[static_cast<std::size_t>(ticket / kPage)];
    if (--page->used == 0 && page != pages_.back()) page.reset();
  }

 private:
  static constexpr std::int64_t kPage = 64;
  struct Page {
    Page() { jobs.reserve(kPage); }
    std::vector<Announced> jobs;
    int used = 0;
  };
  [[gnu::noinline]] void turn_page() {
    if (!pages_.empty() && pages_.back()->used == 0) pages_.back().reset();
    pages_.push_back(std::make_unique<Page>());
  }

  std::vector<std::unique_ptr<Page>> pages_;
  std::int64_t next_ = 0;
};

// One that has not entered yet: of a ticket, or the next one of a parcel.
struct Coming {
  Time at;
  std::uint64_t order;  // of being submitted
  std::int64_t source;  // the ticket; of a parcel, -1 - its number
  bool before(const Coming &o) const { return at != o.at ? at < o.at : order < o.order; }
};

// Those that have not entered, the next one first. Most are submitted in the order in which they enter: they stand in a
// row, and only the others in a heap.
class ComingJobs {
 public:
  bool empty() const { return size_ == 0; }
  const Coming &top() const { return other_first() ? others_.top() : row_.front(); }
  void push(const Coming &coming) {
    ++size_;
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
      row_.pop_front();
  }

 private:
  bool other_first() const { return !others_.empty() && (row_.empty() || others_.top().before(row_.front())); }

  std::size_t size_ = 0;  // every instant asks whether there are any
  std::deque<Coming> row_;
  Heap<Coming> others_;
};

// Which ids jobs have, kept once somebody chooses one (no two jobs may have the same) or names one as a predecessor.
struct TakenIds {
  std::unordered_map<std::int64_t, Slot> live;  // of jobs that are in the system
  std::unordered_set<std::int64_t> chosen;      // by those who submitted
};

}  // namespace schedlab
