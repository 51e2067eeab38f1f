// The parts of a simulation that may be written in Python. Each takes the interpreter's lock for its call.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include "engine.hpp"
#include "order.hpp"

namespace schedlab {

// A decider with Python in it: observers around a native policy, or a policy that is Python itself.
class HostedDecider final : public Decider {
 public:
  // decide(view, events); or none, then the native policy decides. before(view, events), entered(view, events), which
  // is told what was added meanwhile, after(view) and woken(view, numbers of those who asked for this instant) may be
  // none.
  HostedDecider(std::shared_ptr<Decider> native, nanobind::object decide, nanobind::object before,
                nanobind::object entered, nanobind::object after, nanobind::object woken, nanobind::object recall)
      : native_(std::move(native)),
        decide_(std::move(decide)),
        before_(std::move(before)),
        entered_(std::move(entered)),
        after_(std::move(after)),
        woken_(std::move(woken)),
        recall_(std::move(recall)) {}

  void set_view(std::shared_ptr<View> view) { view_ = std::move(view); }
  void before(View &view, std::span<const Event> events) override;
  void decide(View &view, std::span<const Event> events) override;
  void after(View &view) override;
  bool needs_estimated_ends() const override { return true; }
  Time usage_half_life() const override { return native_->usage_half_life(); }
  bool observed() const override { return !before_.is_none() || !after_.is_none() || !woken_.is_none(); }
  std::vector<double> memory() const override { return native_->memory(); }
  void recall(View &view, std::span<const double> memory) override;
  bool explains() const override { return decide_.is_none(); }
  Slot all_wait_for(View &view) override { return native_->all_wait_for(view); }
  void review(View &view) override { native_->review(view); }
  Why why(View &view, Slot slot) override { return native_->why(view, slot); }

 private:
  std::shared_ptr<Decider> native_;
  nanobind::object decide_, before_, entered_, after_, woken_, recall_;
  std::shared_ptr<View> view_;
};

// allows(view, job, nodes) -> bool
class PythonGate final : public Gate {
 public:
  PythonGate(nanobind::object allows, std::shared_ptr<View> view)
      : allows_(std::move(allows)), view_(std::move(view)) {}
  bool allows(View &view, Slot slot, const Shares &shares) override;

 private:
  nanobind::object allows_;
  std::shared_ptr<View> view_;
};

// work(view, job, nodes) -> seconds or None, and rate(view, job, neighbours) -> factor; either may be none.
class PythonExecution final : public Execution {
 public:
  PythonExecution(std::string name, nanobind::object work, nanobind::object rate)
      : Execution(std::move(name)), work_(std::move(work)), rate_(std::move(rate)) {}
  bool decides_work() const override { return !work_.is_none(); }
  bool sets_rates() const override { return !rate_.is_none(); }
  double work(View &view, Slot slot, const Shares &shares, double work) override;
  double factor(View &view, Slot slot) override;
  void set_view(std::shared_ptr<View> view) { view_ = std::move(view); }

 private:
  nanobind::object work_, rate_;
  std::shared_ptr<View> view_;
};

// estimate(job) -> seconds and, if it learns, ended(job, runtime), else None; by its name in errors.
class PythonEstimator final : public Estimator {
 public:
  PythonEstimator(std::string name, nanobind::object estimate, nanobind::object ended)
      : estimate_(std::move(estimate)), ended_(std::move(ended)), name_(std::move(name)) {}
  Time estimate(const Job &job, Slot slot) override;
  void ended(const Job &job, Slot slot, Time runtime) override;
  void set_view(std::shared_ptr<View> view) { view_ = std::move(view); }

 private:
  nanobind::object estimate_, ended_;
  std::string name_;
  std::shared_ptr<View> view_;
};

// order(jobs) or order(jobs, now) -> keys
class PythonKeys final : public KeySource {
 public:
  PythonKeys(nanobind::object order, bool dynamic) : order_(std::move(order)), dynamic_(dynamic) {}
  void keys(const View &view, std::span<const Slot> slots, double *keys) override;
  void set_view(std::shared_ptr<View> view) { view_ = std::move(view); }

 private:
  nanobind::object order_;
  bool dynamic_;
  std::shared_ptr<View> view_;
};

// What a placement in Python answers: node numbers, (node, chunks) pairs, or None.
bool read_nodes(nanobind::handle answer, Shares &shares);

// The nodes of a decision: (node, chunks) pairs, or (node, {resource: amount or devices}) pairs; nothing for None.
std::optional<Grant> read_grant(nanobind::handle nodes, const View &view, const char *what, Slot slot);
// The other way round: what a job was granted on each of its nodes.
nanobind::list grant_list(const Job &job, const Machine &machine);

// The cluster as Python sees it.
nanobind::object cluster_view(const std::shared_ptr<View> &view);

}  // namespace schedlab
