// EASY with K reservations: between EASY (one) and conservative (all), planned from scratch at every pass.
#include "blame.hpp"
#include "policies.hpp"
#include "queue_policy.hpp"

namespace schedlab {

namespace {

class PlannedEasy final : public QueuePolicy {
 public:
  explicit PlannedEasy(const PolicyChoice &choice)
      : QueuePolicy(choice), scan_(choice.scan), depth_(choice.depth), reservations_(choice.reservations) {}

  bool needs_estimated_ends() const override { return true; }

  void review(View &view) override {
    QueuePolicy::review(view);
    if (!in_step()) return;
    std::vector<Reservation> first;
    for (WaitingList::Position p; !queue_.at_end(p) && first.size() < most(); p = queue_.next(p))
      first.push_back({queue_[p].slot});
    blame_.look(view, view.plans_by_nodes(), first);
  }
  Why reason(View &view, Slot slot) override {
    if (const auto obstacle = view.obstacle(slot)) return {*obstacle};
    if (const Slot delayed = blame_.of(slot); delayed != kNoSlot) return {WaitReason::WouldDelay, delayed};
    return view.otherwise(slot, WaitReason::Limit);
  }

 protected:
  void reservations(View &view, std::vector<Intention> &waiting) override {
    const std::unique_ptr<Plan> plan = Plan::of(view);
    for (std::size_t i = 0; i < std::min(most(), waiting.size()); ++i) {
      Intention &each = waiting[i];
      const Job &job = view.job(each.slot);
      each.start = plan->earliest(job, each.shares);
      if (each.start < kNever) plan->occupy(job, each.shares, each.start, each.start + job.estimate);
    }
  }
  bool settles(const View &) const override { return false; }  // the plan is made anew each time

  void pass(View &view) override {
    if (!somebody_may_fit(view)) return;
    if (!plan_ || by_nodes_ != view.plans_by_nodes())
      plan_ = Plan::of(view), by_nodes_ = view.plans_by_nodes();
    else
      plan_->reset();
    std::int64_t left = depth_ < 0 ? std::numeric_limits<std::int64_t>::max() : depth_;
    int made = 0;
    WaitingList::Position p;
    while (!queue_.at_end(p) && made < reservations_ && left >= (made > 0)) {
      left -= made > 0;
      const Waiting who = queue_[p];
      if (try_now(view, *plan_, who.slot, made > 0)) {
        p = queue_.erase(p);
        continue;
      }
      Shares shares;
      const Job &job = view.job(who.slot);
      if (const Time start = plan_->earliest(job, shares); start < kNever)
        plan_->occupy(job, shares, start, start + job.estimate);
      ++made;
      p = queue_.next(p);
    }
    if (scan_) {
      backfill_in_scan_order(view, p, left);
      return;
    }
    while (!queue_.at_end(p) && left-- > 0)
      p = try_now(view, *plan_, queue_[p].slot, true) ? queue_.erase(p) : queue_.next(p);
  }

 private:
  // How many of those who wait are protected.
  std::size_t most() const {
    return static_cast<std::size_t>(depth_ < 0 ? reservations_ : std::min<std::int64_t>(reservations_, depth_ + 1));
  }

  void backfill_in_scan_order(View &view, WaitingList::Position p, std::int64_t left) {
    std::vector<Waiting> rest;
    for (; !queue_.at_end(p); p = queue_.next(p)) {
      const Slot slot = queue_[p].slot;
      rest.push_back(waiting(view.job(slot), slot, scan_->key(view, slot)));
    }
    std::sort(rest.begin(), rest.end(), [](const Waiting &a, const Waiting &b) { return a.before(b); });
    for (const Waiting &who : rest) {
      if (left-- <= 0) break;
      if (!try_now(view, *plan_, who.slot, true)) continue;
      const Job &job = view.job(who.slot);
      queue_.erase(waiting(job, who.slot, job.key));
    }
  }

  bool try_now(View &view, Plan &plan, Slot slot, bool backfilled) {
    const Job &job = view.job(slot);
    Shares shares;
    if (job.cores > view.cluster().usable_cores() || !plan.possible_now(job, shares)) return false;
    const bool started = by_nodes_
                             ? view.place_beside(plan, slot, shares) && view.start_on(slot, shares, job.key, backfilled)
                             : view.start(slot, job.key, backfilled);
    if (started) plan.occupy(job, shares, view.now(), view.now() + job.estimate);
    return started;
  }

  std::optional<Order> scan_;
  std::int64_t depth_;
  int reservations_;
  std::unique_ptr<Plan> plan_;  // made anew in each pass; kept for its memory
  bool by_nodes_ = false;       // the plan
  Blame blame_;
};

}  // namespace

std::unique_ptr<Decider> make_planned_easy(const PolicyChoice &choice) { return std::make_unique<PlannedEasy>(choice); }

}  // namespace schedlab
