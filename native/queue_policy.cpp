#include "queue_policy.hpp"

#include <utility>

namespace schedlab {

void QueuePolicy::decide(View &view, std::span<const Event> events) {
  look_at(view, events);
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
    if (!dynamic() && settles(view) && seen_changes_ == view.changes() && head_ == queue_.front().sequence) {
      if (!fresh_.empty()) arrivals(view, fresh_);
    } else if (!dynamic()) {
      pass(view);
    } else if (somebody_may_fit(view)) {  // else the order does not matter
      refresh(view);
      pass(view);
    }
  }
  seen_changes_ = view.changes();
  head_ = queue_.empty() ? -1 : queue_.front().sequence;
}

bool QueuePolicy::somebody_may_fit(const View &view) const {
  for (std::size_t b = 0; b < queue_.block_count(); ++b)
    if (queue_.summary(b).cores <= view.cluster().usable_cores()) return true;
  return false;
}

// A pass that nobody could gain by has left the order as it was.
void QueuePolicy::review(View &view) {
  in_step_ = queue_.size() == view.waiting();
  if (in_step_ && dynamic()) refresh(view);
}

// The marks on the jobs say where they were; the next pass looks at everything.
void QueuePolicy::recall(View &view, std::span<const double> memory) {
  if (order_.by_promises()) promises_ = std::make_unique<Promises>(view.machine()), promises_->recall(memory);
  for (Slot slot = view.first_waiting(); slot != kNoSlot; slot = view.job(slot).next) {
    if (promises_) view.annotate(slot).more().promised = promises_->of(view.job(slot));
    queue_.insert(waiting(view.job(slot), slot, view.job(slot).key));
    entered(view, slot);
  }
  seen_changes_ = ~std::uint64_t{0};
}

[[gnu::flatten]] void QueuePolicy::look_at(View &view, std::span<const Event> events) {
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
  // A dynamic order is asked about the whole queue anyway, if there is one.
  if (!order_.by_formula() && (!dynamic() || queue_.empty())) ask_for_keys(view);
  if (fresh_.size() > 1)
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
    found.push_back({keys[i], job.eligible, job.sequence, static_cast<std::int32_t>(job.cores), slots[i]});
  }
  std::sort(found.begin(), found.end(), [](const Waiting &a, const Waiting &b) { return a.before(b); });
  return found;
}

void QueuePolicy::refresh(View &view) { queue_.assign(sorted(view, order_, &Job::key)); }

}  // namespace schedlab
