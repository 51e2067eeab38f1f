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
    if (job.sequence != sequence_) throw DecisionError("the job left the system some time ago");
    return job;
  }
  const std::shared_ptr<View> &view() const { return view_; }
  std::int64_t sequence() const { return sequence_; }

 private:
  std::shared_ptr<View> view_;
  Slot slot_;
  std::int64_t sequence_;  // the slot may serve another job by now
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
