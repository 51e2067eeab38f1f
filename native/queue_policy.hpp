// Policies that keep waiting jobs in an order and go through them in passes.
#pragma once

#include "engine.hpp"
#include "order.hpp"
#include "policies.hpp"
#include "promises.hpp"

namespace schedlab {

// A waiting job's place in an order: smaller keys first, ties by (eligible time, sequence).
struct Waiting {
  double key;
  Time eligible;
  std::int64_t sequence;
  std::int32_t cores;
  Slot slot;
  bool before(const Waiting &o) const {
    if (key != o.key) return key < o.key;
    if (eligible != o.eligible) return eligible < o.eligible;
    return sequence < o.sequence;
  }
};
struct LeastCores {
  std::int32_t cores = std::numeric_limits<std::int32_t>::max();
  void add(const auto &entry) { cores = std::min(cores, entry.cores); }
  bool remove(const auto &entry) const { return entry.cores > cores; }
};
using WaitingList = BlockList<Waiting, LeastCores>;

class QueuePolicy : public Decider {
 public:
  explicit QueuePolicy(const PolicyChoice &choice)
      : order_(choice.order),
        periods_(choice.periods),
        in_time_(periods_.any()),
        half_life_(order_.by_usage() ? choice.half_life : 0) {}

  void decide(View &view, std::span<const Event> events) override;
  std::vector<double> memory() const override;
  void recall(View &view, std::span<const double> memory) override;
  void review(View &view) override;
  Time usage_half_life() const override { return half_life_; }
  std::vector<Intention> intentions(View &view) final;
  Why why(View &view, Slot slot) final { return in_step_ ? reason(view, slot) : view.why(slot); }

 protected:
  // Collects new jobs in fresh_, in order, and takes cancelled ones out of the queue.
  void look_at(View &view, std::span<const Event> events);
  void enqueue(View &view);  // the fresh ones
  [[gnu::noinline, gnu::cold]] void ask_for_keys(View &view);
  [[gnu::noinline, gnu::cold]] void drop_held(View &view, Slot slot);
  [[gnu::noinline, gnu::cold]] void keep_promises(View &view, std::span<const Event> events);
  bool somebody_may_fit(const View &view) const;
  bool keys_are_due(const View &view);  // of a dynamic order; asked once in a pass

  // Everything may have changed: go through the whole queue.
  virtual void pass(View &view) = 0;
  // Nothing became free and no belief changed since the last pass; these jobs are new, in order, and none of them is
  // first.
  virtual void arrivals(View &view, const std::vector<Waiting> & /*fresh*/) { pass(view); }
  // A job has come or gone: for policies that keep it in a second list.
  virtual void entered(View &, Slot) {}
  virtual void left(View &, Slot) {}
  // Why it waits, by the rules of the discipline. Asked after `review`; the queue is not empty.
  virtual Why reason(View &view, Slot slot) = 0;
  // Adds the reservations to those who wait, in order. The queue is not empty.
  virtual void reservations(View & /*view*/, std::vector<Intention> & /*waiting*/) {}
  virtual bool dynamic() const { return order_.dynamic(); }
  // Have the keys of waiting jobs changed? Of an order whose keys age, not before the first job is old enough.
  bool changing(const View &view) const { return dynamic() || oldest_ < view.now() - order_.ages_after(); }
  // Does a pass find nothing when nothing changed since the last one? Not if it looks only so far.
  virtual bool settles(const View &) const { return true; }
  virtual void refresh(View &view);  // dynamic orders: new keys

  Waiting waiting(const Job &job, Slot slot, double key) const {
    return {key, job.ranked_since(), job.sequence, static_cast<std::int32_t>(job.cores), slot};
  }
  bool start(View &view, const Waiting &who, bool backfilled) {
    return view.start(who.slot, view.job(who.slot).key, backfilled);
  }
  static std::vector<Waiting> sorted(View &view, const Order &order, double Job::*key);

  bool in_step() const { return in_step_; }

  Order order_;
  Periods periods_;
  WaitingList queue_;
  std::vector<Waiting> fresh_;

 private:
  [[gnu::noinline, gnu::cold]] void decide_in_time(View &view, std::span<const Event> events);
  void notice(View &view, std::span<const Event> events);
  [[gnu::noinline]] void sort_fresh();
  void start_in_order(View &view);

  bool in_time_;  // there are periods
  Time half_life_;
  // Where there are periods: what has happened since that takes a pass, and a pass with backfilling;
  bool pass_owed_ = false, backfill_owed_ = false;
  Time woken_at_ = -kNever, keys_of_ = -kNever;  // a time at which it will be asked; in which stretch keys are from
  Time oldest_ = kNever;                         // nobody in the queue is ranked since an earlier time; where keys age
  std::unique_ptr<Promises> promises_;           // null if nobody asks for them
  std::uint64_t seen_changes_ = 0;
  bool in_step_ = true;     // of a policy that somebody builds on: does it know who waits?
  std::int64_t head_ = -1;  // sequence of the first job after the last pass
};

}  // namespace schedlab
