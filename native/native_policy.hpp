// A native policy by itself, as Python holds it: that of a run, or one that a policy in Python builds on.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "policies.hpp"
#include "python_parts.hpp"

namespace schedlab {

using Program = std::vector<std::pair<std::string, double>>;
using OrderChoice = std::variant<Program, std::pair<nanobind::object, bool>>;  // a formula, or (function, dynamic)

class NativePolicy {
 public:
  NativePolicy(const std::string &backfill, const OrderChoice &order, const std::optional<OrderChoice> &scan,
               std::int64_t depth, int reservations, Periods periods, Time half_life) {
    std::optional<Order> scan_order;
    if (scan) scan_order = make(*scan);
    choice_.emplace(PolicyChoice{backfill, make(order), scan_order, depth, reservations, periods, half_life});
    make_policy(*choice_, false);  // says at once what is wrong
  }

  void decide(const std::shared_ptr<View> &view) {
    if (view->over()) throw DecisionError("the simulation is over: nothing can be decided any more");
    set_view(view);
    if (view->native && view->native != policy_.get())
      throw DecisionError("another sl.Native has decided in this run: one of them keeps the queue, two cannot");
    view->native = policy_.get();
    policy_->decide(*view, view->events());
    view->explained_by(policy_);
  }
  // Which kind of policy it is depends on the calendar, and that is known only now.
  void set_view(const std::shared_ptr<View> &view) {
    for (const auto &source : sources_) source->set_view(view);
    if (!policy_) policy_ = make_policy(*choice_, view->has_calendar());
  }
  // Of one that has decided.
  std::vector<Intention> intentions(const std::shared_ptr<View> &view) {
    if (view->over()) throw DecisionError("the simulation is over: nothing is planned any more");
    return policy_ ? policy_->intentions(*view) : std::vector<Intention>();
  }
  std::shared_ptr<Decider> release() { return std::move(policy_); }
  std::vector<double> memory() const { return policy_ ? policy_->memory() : std::vector<double>(); }
  void recall(const std::shared_ptr<View> &view, const std::vector<double> &memory) {
    set_view(view);
    policy_->recall(*view, memory);
  }

 private:
  Order make(const OrderChoice &choice) {
    if (const Program *program = std::get_if<Program>(&choice)) return Order(*program);
    const auto &[function, dynamic] = std::get<1>(choice);
    sources_.push_back(std::make_shared<PythonKeys>(function, dynamic));
    return Order(sources_.back(), dynamic);
  }

  std::vector<std::shared_ptr<PythonKeys>> sources_;
  std::optional<PolicyChoice> choice_;
  std::shared_ptr<Decider> policy_;
};

}  // namespace schedlab
