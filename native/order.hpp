// An order is a small formula over a job's columns, compiled to a postfix program by schedlab.policy.expression.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "job.hpp"

namespace schedlab {

class Order {
 public:
  // Operations as the Python compiler writes them: ("const", 3.0), a column's name, an operator or function.
  explicit Order(const std::vector<std::pair<std::string, double>> &program);

  // The key of a job: smaller goes first; what is not a number counts as +infinity.
  double key(const Job &job, Time now) const;

  // Does the key change while the job waits?
  bool dynamic() const { return dynamic_; }
  friend bool operator==(const Order &, const Order &) = default;

 private:
  enum class Op : std::uint8_t;
  struct Step {
    Op op;
    double number;
    friend bool operator==(const Step &, const Step &) = default;
  };
  std::vector<Step> steps_;
  bool dynamic_ = false;
};

}  // namespace schedlab
