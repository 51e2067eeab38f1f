// A live job: from its submission until it has left. Kept in a slot that is reused afterwards, so that memory follows
// the jobs that are in the system and not the log.
#pragma once

#include <algorithm>
#include <memory>

#include "columns.hpp"
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
  double work = 0;              // with so much left to do,
  double done = 0;              // of which so much was done at Job::since,
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
  Time promised = kNever;           // see Promises; where an order asks for it
  std::int64_t rank_cores = 0;      // it is ranked in queues as a job of so many cores and such a limit would be that
  Time rank_limit = 0;              // is eligible since it was submitted; 0: as itself
};

// In the order in which the loop needs the fields: five cache lines that every job touches, and one that few do.
struct alignas(64) Job {
  // What the workload says.
  std::int64_t sequence, id;
  Time submit, runtime, limit;
  std::int64_t count, cores;
  const Request *request;

  std::int32_t request_number, user, group, queue, partition;
  std::int32_t shape = 0;  // which of its shapes the fields above are

  // What has become of it.
  State state;
  Reason reason;
  Backfilled backfilled;
  bool pieced;    // its life is told in pieces: it did not simply run from start to end
  bool listed;    // among the estimated ends
  bool released;  // its resources are free already (passes=event)
  bool awaited;   // others may refer to it
  int corrections;
  std::uint32_t moves;  // of its end
  Slot previous, next;  // neighbours in the list of waiting jobs
  Time eligible;
  Time first_estimate, estimate;  // believed duration, as submitted and as corrected

  double key;       // its place in the policy's queue
  Time start, end;  // `end` is the truth: the engine's, not the policy's
  Time estimated_end;
  Time expected_end;  // the same, as believed when it took its nodes
  std::uint64_t start_order;
  Amount allocated_cores;  // whole nodes count in full

  double work, rate;  // remaining work at `since`, and how fast it shrinks
  double overhead;    // of it, what only the restarts, resumptions and changes of shape cost: it is done first
  Time since;
  Time used, allowance;  // how long it had run by then, and how much longer its limit lets it
  double scan_key;       // its place among the candidates for backfilling
  Time reserved_start;   // conservative: its reservation

  // What few jobs have. One beside the other, so that a look at all of them is a look at one place.
  std::unique_ptr<Flexible> flexible;      // null: it is rigid
  std::unique_ptr<Waits> waits;            // null: it is not held by predecessors
  std::unique_ptr<Pace> pace;              // null: it works at rate 1, and nothing is told of it but its row
  std::unique_ptr<Extra> extra;            // null: it has nothing of that
  std::unique_ptr<const Granted> granted;  // null: so many chunks of its request; else `cores` are those granted
  Shares shares;

  double given_key[2];  // `key` and `scan_key`, as the host has computed them
  Shares reserved_shares;
  std::uint64_t reserved_mark;    // of the plan, when nothing earlier was found
  std::int32_t application = -1;  // its row of the heatmap; -1: none

  // As what queues rank it.
  bool ranked() const { return extra && extra->rank_cores > 0; }
  Time ranked_since() const { return ranked() ? submit : eligible; }

  Extra &more() { return *(extra ? extra : extra = std::make_unique<Extra>()); }

  // Nothing has become of it yet, and it has nothing that few jobs have.
  void make_new() {
    eligible = start = key = estimated_end = std::numeric_limits<double>::quiet_NaN();
    released = listed = pieced = awaited = false;
    backfilled = false;
    work = runtime, overhead = 0;
    shape = 0, corrections = 0;
    reserved_start = kNever;
    shares.clear();
    if (has_rare()) [[unlikely]]
      forget_rare();
  }

  Amount asked_cores() const { return count * request->cores; }

  // The work of the whole job where it runs: its runtime, unless an execution model says otherwise.
  double whole() const { return pace && pace->whole >= 0 ? pace->whole : runtime; }
  // When it first began to run; not a number if it has not.
  Time first_start() const { return pace && !std::isnan(pace->first_start) ? pace->first_start : start; }
  // What it has done of it by then; what it cost to begin again is not among it. Of a job without an end nobody knows
  // how much was left before: what it has done since it took its nodes.
  double done(Time now) const {
    const double doing = doing_since(now);
    if (work == kNever) return doing + (pace && pace->changed ? pace->done : 0);
    const double left = work - doing - std::max(overhead - doing, 0.0);
    return std::clamp(whole() - left, 0.0, whole());
  }
  // And what is left to do, with what it costs to begin again.
  double remaining(Time now) const { return std::max(work - doing_since(now), 0.0); }

 private:
  // Of what the job that was here before may have left. (One look: every job is asked.)
  bool has_rare() const {
    const auto there = [](const auto &what) { return reinterpret_cast<std::uintptr_t>(what.get()); };
    return (there(flexible) | there(pace) | there(extra) | there(granted)) != 0;
  }
  [[gnu::noinline, gnu::cold]] void forget_rare() { flexible.reset(), pace.reset(), extra.reset(), granted.reset(); }

  double doing_since(Time now) const {
    const bool ran = !std::isnan(start) && (state == State::Running || state == State::Gone);
    return ran ? rate * (std::min(now, end) - since) : 0;
  }
};

// Where live jobs are kept: a slot stays where it is while the pool grows.
class JobPool {
 public:
  JobPool() = default;
  JobPool(const JobPool &) = delete;
  JobPool &operator=(const JobPool &) = delete;
  ~JobPool() {
    for (Job *chunk : chunks_) std::destroy_n(chunk, kChunk);
  }

  Job &operator[](Slot slot) { return chunks_[slot / kChunk][slot % kChunk]; }
  const Job &operator[](Slot slot) const { return chunks_[slot / kChunk][slot % kChunk]; }
  Slot size() const { return size_; }

  Slot acquire() {
    if (free_.empty()) {
      if (size_ % kChunk == 0) grow();
      return size_++;
    }
    const Slot slot = free_.back();
    free_.pop_back();
    return slot;
  }
  void give_back(Slot slot) { free_.push_back(slot); }

 private:
  [[gnu::noinline]] void grow() {
    if (unused_ == 0) {
      unused_ = chunks_.size() < kPerBlock ? 1 : kPerBlock;
      blocks_.push_back(std::make_unique<Arena>(unused_ * kChunk * sizeof(Job), true));
    }
    chunks_.push_back(blocks_.back()->take<Job>(kChunk));
    std::uninitialized_value_construct_n(chunks_.back(), kChunk);
    --unused_;
  }

  static constexpr Slot kChunk = 256;
  // A pool that has become large gets more of it at once, in huge pages: three of them.
  static constexpr std::size_t kPerBlock = 64;
  static_assert(kPerBlock * kChunk * sizeof(Job) == std::size_t{6} << 20);
  std::vector<Job *> chunks_;
  std::vector<std::unique_ptr<Arena>> blocks_;
  std::size_t unused_ = 0;  // chunks of the last block
  std::vector<Slot> free_;
  Slot size_ = 0;
};

}  // namespace schedlab
