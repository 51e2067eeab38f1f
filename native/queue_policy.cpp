#include "queue_policy.hpp"

#include <utility>

namespace schedlab {

[[gnu::flatten]] void QueuePolicy::decide(View &view, std::span<const Event> events) {
  notice(view, events);
  if (in_time_) [[unlikely]] {
    decide_in_time(view, events);
    return;
  }
  // Most jobs come to an empty queue and fit: they never enter it. (Not if that would change the keys of the others.)
  std::size_t started = 0;
  if (queue_.empty() && !order_.by_load())
    while (started < fresh_.size() && start(view, fresh_[started], false)) ++started;
  if (started == fresh_.size()) {
    fresh_.clear();
  } else {
    fresh_.erase(fresh_.begin(), fresh_.begin() + static_cast<std::ptrdiff_t>(started));
    enqueue(view);
  }
  if (!queue_.empty()) {
    const bool anew = changing(view);
    if (!anew && settles(view) && seen_changes_ == view.changes() && head_ == queue_.front().sequence) {
      if (!fresh_.empty()) arrivals(view, fresh_);
    } else if (!anew) {
      pass(view);
    } else if (somebody_may_fit(view)) {  // else the order does not matter
      refresh(view);
      pass(view);
    }
  }
  seen_changes_ = view.changes();
  head_ = queue_.empty() ? -1 : queue_.front().sequence;
}

// A pass only at its time, if something has happened since the last one; asks to be woken then.
void QueuePolicy::decide_in_time(View &view, std::span<const Event> events) {
  enqueue(view);
  const auto news = [](const Event &event) { return event.kind != Event::Kind::Woken; };
  if (std::any_of(events.begin(), events.end(), news)) pass_owed_ = backfill_owed_ = true;
  const Time now = view.now();
  const bool backfills = backfill_owed_ && periods_.backfills_at(now);
  if (backfills || (pass_owed_ && periods_.passes_at(now))) {
    if (keys_are_due(view) && changing(view)) refresh(view);
    if (backfills && somebody_may_fit(view))
      pass(view);
    else if (!backfills)
      start_in_order(view);
    pass_owed_ = false, backfill_owed_ = backfill_owed_ && !backfills;
  }
  if (queue_.empty()) pass_owed_ = backfill_owed_ = false;
  Time next = pass_owed_ ? periods_.next_pass(now) : kNever;
  if (backfill_owed_) next = std::min(next, periods_.next_backfill(now));
  if (next == kNever || (woken_at_ > now && woken_at_ <= next)) return;
  woken_at_ = next;
  view.wake_at(next);
}

void QueuePolicy::start_in_order(View &view) {
  while (!queue_.empty() && start(view, queue_.front(), false)) {
    const Slot slot = queue_.front().slot;
    queue_.erase(WaitingList::Position{});
    left(view, slot);
  }
}

bool QueuePolicy::keys_are_due(const View &view) {
  if (!(periods_.keys > 0)) return true;
  const double stretch = periods_.stretch_of_keys(view.now());
  return std::exchange(keys_of_, stretch) != stretch;
}

bool QueuePolicy::somebody_may_fit(const View &view) const {
  for (std::size_t b = 0; b < queue_.block_count(); ++b)
    if (queue_.summary(b).cores <= view.cluster().usable_cores()) return true;
  return false;
}

// A pass that nobody could gain by has left the order as it was.
void QueuePolicy::review(View &view) {
  in_step_ = queue_.size() == view.waiting();
  if (in_step_ && !(periods_.keys > 0) && changing(view)) refresh(view);
}

std::vector<Intention> QueuePolicy::intentions(View &view) {
  std::vector<Intention> found;
  QueuePolicy::review(view);  // theirs is for reasons, which not every run gives
  if (!in_step_) return found;
  for (WaitingList::Position p; !queue_.at_end(p); p = queue_.next(p)) found.push_back({queue_[p].slot});
  if (!found.empty()) reservations(view, found);
  return found;
}

std::vector<double> QueuePolicy::memory() const {
  std::vector<double> values = promises_ ? promises_->memory() : std::vector<double>();
  if (periods_.any())
    values.insert(values.begin(), {pass_owed_ ? 1.0 : 0.0, backfill_owed_ ? 1.0 : 0.0, woken_at_, keys_of_});
  return values;
}

// The marks on the jobs say where they were; the next pass looks at everything.
void QueuePolicy::recall(View &view, std::span<const double> memory) {
  if (periods_.any() && memory.size() >= 4) {
    pass_owed_ = memory[0] != 0, backfill_owed_ = memory[1] != 0, woken_at_ = memory[2], keys_of_ = memory[3];
    memory = memory.subspan(4);
  }
  if (order_.by_promises()) promises_ = std::make_unique<Promises>(view.machine()), promises_->recall(memory);
  for (Slot slot = view.first_waiting(); slot != kNoSlot; slot = view.job(slot).next) {
    if (promises_) view.annotate(slot).more().promised = promises_->of(view.job(slot));
    queue_.insert(waiting(view.job(slot), slot, view.job(slot).key));
    entered(view, slot);
  }
  oldest_ = -kNever;
  seen_changes_ = ~std::uint64_t{0};
}

void QueuePolicy::look_at(View &view, std::span<const Event> events) { notice(view, events); }

void QueuePolicy::notice(View &view, std::span<const Event> events) {
  fresh_.clear();
  if (order_.by_promises()) [[unlikely]]
    keep_promises(view, events);
  for (const Event &event : events) {
    if (event.kind == Event::Kind::Submitted || event.kind == Event::Kind::Requeued) {
      Job &job = view.annotate(event.slot);
      if (job.state != State::Waiting) continue;  // cancelled or held in this very instant
      if (!std::isnan(job.key)) continue;         // told twice: it was held and released
      job.key = order_.by_formula() ? order_.key(view, event.slot) : 0;
      fresh_.push_back(waiting(job, event.slot, job.key));
    } else if (event.kind == Event::Kind::Cancelled) {
      const Job &job = view.job(event.slot);
      if (std::isnan(job.key)) continue;  // it has never been here
      queue_.erase(waiting(job, event.slot, job.key));
      left(view, event.slot);
    } else if (event.kind == Event::Kind::Held) [[unlikely]] {
      drop_held(view, event.slot);
    }
  }
  // A dynamic order is asked about the whole queue anyway, if there is one; but not in every pass if keys have periods.
  if (!order_.by_formula() && (!dynamic() || queue_.empty() || periods_.keys > 0)) ask_for_keys(view);
  if (fresh_.size() > 1) sort_fresh();
}

void QueuePolicy::sort_fresh() {
  std::sort(fresh_.begin(), fresh_.end(), [](const Waiting &a, const Waiting &b) { return a.before(b); });
}

void QueuePolicy::keep_promises(View &view, std::span<const Event> events) {
  if (!promises_) promises_ = std::make_unique<Promises>(view.machine());
  for (const Event &event : events) {
    if (event.slot == kNoSlot) continue;
    Job &job = view.annotate(event.slot);
    if (event.kind == Event::Kind::Completed || event.kind == Event::Kind::Cancelled)
      promises_->take_back(job, view.now());
    else if (event.kind == Event::Kind::Submitted || event.kind == Event::Kind::Requeued)
      job.more().promised = promises_->give(job, view.now());
  }
}

// It may have been released since, or have left: its place here is that of the time when it was held.
void QueuePolicy::drop_held(View &view, Slot slot) {
  Job &job = view.annotate(slot);
  const Time since = std::exchange(job.extra->queued_since, kNever);
  if (std::isnan(job.key)) return;  // it has never been here, or is gone from here already
  if (std::erase_if(fresh_, [slot](const Waiting &who) { return who.slot == slot; }) > 0) {  // it came just now
    job.key = std::numeric_limits<double>::quiet_NaN();
    return;
  }
  const Time eligible = std::exchange(job.eligible, since);
  queue_.erase(waiting(job, slot, job.key));
  left(view, slot);
  job.eligible = eligible;
  job.key = std::numeric_limits<double>::quiet_NaN();
}

// The keys of the fresh ones from a source, in one go.
void QueuePolicy::ask_for_keys(View &view) {
  if (fresh_.empty()) return;
  std::vector<Slot> slots;
  for (const Waiting &who : fresh_) slots.push_back(who.slot);
  std::vector<double> keys(slots.size());
  order_.keys(view, slots, keys.data());
  for (std::size_t i = 0; i < slots.size(); ++i) fresh_[i].key = view.annotate(slots[i]).key = keys[i];
}

void QueuePolicy::enqueue(View &view) {
  for (const Waiting &who : fresh_) {
    queue_.insert(who);
    entered(view, who.slot);
  }
  if (order_.ages_after() < kNever) [[unlikely]]
    for (const Waiting &who : fresh_) oldest_ = std::min(oldest_, who.eligible);
}

std::vector<Waiting> QueuePolicy::sorted(View &view, const Order &order, double Job::*key) {
  std::vector<Slot> slots;
  slots.reserve(view.waiting());
  // Who has no key yet came while somebody decided, and will be told of.
  for (Slot slot = view.first_waiting(); slot != kNoSlot; slot = view.job(slot).next)
    if (!std::isnan(view.job(slot).key)) slots.push_back(slot);
  std::vector<double> keys(slots.size());
  order.keys(view, slots, keys.data());
  view.worked(16 * static_cast<std::int64_t>(slots.size()));
  std::vector<Waiting> found;
  found.reserve(slots.size());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    Job &job = view.annotate(slots[i]);
    job.*key = keys[i];
    found.push_back({keys[i], job.ranked_since(), job.sequence, static_cast<std::int32_t>(job.cores), slots[i]});
  }
  std::sort(found.begin(), found.end(), [](const Waiting &a, const Waiting &b) { return a.before(b); });
  return found;
}

void QueuePolicy::refresh(View &view) {
  std::vector<Waiting> found = sorted(view, order_, &Job::key);
  oldest_ = kNever;
  for (const Waiting &who : found) oldest_ = std::min(oldest_, who.eligible);
  queue_.assign(std::move(found));
}

}  // namespace schedlab
