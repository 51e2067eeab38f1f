// The engine: simulated time, the jobs, the cluster, and the one protocol by which deciders act on them.
#pragma once

#include <deque>
#include <memory>
#include <span>
#include <unordered_map>

#include "block_list.hpp"
#include "estimator.hpp"
#include "heap.hpp"
#include "job.hpp"
#include "placement.hpp"
#include "tables.hpp"

namespace schedlab {

struct Options {
  bool pass_per_event = false;
  bool kill_at_limit = true;
  bool follow_dependencies = false;
  bool exclusive = false;  // every job gets whole nodes
  bool validate = false;
  bool repeat_workload = true;  // in the rows of results
};

// What a decider is told. The job is still there to be looked at, even when it has just left.
struct Event {
  enum class Kind : std::uint8_t { Completed, Submitted, Cancelled, Corrected, Woken };
  Kind kind;
  Slot slot;
};

// The estimated ends of running jobs, soonest first, with the cores they will give back.
struct EstimatedEnd {
  Time end;
  std::uint64_t order;  // of starting
  std::int32_t cores;
  Slot slot;
  bool before(const EstimatedEnd &other) const { return end != other.end ? end < other.end : order < other.order; }
};
struct CoresSum {
  Amount cores = 0;
  void add(const EstimatedEnd &e) { cores += e.cores; }
  bool remove(const EstimatedEnd &e) { return cores -= e.cores, true; }
};
using EstimatedEnds = BlockList<EstimatedEnd, CoresSum>;

class Engine;

// What a decider sees and may do. Decisions take effect at once; an impossible one is a DecisionError.
class View {
 public:
  explicit View(Engine &engine) : engine_(engine) {}

  Time now() const;
  const Job &job(Slot slot) const;
  Slot first_waiting() const;  // in order of eligibility; the next one is job(slot).next
  std::size_t waiting() const;
  const EstimatedEnds &estimated_ends() const;
  const LiveCluster &cluster() const;
  const Machine &machine() const;
  const Placement &placement() const;
  // Grows whenever resources become free or a belief about a running job changes: without it, nothing that did not fit
  // fits.
  std::uint64_t changes() const;

  bool place(Slot slot, Shares &shares) const;  // where the placement would put it now; false if it does not fit

  bool start(Slot slot, double priority = 0, bool backfilled = false);  // false if it does not fit
  void start_on(Slot slot, const Shares &shares, double priority = 0, bool backfilled = false);
  void reject(Slot slot);
  void kill(Slot slot);
  void requeue(Slot slot);                // back to the queue, work lost
  void set_rate(Slot slot, double rate);  // of a running job: 1 is as in the workload, 0 stands still
  void wake_at(Time time);
  Job &annotate(Slot slot);  // for a native decider's own marks (key, reservation)

 private:
  Engine &engine_;
};

class Decider {
 public:
  virtual ~Decider() = default;
  virtual void decide(View &view, std::span<const Event> events) = 0;
  virtual bool needs_estimated_ends() const { return false; }
};

class Engine {
 public:
  Engine(Machine machine, Placement placement, std::unique_ptr<Estimator> estimator, Options options, Host &host);

  // Shapes must be known before a job of the workload points to them; `reason` makes its jobs be rejected.
  void add_shape(Shape shape, Reason reason);

  void run(Decider &decider);

 private:
  friend class View;

  enum class TimerKind : std::uint8_t { Release, Cancel, Correct, Wake };
  struct Timer {
    Time time;
    TimerKind kind;
    std::uint64_t order;
    Slot slot;
    std::int64_t sequence;  // of the job it is about: the slot may have been reused
    bool before(const Timer &o) const {
      if (time != o.time) return time < o.time;
      if (kind != o.kind) return kind < o.kind;
      return order < o.order;
    }
  };

  // The loop's phases.
  bool more_input();  // asks the host for the next batch where needed
  Time next_time();
  void instant(Decider &decider);
  void instant_by_event(Decider &decider);
  void ask(Decider &decider);
  void record();
  void finish();
  bool next_timer(Time at_most, bool corrections_only);

  // A job's life.
  void submit();
  void make_eligible(Slot slot);
  bool hold(Slot slot);
  void complete(Slot slot);
  void correct(Slot slot);
  void cancel(Slot slot);
  void leave(Slot slot, State state, Time end);
  void write(const Job &job, State state);
  void begin(Slot slot, double priority, bool backfilled);
  const EstimatedEnds &estimated_ends();
  void release(Slot slot);
  void stop(Slot slot);  // takes a running job off its nodes before its end
  void set_rate(Slot slot, double rate);
  void set_timer(Time time, TimerKind kind, Slot slot);
  void enqueue(Slot slot);
  void dequeue(Slot slot);
  Time true_end(const Job &job) const;
  [[noreturn]] void refuse(const char *what, Slot slot, const char *why) const;

  // Running jobs by (end, order of starting). An entry is out of date when its job has left or its end has moved.
  struct End {
    Time end;
    std::uint64_t order;
    Slot slot;
    bool before(const End &o) const { return end != o.end ? end < o.end : order < o.order; }
  };
  bool out_of_date(const End &entry) const;
  const End *next_end();  // the next one that is not; null if nothing runs

  void validate() const;

  Machine machine_;
  Placement placement_;
  std::unique_ptr<Estimator> estimator_;
  Options options_;
  Host &host_;
  View view_{*this};
  LiveCluster cluster_;
  bool track_ends_ = false;

  std::deque<Shape> shapes_;
  std::vector<Reason> shape_reasons_;
  JobColumns input_;
  std::size_t cursor_ = 0;
  bool input_over_ = false;

  Time now_ = 0;
  JobPool jobs_;
  std::vector<Slot> gone_;  // left in this round; their slots are free when the decider has been told
  Slot waiting_first_ = kNoSlot, waiting_last_ = kNoSlot;
  Heap<End> ends_;
  std::vector<Slot> ending_;
  EstimatedEnds estimated_ends_;
  static constexpr std::size_t kMostUnlisted = 1024;
  std::vector<std::pair<std::uint64_t, Slot>>
      unlisted_;  // started since they were last put in order: (start order, slot)
  Heap<Timer> timers_;
  std::vector<Event> events_;
  std::uint64_t changes_ = 0, starts_ = 0, timer_order_ = 0;
  std::uint64_t moved_ends_ = 0;  // entries of ends_ that are out of date

  std::unordered_map<std::int64_t, Time> ends_by_id_;  // follow_dependencies: when each job left, or kNever
  std::unordered_map<std::int64_t, std::vector<std::pair<Slot, std::int64_t>>> held_by_;  // and who waits for it

  std::int64_t next_sequence_ = 0, ended_ = 0;
  std::int64_t waiting_count_ = 0, waiting_cores_ = 0, running_count_ = 0, running_cores_ = 0;
  JobRows rows_;
  TimelineRows timeline_{0};
};

}  // namespace schedlab
