// Jobs as Python may know them: their runtimes are not here.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>

#include "engine.hpp"

namespace schedlab {

// One job. Holds the view, so that looking at it after the run is an error and not a crash.
class JobView {
 public:
  JobView(std::shared_ptr<View> view, Slot slot)
      : view_(std::move(view)), slot_(slot), sequence_(view_->job(slot).sequence) {}

  Slot slot() const { return facts(), slot_; }
  const Job &facts() const {
    if (view_->over()) throw DecisionError("the simulation is over: its jobs cannot be looked at any more");
    const Job &job = view_->job(slot_);
    if (job.sequence != sequence_ && !is_ticket_of(job)) throw DecisionError("the job left the system some time ago");
    return job;
  }
  const std::shared_ptr<View> &view() const { return view_; }
  // -1 of one that has not entered yet.
  std::int64_t sequence() const { return sequence_ >= 0 ? sequence_ : std::max(facts().sequence, std::int64_t{-1}); }
  // A ticket and a sequence may be of the same job: what both have in common is the slot.
  std::size_t hash() const { return slot_; }
  bool operator==(const JobView &other) const {
    if (slot_ != other.slot_ || sequence_ == other.sequence_) return slot_ == other.slot_;
    if ((sequence_ >= 0 && other.sequence_ >= 0) || view_->over()) return false;
    const Job &job = view_->job(slot_);
    const auto is = [&](const JobView &one) { return one.sequence_ == job.sequence || one.is_ticket_of(job); };
    return is(*this) && is(other);
  }

 private:
  bool is_ticket_of(const Job &job) const { return sequence_ < -1 && job.ticket == sequence_; }

  std::shared_ptr<View> view_;
  Slot slot_;
  std::int64_t sequence_;  // the slot may serve another job by now; negative: the ticket of one that had not entered
};

// Several jobs: a sequence of them, and their columns as arrays, gathered when first asked for.
class JobsView {
 public:
  JobsView(std::shared_ptr<View> view, std::vector<Slot> slots) : view_(std::move(view)), slots_(std::move(slots)) {
    for (const Slot slot : slots_) sequences_.push_back(view_->job(slot).sequence);
  }

  std::size_t size() const { return slots_.size(); }
  JobView at(std::ptrdiff_t i) const;
  nanobind::object column(const char *name);
  // By a column, an array of keys or a function of a job; smallest first, ties as they were.
  std::vector<JobView> sorted(nanobind::object by, bool reverse);

 private:
  void alive(std::size_t i) const;

  std::shared_ptr<View> view_;
  std::vector<Slot> slots_;
  std::vector<std::int64_t> sequences_;
  nanobind::dict columns_;
};

JobsView waiting_jobs(const std::shared_ptr<View> &view);
JobsView running_jobs(const std::shared_ptr<View> &view);

// The (kind, job or node) pairs that Python gets to see.
nanobind::list event_list(const std::shared_ptr<View> &view, std::span<const Event> events);

}  // namespace schedlab
