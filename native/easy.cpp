// EASY backfilling (Lifka 1995): the first job that does not fit gets a reservation, later jobs may pass it if they do
// not delay it: they end before its shadow time, or use only what it leaves over then (not in easy-strict).
#include "policies.hpp"
#include "queue_policy.hpp"
#include "shadow_nodes.hpp"

namespace schedlab {

namespace {

// The head's reservation, and what may be taken from beside it.
class Guard {
 public:
  Time shadow() const { return shadow_; }
  void tell(const View &view, Intention &head) const {
    head.start = shadow_;
    if (counted_)
      head.spare = extra_;
    else if (shadow_ < kNever)
      place_head(view, view.job(head_), head.shares);
  }

  void reserve(const View &view, Slot head) {
    head_ = head;
    const Job &job = view.job(head);
    counted_ = job.request->countable;
    shadow_ = kNever;
    if (counted_)
      reserve_by_count(view, job);
    else
      reserve_by_nodes(view, job);
  }

  // Would the head still fit at the shadow time if these cores were still in use then?
  bool spares(Amount cores) const { return cores <= extra_; }
  void use(Amount cores) { extra_ -= cores; }
  bool counted() const { return counted_; }

  // The same with a job on these nodes, as if it were there.
  bool would_admit(const View &view, const Job &job, const Shares &shares) {
    const Amount extra = extra_, capacity = capacity_;
    if (!admits(view, job, shares)) return false;
    if (!counted_ && shadow_ != kNever) at_shadow_.apply(*job.request, shares, +1);
    extra_ = extra, capacity_ = capacity;
    return true;
  }

  // The same, and it is noted as being there.
  bool admits(const View &view, const Job &job, const Shares &shares) {
    if (shadow_ == kNever) return true;
    if (counted_) {
      Amount cores = 0;
      for (const Share &share : shares)
        cores += job.request->exclusive ? view.machine().total(share.node, 0) : share.chunks * job.request->cores;
      if (!spares(cores)) return false;
      use(cores);
      return true;
    }
    const Job &head = view.job(head_);
    const Amount before = capacity_of(view, head, shares);
    at_shadow_.apply(*job.request, shares, -1);
    const Amount capacity = capacity_ - before + capacity_of(view, head, shares);
    if (capacity >= head.count && head_fits(view, head)) {
      capacity_ = capacity;
      return true;
    }
    at_shadow_.apply(*job.request, shares, +1);
    return false;
  }

 private:
  // Looks as far ahead as it takes: twice as far as the last time, then four times as far as before. (Most jobs end
  // long before they are believed to, and who is not looked at need not be put in order.)
  void reserve_by_count(const View &view, const Job &head) {
    constexpr Time kLeast = 60, kFarthest = 1e7;
    const Time now = view.now();
    Time ahead = std::max(2 * (last_shadow_ - now), kLeast);
    while (!reserve_until(view, head, now + ahead)) {
      if (ahead == kNever) return;
      ahead = ahead < kFarthest ? 4 * ahead : kNever;
    }
    last_shadow_ = shadow_;
  }

  bool reserve_until(const View &view, const Job &head, Time until) {
    const EstimatedEnds &ends = view.estimated_ends(until);
    Amount free = view.cluster().usable_cores();
    EstimatedEnds::Position p;
    while (!ends.at_end(p)) {
      if (p.index == 0 && free + ends.summary(p.block).cores < head.count) {
        free += ends.summary(p.block).cores;
        p = ends.skip_block(p);
        continue;
      }
      free += ends[p].cores;
      if (free >= head.count) break;
      p = ends.next(p);
    }
    if (ends.at_end(p) || ends[p].end > until) return false;
    shadow_ = ends[p].end;
    for (p = ends.next(p); !ends.at_end(p) && ends[p].end == shadow_; p = ends.next(p)) free += ends[p].cores;
    extra_ = free - head.count;
    return true;
  }

  void reserve_by_nodes(const View &view, const Job &head) {
    at_shadow_.catch_up(view);
    capacity_ = at_shadow_.capacity(view, *head.request);
    const EstimatedEnds &ends = view.estimated_ends();
    for (EstimatedEnds::Position p; !ends.at_end(p);) {
      const Time end = ends[p].end;
      for (; !ends.at_end(p) && ends[p].end == end; p = ends.next(p)) {
        const Job &job = view.job(ends[p].slot);
        const Amount before = capacity_of(view, head, job.shares);
        at_shadow_.apply(*job.request, job.shares, +1, job.granted.get());
        capacity_ += capacity_of(view, head, job.shares) - before;
        view.worked(4 + static_cast<std::int64_t>(job.shares.size()));
      }
      if (capacity_ >= head.count && head_fits(view, head)) {
        shadow_ = end;
        return;
      }
    }
  }

  // The head's capacity at the shadow time on the nodes of these shares.
  Amount capacity_of(const View &view, const Job &head, const Shares &shares) const {
    Amount sum = 0;
    for (const Share &share : shares) {
      if (head.request->may_use(share.node))
        sum += view.machine().capacity(at_shadow_.state(), share.node, *head.request);
    }
    return sum;
  }

  // Capacity is all there is to it, unless the nodes have to be neighbours or a budget has to be kept.
  bool head_fits(const View &view, const Job &head) const {
    if (view.placement().kind() != Placement::Kind::Contiguous && !view.machine().capped()) return true;
    if (view.machine().capped() && head.cores > view.machine().affordable_cores(at_shadow_.state().spending))
      return false;
    view.worked(view.machine().nodes());
    Shares shares;
    return place_head(view, head, shares) && view.machine().affords(at_shadow_.state(), *head.request, shares);
  }

  bool place_head(const View &view, const Job &head, Shares &shares) const {
    return view.placement().place(view.machine(), at_shadow_.state(), *head.request, head.count, head.sequence, shares);
  }

  Slot head_ = kNoSlot;
  Time shadow_ = kNever;
  bool counted_ = true;
  Amount extra_ = 0;       // counted: cores left over at the shadow time
  Time last_shadow_ = 0;   // of whoever was the head then
  ShadowNodes at_shadow_;  // otherwise: the nodes then,
  Amount capacity_ = 0;    // and how much of the head they can take
};

// In one pass nothing becomes free: a job is not tried if one like it, no larger, did not fit before, or would have
// delayed the head and nobody has started since. Only for placements that give a larger job the same nodes and more.
class Failures {
 public:
  struct Kind {
    std::uint64_t pass = 0, starts = 0;
    Amount too_large = 0, delaying = 0;  // the least counts of which that is known
  };

  void new_pass(const View &view) {
    ++pass_, ++starts_;
    const Placement &placement = view.placement();
    const bool by_pairs = placement.kind() == Placement::Kind::BestPair || placement.threshold() > 0;
    const bool nested = placement.kind() == Placement::Kind::FirstFit || placement.kind() == Placement::Kind::BestFit ||
                        placement.by_company();
    known_ = nested && !placement.chosen() && !view.has_calendar() && !view.machine().capped();
    applications_ = by_pairs && view.pairs() ? view.pairs()->names.size() + 1 : 1;
  }
  void started() { ++starts_; }

  // Null if nothing can be told of others by it.
  Kind *of(const Job &job) {
    if (!known_) return nullptr;
    const auto application = applications_ > 1 ? static_cast<std::size_t>(job.application + 1) : 0;
    const std::size_t number = static_cast<std::size_t>(job.request_number) * applications_ + application;
    if (number >= kinds_.size()) kinds_.resize(number + 1);
    Kind &kind = kinds_[number];
    if (kind.pass != pass_)
      kind = {pass_, starts_, std::numeric_limits<Amount>::max(), std::numeric_limits<Amount>::max()};
    if (kind.starts != starts_) kind.starts = starts_, kind.delaying = std::numeric_limits<Amount>::max();
    return &kind;
  }

 private:
  std::uint64_t pass_ = 0, starts_ = 0;
  bool known_ = false;
  std::size_t applications_ = 1;
  std::vector<Kind> kinds_;  // by request, and by application where that matters
};

class Easy final : public QueuePolicy {
 public:
  Easy(const PolicyChoice &choice)
      : QueuePolicy(choice),
        scan_(choice.scan.value_or(choice.order)),
        own_scan_(!(scan_ == choice.order)),
        strict_(choice.backfill == "easy-strict"),
        depth_(choice.depth) {}

  bool needs_estimated_ends() const override { return true; }

  void review(View &view) override {
    QueuePolicy::review(view);
    if (!in_step()) return;
    if (!queue_.empty()) reviewed_.reserve(view, queue_.front().slot);
  }
  Why reason(View &view, Slot slot) override {
    if (const auto obstacle = view.obstacle(slot)) return {*obstacle};
    const Slot head = queue_.front().slot;
    if (slot != head && would_delay(view, view.job(slot))) return {WaitReason::WouldDelay, head};
    return view.otherwise(slot, WaitReason::Limit);
  }

 protected:
  void reservations(View &view, std::vector<Intention> &waiting) override {
    reviewed_.reserve(view, waiting.front().slot);
    reviewed_.tell(view, waiting.front());
  }
  bool dynamic() const override {
    return order_.dynamic() || scan_.dynamic() || (own_scan_ && scan_.ages_after() < kNever);
  }
  // A head that waits for the calendar, or for others to leave its nodes, and not for room has another shadow time
  // whenever a job has started.
  bool settles(const View &view) const override {
    return depth_ < 0 && !placed_anew_ && !view.has_calendar() && view.placement().threshold() <= 0;
  }

  void pass(View &view) override {
    in_the_way_ = placed_anew_ = false;
    while (!queue_.empty() && start(view, queue_.front(), false)) {
      const Waiting who = queue_.front();
      queue_.erase(WaitingList::Position{});
      if (own_scan_) scan_list_.erase(scan_entry(view, who.slot));
    }
    if (queue_.size() < 2 || view.cluster().usable_cores() < least_cores()) {
      reserved_ = false;  // nobody could use the head's reservation now: made when somebody can
      return;
    }
    guard_.reserve(view, queue_.front().slot);
    reserved_ = true;
    backfill(view);
  }

  void arrivals(View &view, const std::vector<Waiting> &fresh) override {
    const bool hopeless = std::all_of(fresh.begin(), fresh.end(),
                                      [&](const Waiting &w) { return w.cores > view.cluster().usable_cores(); });
    if (hopeless) return;
    if (!reserved_) guard_.reserve(view, queue_.front().slot), reserved_ = true;
    failures_.new_pass(view);
    if (own_scan_) {
      candidates_.clear();
      for (const Waiting &w : fresh) candidates_.push_back(scan_entry(view, w.slot));
      std::sort(candidates_.begin(), candidates_.end(), [](const Waiting &a, const Waiting &b) { return a.before(b); });
    }
    for (const Waiting &who : own_scan_ ? candidates_ : fresh)
      if (try_backfill(view, who.slot)) drop(view, who.slot);
  }

  void entered(View &view, Slot slot) override {
    if (!own_scan_) return;
    view.annotate(slot).scan_key = scan_.key(view, slot);
    scan_list_.insert(scan_entry(view, slot));
  }
  void left(View &view, Slot slot) override {
    if (own_scan_) scan_list_.erase(scan_entry(view, slot));
  }
  void refresh(View &view) override {
    QueuePolicy::refresh(view);
    if (own_scan_) scan_list_.assign(sorted(view, scan_, &Job::scan_key));
  }

 private:
  Waiting scan_entry(const View &view, Slot slot) const {
    return waiting(view.job(slot), slot, view.job(slot).scan_key);
  }

  Amount least_cores() const {
    std::int32_t least = std::numeric_limits<std::int32_t>::max();
    for (std::size_t b = 0; b < queue_.block_count(); ++b) least = std::min(least, queue_.summary(b).cores);
    return least;
  }

  void drop(View &view, Slot slot) {
    queue_.erase(waiting(view.job(slot), slot, view.job(slot).key));
    if (own_scan_) scan_list_.erase(scan_entry(view, slot));
  }

  // Goes through everybody but the head, stepping over blocks of jobs that are all too large.
  void backfill(View &view) {
    WaitingList &list = own_scan_ ? scan_list_ : queue_;
    failures_.new_pass(view);
    view.worked(static_cast<std::int64_t>(list.size()));
    const Slot head = queue_.front().slot;
    std::int64_t left = depth_ < 0 ? std::numeric_limits<std::int64_t>::max() : depth_;
    WaitingList::Position p;
    for (;;) {
      const Amount free = view.cluster().usable_cores();
      bool more = left > 0;
      p = list.search(
          p, [&](const LeastCores &least) { return depth_ >= 0 || least.cores <= free; },
          [&](const Waiting &who) {
            if (who.slot == head) return false;
            if (left == 0) return !(more = false);
            --left;
            return who.cores <= free && !held_back(view, view.job(who.slot));
          });
      if (list.at_end(p) || !more) return;
      const Slot slot = list[p].slot;
      if (try_backfill(view, slot)) {
        if (own_scan_) queue_.erase(waiting(view.job(slot), slot, view.job(slot).key));
        p = list.erase(p);
      } else {
        p = list.next(p);
      }
    }
  }

  // A matter of counting, where it is one: whether the head would have to wait for it.
  bool held_back(const View &view, const Job &job) const {
    if (view.now() + job.estimate <= guard_.shadow()) return false;
    return strict_ || (guard_.counted() && job.request->counted() && !guard_.spares(job.cores));
  }

  // Of a job that fits: would the head have to wait for it?
  bool would_delay(const View &view, const Job &job) {
    if (view.now() + job.estimate <= reviewed_.shadow()) return false;
    if (strict_) return true;
    if (reviewed_.counted() && job.request->counted()) return !reviewed_.spares(job.cores);
    Shares shares;
    view.worked(view.machine().nodes());
    view.placement().place(view.machine(), view.cluster().state(), *job.request, job.count, job.sequence, shares);
    return !reviewed_.would_admit(view, job, shares);
  }

  bool try_backfill(View &view, Slot slot) {
    const Job &job = view.job(slot);
    if (held_back(view, job)) return false;
    const bool in_time = view.now() + job.estimate <= guard_.shadow();
    if (guard_.counted() && job.request->counted()) {  // no need to choose nodes before we know
      if (!view.start(slot, job.key, true)) return false;
      if (!in_time) guard_.use(job.cores);
      return true;
    }
    Failures::Kind *const kind = failures_.of(job);
    if (kind && (job.count >= kind->too_large || (!in_time && job.count >= kind->delaying))) return false;
    Shares shares;
    view.worked(view.machine().nodes());
    if (!view.place(slot, shares)) {
      if (kind) kind->too_large = job.count;
      return false;
    }
    if (!in_time && !guard_.admits(view, job, shares)) {
      if (kind) kind->delaying = job.count;
      in_the_way_ = true;
      return false;
    }
    if (view.start_on(slot, shares, job.key, true)) {
      failures_.started();
      placed_anew_ = placed_anew_ || in_the_way_;
      return true;
    }
    // An observer does not allow it: nobody is there after all.
    if (!in_time) guard_.reserve(view, queue_.front().slot);
    return false;
  }

  Order scan_;
  bool own_scan_;
  WaitingList scan_list_;  // the queue in scan order, where that is another order
  std::vector<Waiting> candidates_;
  bool strict_;
  std::int64_t depth_;
  Guard guard_;
  Failures failures_;
  bool reserved_ = false;
  bool in_the_way_ = false;   // somebody fits, but on nodes that the head needs;
  bool placed_anew_ = false;  // and another has started since, so that he would be placed elsewhere now
  Guard reviewed_;            // the same after a pass, for those who ask why a job waits
};

}  // namespace

std::unique_ptr<Decider> make_easy(const PolicyChoice &choice) { return std::make_unique<Easy>(choice); }

}  // namespace schedlab
