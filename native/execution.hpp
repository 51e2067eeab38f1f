// How a placed job fares: how much work it is where it runs, and how fast it does it beside its neighbours.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "view.hpp"

namespace schedlab {

class Execution {
 public:
  explicit Execution(std::string name) : name_(std::move(name)) {}
  virtual ~Execution() = default;
  const std::string &name() const { return name_; }  // as an owner of factors

  // The work of the whole job on these nodes, in seconds at rate 1; `work` is what the workload says, or a model that
  // was asked before. Asked when a job takes nodes, and what it has done counts in proportion.
  virtual bool decides_work() const { return false; }
  virtual double work(View &, Slot, const Shares &, double work) { return work; }

  // Its factor of the rate of a running job. Asked after a pass, about jobs on whose nodes somebody came or went: what
  // it says may depend on them, and on who they share nodes with, and on nothing else.
  virtual bool sets_rates() const { return false; }
  virtual double factor(View &, Slot) { return 1; }

 private:
  std::string name_;
};

// Jobs that share a node with another one work at a constant rate.
std::shared_ptr<Execution> make_sharing(std::string name, double factor);

// Jobs work as fast as those with whom they share nodes let them (semantics: "Interference").
std::shared_ptr<Execution> make_interference(std::string name, std::shared_ptr<const Pairs> pairs);

// Run times are those of nodes of speed 1: a job takes as long as its slowest node lets it. One speed for each node.
std::shared_ptr<Execution> make_speeds(std::string name, std::vector<double> speeds);

}  // namespace schedlab
