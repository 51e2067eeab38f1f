#include "queue_policy.hpp"

namespace schedlab {

void QueuePolicy::decide(View &view, std::span<const Event> events) {
  take_in(view, events);
  if (!queue_.empty()) {
    if (!dynamic() && seen_changes_ == view.changes() && head_ == queue_.front().sequence) {
      if (!fresh_.empty()) arrivals(view, fresh_);
    } else {
      if (dynamic()) refresh(view);
      pass(view);
    }
  }
  seen_changes_ = view.changes();
  head_ = queue_.empty() ? -1 : queue_.front().sequence;
}

void QueuePolicy::take_in(View &view, std::span<const Event> events) {
  fresh_.clear();
  for (const Event &event : events) {
    if (event.kind == Event::Kind::Submitted) {
      Job &job = view.annotate(event.slot);
      job.key = order_.key(job, view.now());
      fresh_.push_back(waiting(job, event.slot, job.key));
      queue_.insert(fresh_.back());
      entered(view, event.slot);
    } else if (event.kind == Event::Kind::Cancelled) {
      const Job &job = view.job(event.slot);
      queue_.erase(waiting(job, event.slot, job.key));
      left(view, event.slot);
      // It may have been submitted in this very instant.
      std::erase_if(fresh_, [&](const Waiting &w) { return w.slot == event.slot; });
    }
  }
  if (fresh_.size() > 1)
    std::sort(fresh_.begin(), fresh_.end(), [](const Waiting &a, const Waiting &b) { return a.before(b); });
}

std::vector<Waiting> QueuePolicy::sorted(View &view, const Order &order, double Job::*key) {
  std::vector<Waiting> found;
  found.reserve(view.waiting());
  for (Slot slot = view.first_waiting(); slot != kNoSlot; slot = view.job(slot).next) {
    Job &job = view.annotate(slot);
    job.*key = order.key(job, view.now());
    found.push_back({job.*key, job.eligible, job.sequence, job.cores, slot});
  }
  std::sort(found.begin(), found.end(), [](const Waiting &a, const Waiting &b) { return a.before(b); });
  return found;
}

void QueuePolicy::refresh(View &view) { queue_.assign(sorted(view, order_, &Job::key)); }

}  // namespace schedlab
