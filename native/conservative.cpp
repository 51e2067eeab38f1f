// Conservative backfilling (Mu'alem and Feitelson 2001): every waiting job holds a reservation; early ends compress
// them.
#include <tuple>

#include "blame.hpp"
#include "compression.hpp"
#include "plan.hpp"
#include "policies.hpp"
#include "queue_policy.hpp"

namespace schedlab {

namespace {

class Conservative final : public QueuePolicy {
 public:
  using QueuePolicy::QueuePolicy;

  bool needs_estimated_ends() const override { return true; }

  std::vector<double> memory() const override {
    const auto view = view_.lock();
    if (view && !view->over()) settle(*view);
    const bool wrong = plan_is_wrong_ || (view && !view->over() && view->interventions() != seen_interventions_);
    std::vector<double> values{by_nodes_ ? 1.0 : 0.0, wrong ? 1.0 : 0.0, woken_at_};
    const std::vector<double> promises = QueuePolicy::memory();
    values.insert(values.end(), promises.begin(), promises.end());
    return values;
  }
  void recall(View &view, std::span<const double> memory) override {
    QueuePolicy::recall(view, memory.empty() ? memory : memory.subspan(3));
    if (!memory.empty()) by_nodes_ = memory[0] != 0, plan_is_wrong_ = memory[1] != 0, woken_at_ = memory[2];
    view_ = view.weak_from_this(), seen_interventions_ = view.interventions();
    plan_ = by_nodes_ ? Plan::by_nodes(view) : Plan::by_count(view);
    for (Slot slot = view.first_waiting(); slot != kNoSlot; slot = view.job(slot).next)
      hold(view.job(slot), slot), view.annotate(slot).reserved_mark = 0;
  }

  void decide(View &view, std::span<const Event> events) override {
    if (!plan_) plan_ = Plan::by_count(view);
    plan_->advance(view.now());
    view_ = view.weak_from_this();
    const bool intervened = std::exchange(seen_interventions_, view.interventions()) != view.interventions();
    bool anew = std::exchange(plan_is_wrong_, false) || intervened;
    Time freed_until = -kNever;
    for (const Event &event : events) {
      if (event.kind == Event::Kind::Requeued || event.kind == Event::Kind::Closed || event.kind == Event::Kind::Opened)
        anew = true;
      if (event.slot == kNoSlot) continue;
      const Job &job = view.job(event.slot);
      if (event.kind == Event::Kind::Corrected) anew = true;
      if (event.kind == Event::Kind::Completed && job.estimated_end > view.now()) {
        plan_->vacate(job, job.shares, view.now(), job.estimated_end);
        plan_->freed(job.shares, view.now(), job.estimated_end);
        freed_until = std::max(freed_until, job.estimated_end);
      }
      if (event.kind == Event::Kind::Cancelled || event.kind == Event::Kind::Held) {
        if (reserved(job)) {
          settle(view);
          freed_until = std::max(freed_until, job.reserved_start + job.estimate);
          plan_->freed(job.reserved_shares, job.reserved_start, job.reserved_start + job.estimate);
          withdraw(view, event.slot);
        } else {
          drop_unplanned(job, event.slot);
        }
      }
    }
    look_at(view, events);
    enqueue(view);
    if (keys_are_due(view) && changing(view)) refresh(view);
    if (!by_nodes_ && view.plans_by_nodes()) {
      plan_ = Plan::by_nodes(view);
      by_nodes_ = anew = true;
    }
    if (anew)
      plan_anew(view);
    else if (freed_until > view.now())
      compress(view);
    for (const Waiting &who : in_order(view, fresh_)) reserve(view, who.slot);
    start_due(view);
    ask_to_be_woken(view);
  }

  void review(View &view) override {
    QueuePolicy::review(view);
    if (!in_step()) return;
    std::vector<Reservation> others;
    for (Position p; !reserved_.at_end(p); p = reserved_.next(p))
      others.push_back({reserved_[p].slot, reserved_.time(p), view.job(reserved_[p].slot).reserved_shares});
    blame_.look(view, by_nodes_, others);
  }
  Why reason(View &view, Slot slot) override {
    if (const auto obstacle = view.obstacle(slot)) return {*obstacle};
    if (const Slot delayed = blame_.of(slot); delayed != kNoSlot) return {WaitReason::WouldDelay, delayed};
    return view.otherwise(slot, WaitReason::Limit);
  }

 protected:
  void pass(View &) override {}
  void reservations(View &view, std::vector<Intention> &waiting) override {
    settle(view);
    for (Intention &each : waiting) {
      const Job &job = view.job(each.slot);
      each.start = job.reserved_start;
      if (by_nodes_) each.shares = job.reserved_shares;
    }
  }

 private:
  using Position = ReservedList::Position;

  static bool reserved(const Job &job) { return job.reserved_start < kNever; }

  // The keys of a dynamic order may have changed since these were written down.
  static std::vector<Waiting> in_order(const View &view, std::vector<Waiting> list) {
    for (Waiting &w : list) w.key = view.job(w.slot).key;
    std::sort(list.begin(), list.end(), [](const Waiting &a, const Waiting &b) { return a.before(b); });
    return list;
  }

  void reserve(View &view, Slot slot) { reserve(view, slot, {view.now(), view.now(), view.now()}); }
  void reserve(View &view, Slot slot, const Plan::Chance &chance) {
    Job &job = view.annotate(slot);
    job.reserved_start = plan_->earliest(job, chance, job.reserved_shares);
    job.reserved_mark = plan_->mark();
    hold(job, slot);
  }

  void hold(const Job &job, Slot slot) {
    plan_->occupy(job, job.reserved_shares, job.reserved_start, job.reserved_start + job.estimate);
    const auto cores = static_cast<std::int32_t>(plan_->needed(job));
    reserved_.insert(job.reserved_start, {job.reserved_start, job.sequence, job.estimate, cores, slot});
  }

  void withdraw(View &view, Slot slot) {
    Job &job = view.annotate(slot);
    plan_->vacate(job, job.reserved_shares, job.reserved_start, job.reserved_start + job.estimate);
    reserved_.erase(reserved_.first_not_before(job.reserved_start, job.sequence));
    job.reserved_start = kNever;
  }

  // It may be new here, or have been refused its start: then it is not in the list.
  void drop_unplanned(const Job &job, Slot slot) {
    const Position p = reserved_.first_not_before(job.reserved_start, job.sequence);
    if (!reserved_.at_end(p) && reserved_[p].slot == slot) reserved_.erase(p);
  }

  void put_back(View &view, Slot slot, Time start, Shares place) {
    withdraw(view, slot);
    Job &job = view.annotate(slot);
    job.reserved_start = start;
    job.reserved_shares = std::move(place);
    hold(job, slot);
  }

  // Jobs are not told when all of them come forward at once.
  void settle(View &view) const {
    if (!std::exchange(unsettled_, false)) return;
    for (Position p; !reserved_.at_end(p); p = reserved_.next(p))
      view.annotate(reserved_[p].slot).reserved_start = reserved_.time(p);
  }

  // What there is of one place that is not of the other.
  static Shares without(Shares place, Shares other) {
    const auto before = [](const Share &a, const Share &b) {
      return std::tie(a.node, a.chunks) < std::tie(b.node, b.chunks);
    };
    std::sort(place.begin(), place.end(), before);
    std::sort(other.begin(), other.end(), before);
    Shares rest;
    std::set_difference(place.begin(), place.end(), other.begin(), other.end(), std::back_inserter(rest), before);
    return rest;
  }

  void plan_anew(View &view) {
    plan_->reset();
    reserved_.clear(), unsettled_ = false;
    for (const Waiting &who : fresh_) view.annotate(who.slot).reserved_start = -kNever;  // their turn comes later
    for (WaitingList::Position p; !queue_.at_end(p); p = queue_.next(p))
      if (view.job(queue_[p].slot).reserved_start > -kNever) reserve(view, queue_[p].slot);
  }

  // Each job, in the order of reserved starts, to the earliest start that is possible beside all others.
  void compress(View &view) {
    if (Counted *const counted = plan_->counted()) {
      if (Compression(view, *counted, reserved_).run()) unsettled_ = true;
      return;
    }
    for (Position p; !reserved_.at_end(p);) {
      const Time start = reserved_.time(p);
      const Reserved who = reserved_[p];
      Job &job = view.annotate(who.slot);
      p = reserved_.next(p);
      const std::optional<Plan::Chance> chance = plan_->chance(job);
      if (!chance) {
        job.reserved_mark = plan_->mark();
        continue;
      }
      Shares place = job.reserved_shares;
      withdraw(view, who.slot);
      reserve(view, who.slot, *chance);
      // Its last node may have less left than the minimum that a new allocation would need there: then it keeps its
      // place.
      if (job.reserved_start > start) put_back(view, who.slot, start, place);
      if (job.reserved_start == start) place = without(std::move(place), job.reserved_shares);
      plan_->freed(place, start, start + job.estimate);
      job.reserved_mark = plan_->mark();  // it has been looked at without itself
      p = reserved_.first_not_before(start, who.sequence + 1);
    }
  }

  // Those whose time has come; and again, if others could move up to the places of some that were refused.
  void start_due(View &view) {
    for (Time freed_until; (freed_until = try_those_due(view)) > view.now();) compress(view);
  }

  // Until when something became free by those that could not start.
  Time try_those_due(View &view) {
    std::vector<Waiting> now_due;
    while (!reserved_.empty() && reserved_.time({}) <= view.now()) {
      const Slot slot = reserved_[{}].slot;
      Job &job = view.annotate(slot);
      job.reserved_start = reserved_.time({});
      now_due.push_back(waiting(job, slot, job.key));
      reserved_.erase({});
    }
    std::sort(now_due.begin(), now_due.end(), [](const Waiting &a, const Waiting &b) { return a.before(b); });
    Time freed_until = -kNever;
    for (const Waiting &who : now_due) {
      const bool backfilled = queue_.front().sequence != who.sequence;
      Job &job = view.annotate(who.slot);
      if (start(view, who.slot, backfilled)) {
        queue_.erase(who);
        continue;
      }
      // A gate, a placement or a draining node that the plan knows nothing of: others may have its place.
      plan_is_wrong_ = true;
      plan_->vacate(job, job.reserved_shares, job.reserved_start, job.reserved_start + job.estimate);
      plan_->freed(job.reserved_shares, job.reserved_start, job.reserved_start + job.estimate);
      freed_until = std::max(freed_until, job.reserved_start + job.estimate);
      job.reserved_start = kNever;
    }
    return freed_until;
  }

  bool start(View &view, Slot slot, bool backfilled) {
    Job &job = view.annotate(slot);
    if (!by_nodes_) return view.start(slot, job.key, backfilled);
    if (!view.placement().by_the_moment())
      return view.has_room(job, job.reserved_shares) && view.start_on(slot, job.reserved_shares, job.key, backfilled);
    // It may be put elsewhere: then it has that in the plan.
    const Time until = job.reserved_start + job.estimate;
    plan_->vacate(job, job.reserved_shares, job.reserved_start, until);
    Shares shares = job.reserved_shares;
    const bool started = view.place_beside(*plan_, slot, shares) && view.start_on(slot, shares, job.key, backfilled);
    if (started) {
      plan_->freed(job.reserved_shares, job.reserved_start, until);
      job.reserved_shares = std::move(shares);
    }
    plan_->occupy(job, job.reserved_shares, job.reserved_start, until);
    return started;
  }

  void ask_to_be_woken(View &view) {
    if (reserved_.empty()) return;
    const Time next = reserved_.time({});
    if (next == kNever) return;
    if (woken_at_ > view.now() && woken_at_ <= next) return;
    woken_at_ = next;
    view.wake_at(next);
  }

  std::unique_ptr<Plan> plan_;
  bool by_nodes_ = false;
  ReservedList reserved_;
  mutable bool unsettled_ = false;  // jobs may have been told another start than they have there
  Time woken_at_ = -kNever;
  bool plan_is_wrong_ = false;
  std::weak_ptr<View> view_;  // of the run in which it decides
  std::uint64_t seen_interventions_ = 0;
  Blame blame_;
};

}  // namespace

std::unique_ptr<Decider> make_conservative(const PolicyChoice &choice) {
  return std::make_unique<Conservative>(choice);
}

}  // namespace schedlab
