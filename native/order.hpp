// An order is a small formula over a job's columns, compiled to a postfix program by schedlab.policy.expression.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "view.hpp"

namespace schedlab {

// Keys from outside: an order that is not a formula.
class KeySource {
 public:
  virtual ~KeySource() = default;
  virtual void keys(const View &view, std::span<const Slot> slots, double *keys) = 0;
};

class Order {
 public:
  // Operations as the Python compiler writes them: ("const", 3.0), a column's name, an operator or function.
  explicit Order(const std::vector<std::pair<std::string, double>> &program);

  // Asks the source; each time a pass is made if the order is dynamic, else once for each job.
  Order(std::shared_ptr<KeySource> source, bool dynamic);

  // The keys of jobs: smaller goes first; what is not a number counts as +infinity.
  void keys(const View &view, std::span<const Slot> slots, double *keys) const;
  double key(const View &view, Slot slot) const;

  bool by_formula() const { return !source_; }
  // Does the key change while the job waits?
  bool dynamic() const { return dynamic_; }
  bool by_load() const { return by_load_; }  // ... and when others start?
  // How long keys stay as they are while jobs wait: until one has waited so long; kNever if that does not matter.
  Time ages_after() const { return ages_after_; }
  bool by_usage() const { return by_usage_; }     // it looks at what users have used (Usage)
  bool by_promises() const { return promises_; }  // it looks at what was promised (Promises)
  friend bool operator==(const Order &, const Order &) = default;

 private:
  enum class Op : std::uint8_t;
  struct Step {
    Op op;
    double number;
    friend bool operator==(const Step &, const Step &) = default;
  };
  double computed(const View &view, const Job &job) const;

  std::vector<Step> steps_;
  Time ages_after_ = kNever;
  bool dynamic_ = false, by_load_ = false, by_usage_ = false, promises_ = false;
  std::shared_ptr<KeySource> source_;
};

}  // namespace schedlab
