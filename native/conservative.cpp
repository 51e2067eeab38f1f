// Conservative backfilling (Mu'alem and Feitelson 2001): every waiting job holds a reservation; early ends compress
// them.
#include <set>
#include <tuple>

#include "plan.hpp"
#include "policies.hpp"
#include "queue_policy.hpp"

namespace schedlab {

namespace {

class Conservative final : public QueuePolicy {
 public:
  using QueuePolicy::QueuePolicy;

  bool needs_estimated_ends() const override { return true; }

  void decide(View& view, std::span<const Event> events) override {
    if (!plan_) plan_ = Plan::by_count(view);
    plan_->advance(view.now());
    bool anew = false;
    Time freed_until = -kNever;
    for (const Event& event : events) {
      if (event.kind == Event::Kind::Woken) continue;
      const Job& job = view.job(event.slot);
      if (event.kind == Event::Kind::Corrected) anew = true;
      if (event.kind == Event::Kind::Completed && job.estimated_end > view.now()) {
        plan_->vacate(job, job.shares, view.now(), job.estimated_end);
        freed_until = std::max(freed_until, job.estimated_end);
      }
      if (event.kind == Event::Kind::Cancelled && reserved(job)) {
        freed_until = std::max(freed_until, job.reserved_start + job.estimate);
        withdraw(view, event.slot);
      }
    }
    take_in(view, events);
    if (order_.dynamic()) refresh(view);
    if (!by_nodes_ && std::any_of(fresh_.begin(), fresh_.end(),
                                  [&](const Waiting& w) { return !Plan::countable(view, view.job(w.slot)); })) {
      plan_ = Plan::by_nodes(view);
      by_nodes_ = anew = true;
    }
    if (anew)
      plan_anew(view);
    else {
      if (freed_until > view.now()) compress(view, freed_until);
      for (const Waiting& who : in_order(view, fresh_)) reserve(view, who.slot);
    }
    start_due(view);
    ask_to_be_woken(view);
  }

 protected:
  void pass(View&) override {}
  void entered(View& view, Slot slot) override { view.annotate(slot).reserved_start = kNever; }

 private:
  using Due = std::tuple<Time, std::int64_t, Slot>;  // reserved start, sequence, slot

  static bool reserved(const Job& job) { return job.reserved_start < kNever; }

  // The keys of a dynamic order may have changed since these were written down.
  static std::vector<Waiting> in_order(const View& view, std::vector<Waiting> list) {
    for (Waiting& w : list) w.key = view.job(w.slot).key;
    std::sort(list.begin(), list.end(), [](const Waiting& a, const Waiting& b) { return a.before(b); });
    return list;
  }

  void reserve(View& view, Slot slot) {
    Job& job = view.annotate(slot);
    job.reserved_start = plan_->earliest(job, job.reserved_shares);
    if (!reserved(job)) return;
    plan_->occupy(job, job.reserved_shares, job.reserved_start, job.reserved_start + job.estimate);
    due_.emplace(job.reserved_start, job.sequence, slot);
  }

  void withdraw(View& view, Slot slot) {
    Job& job = view.annotate(slot);
    plan_->vacate(job, job.reserved_shares, job.reserved_start, job.reserved_start + job.estimate);
    due_.erase({job.reserved_start, job.sequence, slot});
    job.reserved_start = kNever;
  }

  void plan_anew(View& view) {
    plan_->reset();
    due_.clear();
    left_over_until_ = -kNever;
    for (WaitingList::Position p; !queue_.at_end(p); p = queue_.next(p)) reserve(view, queue_[p].slot);
  }

  // Each job, in order, to the earliest start that is possible beside all others. Before the event nobody could have
  // moved (but for the room that jobs moved by the last compression have left behind), so only starts before the end of
  // what has become free need a look.
  void compress(View& view, Time freed_until) {
    freed_until = std::max(freed_until, left_over_until_);
    left_over_until_ = -kNever;
    for (WaitingList::Position p; !queue_.at_end(p); p = queue_.next(p)) {
      const Slot slot = queue_[p].slot;
      const Job& job = view.job(slot);
      if (!reserved(job) || !plan_->may_move(job, freed_until)) continue;
      const Time before = job.reserved_start;
      withdraw(view, slot);
      reserve(view, slot);
      if (job.reserved_start < before) {
        freed_until = std::max(freed_until, before + job.estimate);
        left_over_until_ = std::max(left_over_until_, before + job.estimate);
      }
    }
  }

  void start_due(View& view) {
    std::vector<Waiting> now_due;
    while (!due_.empty() && std::get<Time>(*due_.begin()) <= view.now()) {
      const Slot slot = std::get<Slot>(*due_.begin());
      now_due.push_back(waiting(view.job(slot), slot, view.job(slot).key));
      due_.erase(due_.begin());
    }
    std::sort(now_due.begin(), now_due.end(), [](const Waiting& a, const Waiting& b) { return a.before(b); });
    for (const Waiting& who : now_due) {
      const bool backfilled = queue_.front().sequence != who.sequence;
      const Job& job = view.job(who.slot);
      if (by_nodes_)
        view.start_on(who.slot, job.reserved_shares, job.key, backfilled);
      else if (!view.start(who.slot, job.key, backfilled))
        throw InvariantError("a reservation could not be kept");
      queue_.erase(who);
    }
  }

  void ask_to_be_woken(View& view) {
    if (due_.empty()) return;
    const Time next = std::get<Time>(*due_.begin());
    if (woken_at_ > view.now() && woken_at_ <= next) return;
    woken_at_ = next;
    view.wake_at(next);
  }

  std::unique_ptr<Plan> plan_;
  bool by_nodes_ = false;
  std::set<Due> due_;
  Time woken_at_ = -kNever;
  Time left_over_until_ = -kNever;
};

}  // namespace

std::unique_ptr<Decider> make_conservative(const PolicyChoice& choice) {
  return std::make_unique<Conservative>(choice.order);
}

}  // namespace schedlab
