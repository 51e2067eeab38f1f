// Reservations for deciders that keep no plan of their own.
#include <algorithm>

#include "engine.hpp"
#include "plan.hpp"

namespace schedlab {

bool View::reserved(Slot slot) const {
  return std::find(reservations_.begin(), reservations_.end(), slot) != reservations_.end();
}

const Plan &View::plan(const Job &job) {
  const bool by_nodes = plans_by_nodes() || !Plan::countable(*this, job);  // it may be tried in another shape
  if (plan_ && planned_at_ == now() && planned_changes_ == changes() && planned_starts_ == engine_->starts_ &&
      by_nodes == plan_by_nodes_)
    return *plan_;
  plan_by_nodes_ = by_nodes;
  plan_ = by_nodes ? Plan::by_nodes(*this) : Plan::by_count(*this);
  planned_at_ = now(), planned_changes_ = changes(), planned_starts_ = engine_->starts_;
  for (const Slot slot : reservations_) {
    Job &other = annotate(slot);
    other.reserved_start = plan_->earliest(other, other.reserved_shares);
    if (other.reserved_start < kNever)
      plan_->occupy(other, other.reserved_shares, other.reserved_start, other.reserved_start + other.estimate);
  }
  return *plan_;
}

Time View::reserve(Slot slot) {
  Job &job = engine_->jobs_[slot];
  if (job.state != State::Waiting) engine_->refuse("reserve for", slot, "it is not waiting");
  plan(job);
  if (reserved(slot)) return job.reserved_start;
  note(Act::Reserve, slot);
  reservations_.push_back(slot);
  job.reserved_start = plan_->earliest(job, job.reserved_shares);
  if (job.reserved_start < kNever)
    plan_->occupy(job, job.reserved_shares, job.reserved_start, job.reserved_start + job.estimate);
  return job.reserved_start;
}

void View::unreserve(Slot slot) {
  note(Act::Unreserve, slot);
  drop_reservation(slot);
}

// At once when the job leaves the queue: its slot may be another job's before anybody plans again.
void View::drop_reservation(Slot slot) {
  if (std::erase(reservations_, slot) > 0) plan_.reset();
}

bool View::start_beside_reservations(Slot slot, const Shares *nodes, double priority, Backfilled backfilled,
                                     std::unique_ptr<Granted> granted) {
  Job &job = engine_->jobs_[slot];
  plan(job);
  const bool own = reserved(slot) && job.reserved_start < kNever;
  const Time reserved_until = job.reserved_start + job.estimate;
  if (own) plan_->vacate(job, job.reserved_shares, job.reserved_start, reserved_until);
  job.granted = std::move(granted);  // by now its reservation, in chunks, is out of the plan
  Shares shares;
  bool fits = nodes ? plan_->possible_on(job, *nodes) : plan_->possible_now(job, shares);
  if (fits) {
    // A plan by numbers knows that it fits, not where.
    if (nodes)
      job.shares = *nodes;
    else if (plan_by_nodes_)
      fits = place_beside(*plan_, slot, shares), job.shares = shares;
    else
      fits = place(slot, job.shares);
  }
  fits = fits && (job.granted || has_room(job, job.shares));  // what is granted has been checked
  if (fits) fits = begin(slot, priority, backfilled);
  if (fits) {
    plan_->occupy(job, job.shares, now(), now() + job.estimate);
    planned_starts_ = engine_->starts_;
    std::erase(reservations_, slot);
  } else {
    job.granted.reset();
    if (own) plan_->occupy(job, job.reserved_shares, job.reserved_start, reserved_until);
  }
  return fits;
}

}  // namespace schedlab
