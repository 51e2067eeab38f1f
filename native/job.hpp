// A live job: from its submission until it has left. Kept in a slot that is reused afterwards, so that memory follows
// the jobs that are in the system and not the log.
#pragma once

#include <algorithm>
#include <memory>

#include "machine.hpp"
#include "predecessors.hpp"

namespace schedlab {

enum class State : std::uint8_t {
  Completed,
  Killed,
  Cancelled,
  Rejected,
  Held,
  Waiting,
  Running,
  Suspended,
  Gone,
  Coming,  // submitted during the run, for a time that is yet to come
};
enum class Reason : std::uint8_t {
  None,
  TooLarge,
  UnknownPartition,
  UnknownResource,
  ByPolicy,
  NoFeatures,
  OverBudget,     // it would exceed the machine's budget all alone
  SlowedToLimit,  // killed at its limit, although its runtime fits: it was slowed down, or had to begin again
  // Why a decision killed it, or put it back into the queue.
  ByDecision,
  Preempted,
  NodeFailure,
  Maintenance,
  TimeLimit,       // by whoever decides elsewhere; one that the engine kills at its limit has no reason
  NeverSatisfied,  // what it waited for cannot happen any more
  Withdrawn,       // by a decision, while it waited or was held
};

// One way to run a job: on what, and how long that takes and may take.
struct Shape {
  const Request *request;
  std::int32_t request_number;
  std::int64_t count;
  Time runtime, limit;
};

// What a job that is not rigid may do. The first shape is the one that it was submitted with.
struct Flexible {
  std::vector<Shape> shapes;
  bool malleable;           // may change from one shape to another while it runs,
  Time interval;            // every so many seconds; 0: at any time
  std::uint64_t point = 0;  // order of the timer for the next time
};

// How fast a job works, where that is not simply at rate 1, and what is told of it besides its row (rates.cpp).
struct Pace {
  struct Factor {
    std::int32_t owner;
    double factor;
  };
  std::vector<Factor> factors;  // its rate is their product, in the order of the owners' names; 1 is left out
  std::int32_t stays = 0;       // on nodes, that are over and written down
  bool changed = false;         // its rate has changed since it took its nodes,
  Time begin = 0;               // which was then,
  double work = 0;              // with so much left to do
  double believed = 0;          // and so much as believed, at Job::since, if beliefs follow rates
  Time first_start = std::numeric_limits<double>::quiet_NaN();  // of one that was requeued
  double whole = -1;  // the work of the whole job where it runs, if not its runtime; -1 if it is
};

// What few jobs have.
struct Extra {
  Time held_since = kNever;    // by a decision; kNever if it is not
  Time queued_since = kNever;  // its place (eligible time) in the queue of a policy that has not heard that it is held
  std::string attachments;     // as JSON
  std::vector<Predecessor> before;  // of one that was submitted during the run, until it enters: whom it waits for,
  bool any = false;                 // of whom one suffices
};

struct Job {
  // What the workload says.
  std::int64_t sequence, id;
  std::int64_t ticket = 0;  // by which it was known before it entered and got its sequence; negative, 0 if it was not
  Time submit, runtime, limit;
  std::int64_t count, cores;
  const Request *request;
  std::int32_t request_number, user, group, queue, partition;
  std::int32_t shape = 0;         // which of its shapes the fields above are
  std::int32_t application = -1;  // its row of the heatmap; -1: none

  // What has become of it.
  State state;
  Reason reason;
  Time eligible;
  Time first_estimate, estimate;  // believed duration, as submitted and as corrected
  int corrections;
  double key, scan_key;  // its place in the policy's queue
  double given_key[2];   // the same, as the host has computed them
  Backfilled backfilled;
  Time start, end;  // `end` is the truth: the engine's, not the policy's
  Time estimated_end;
  Time expected_end;  // the same, as believed when it took its nodes
  std::uint64_t start_order;
  std::uint32_t moves;  // of its end
  double work, rate;    // remaining work at `since`, and how fast it shrinks
  double overhead;      // of it, what only the restarts, resumptions and changes of shape cost: it is done first
  Time since;
  Time used, allowance;    // how long it had run by then, and how much longer its limit lets it
  bool pieced;             // its life is told in pieces: it did not simply run from start to end
  bool listed;             // among the estimated ends
  bool released;           // its resources are free already (passes=event)
  Amount allocated_cores;  // whole nodes count in full
  Shares shares;
  Slot previous, next;  // neighbours in the list of waiting jobs

  Time reserved_start;  // conservative: its reservation
  Shares reserved_shares;
  std::uint64_t reserved_mark;  // of the plan, when nothing earlier was found

  // What few jobs have. One beside the other, so that a look at all of them is a look at one place.
  std::unique_ptr<Flexible> flexible;      // null: it is rigid
  std::unique_ptr<Waits> waits;            // null: it is not held by predecessors
  std::unique_ptr<Pace> pace;              // null: it works at rate 1, and nothing is told of it but its row
  std::unique_ptr<Extra> extra;            // null: it has nothing of that
  std::unique_ptr<const Granted> granted;  // null: so many chunks of its request; else `cores` are those granted
  bool awaited;                            // others may refer to it

  Extra &more() { return *(extra ? extra : extra = std::make_unique<Extra>()); }

  // Nothing has become of it yet.
  void make_new() {
    eligible = start = key = estimated_end = std::numeric_limits<double>::quiet_NaN();
    released = listed = pieced = awaited = false;
    backfilled = false;
    work = runtime, overhead = 0;
    corrections = 0;
    reserved_start = kNever;
    shares.clear();
    if (granted) [[unlikely]]
      granted.reset();
    if (pace) [[unlikely]]
      pace.reset();
  }

  Amount asked_cores() const { return count * request->cores; }

  // The work of the whole job where it runs: its runtime, unless an execution model says otherwise.
  double whole() const { return pace && pace->whole >= 0 ? pace->whole : runtime; }
  // When it first began to run; not a number if it has not.
  Time first_start() const { return pace && !std::isnan(pace->first_start) ? pace->first_start : start; }
  // What it has done of it by then; what it cost to begin again is not among it.
  double done(Time now) const {
    const double doing = doing_since(now);
    const double left = work - doing - std::max(overhead - doing, 0.0);
    return std::clamp(whole() - left, 0.0, whole());
  }
  // And what is left to do, with what it costs to begin again.
  double remaining(Time now) const { return std::max(work - doing_since(now), 0.0); }

 private:
  double doing_since(Time now) const {
    const bool ran = !std::isnan(start) && (state == State::Running || state == State::Gone);
    return ran ? rate * (std::min(now, end) - since) : 0;
  }
};

// Where live jobs are kept: a slot stays where it is while the pool grows.
class JobPool {
 public:
  Job &operator[](Slot slot) { return chunks_[slot / kChunk][slot % kChunk]; }
  const Job &operator[](Slot slot) const { return chunks_[slot / kChunk][slot % kChunk]; }
  Slot size() const { return size_; }

  Slot acquire() {
    if (free_.empty()) {
      if (size_ % kChunk == 0) chunks_.push_back(std::make_unique<Job[]>(kChunk));
      return size_++;
    }
    const Slot slot = free_.back();
    free_.pop_back();
    return slot;
  }
  void give_back(Slot slot) { free_.push_back(slot); }

 private:
  static constexpr Slot kChunk = 256;
  std::vector<std::unique_ptr<Job[]>> chunks_;
  std::vector<Slot> free_;
  Slot size_ = 0;
};

}  // namespace schedlab
