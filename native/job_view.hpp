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
      : view_(std::move(view)), id_(view_->job(slot).id), sequence_(view_->job(slot).sequence), slot_(slot) {}
  JobView(std::shared_ptr<View> view, const Submitted &submitted)
      : view_(std::move(view)),
        id_(submitted.id),
        sequence_(submitted.slot == kNoSlot ? -1 - submitted.ticket : view_->job(submitted.slot).sequence),
        slot_(submitted.slot) {
    hold_ticket();
  }
  JobView(const JobView &other) : view_(other.view_), id_(other.id_), sequence_(other.sequence_), slot_(other.slot_) {
    hold_ticket();
  }
  JobView(JobView &&other) = default;  // leaves one without a view
  JobView &operator=(JobView other) {
    std::swap(view_, other.view_), std::swap(id_, other.id_);
    std::swap(sequence_, other.sequence_), std::swap(slot_, other.slot_);
    return *this;
  }
  ~JobView() {
    if (has_ticket() && view_ && !view_->over()) view_->tickets().let_go(ticket());
  }

  // It was submitted for later, and has not entered yet.
  bool coming() const {
    check_not_over();
    return has_ticket() && announced().sequence == Announced::kComing;
  }
  std::int64_t ticket() const { return -1 - sequence_; }
  std::int64_t id() const {
    if (!coming()) facts();
    return id_;
  }
  Slot slot() const {
    if (coming())
      throw DecisionError("job " + std::to_string(id_) +
                          " has not entered yet: all that can be done is to withdraw it");
    facts();
    return has_ticket() ? announced().slot : slot_;
  }
  // Of one that is coming: until another one is asked for its facts.
  const Job &facts() const {
    if (coming()) return view_->look_ahead(announced());
    const Slot slot = has_ticket() ? announced().slot : slot_;
    if (slot == kNoSlot || view_->job(slot).sequence != known_sequence())
      throw DecisionError("the job left the system some time ago");
    return view_->job(slot);
  }
  const std::shared_ptr<View> &view() const { return view_; }
  // -1 of one that has not entered yet.
  std::int64_t sequence() const { return has_ticket() ? facts().sequence : sequence_; }
  // Some may be known by a ticket and by a sequence: what both have in common is the id.
  std::size_t hash() const { return static_cast<std::size_t>(id_); }
  bool operator==(const JobView &other) const {
    if (has_ticket() == other.has_ticket()) return sequence_ == other.sequence_ && slot_ == other.slot_;
    return !view_->over() && known_sequence() == other.known_sequence();
  }

 private:
  bool has_ticket() const { return sequence_ < 0; }
  void hold_ticket() const {
    if (has_ticket() && !view_->over()) view_->tickets().hold(ticket());
  }
  const Announced &announced() const { return view_->tickets()[ticket()]; }
  std::int64_t known_sequence() const { return has_ticket() ? announced().sequence : sequence_; }
  void check_not_over() const {
    if (view_->over()) throw DecisionError("the simulation is over: its jobs cannot be looked at any more");
  }

  std::shared_ptr<View> view_;
  std::int64_t id_;
  std::int64_t sequence_;  // the slot may serve another job by now; negative: -1 - its ticket
  Slot slot_;              // kNoSlot: the ticket tells
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
