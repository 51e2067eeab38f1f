// A budget of the whole machine, such as power: what its nodes and jobs take of it together, and a limit that jobs wait
// for, if there is one.
#pragma once

#include <array>
#include <string>

#include "granted.hpp"

namespace schedlab {

// What a node of a group takes: with jobs `active`, and `per_core` for each core in use; without, by its mode.
struct BudgetRates {
  std::array<Amount, kNodeModes> idle;
  Amount active, per_core;
  Amount taken(NodeMode mode, Amount cores) const {
    return cores > 0 ? active + per_core * cores : idle[static_cast<std::size_t>(mode)];
  }
};

// The fixed facts. Amounts are whole numbers of a small unit, so that taking and giving back add up exactly.
struct Budget {
  std::string name;                // under which observers and policies find it
  double unit = 1;                 // how many of the amounts are 1 of what people say (watts)
  Amount limit = kUnlimited;       // on all nodes together
  std::vector<BudgetRates> rates;  // of each node group
  std::vector<std::int32_t> group_of_node;

  static constexpr Amount kUnlimited = std::numeric_limits<Amount>::max();
  const BudgetRates &of(int node) const {
    return rates[static_cast<std::size_t>(group_of_node[static_cast<std::size_t>(node)])];
  }
  bool limited() const { return limit != kUnlimited; }
  Amount least_per_core() const;
  // Is what a job takes a matter of its cores alone, wherever they are and whoever else is there?
  bool by_cores() const;
};

// What is taken, node by node. The live cluster has this; plans make their own.
struct Spending {
  std::vector<Amount> cores;  // in use on each node; empty if there is no budget
  std::vector<NodeMode> modes;
  Amount taken = 0;
  bool operator==(const Spending &) const = default;
};

// What has been taken in the course of time, by all and by each job.
class BudgetBooks {
 public:
  explicit BudgetBooks(const Budget &budget);

  // Before nodes change; of these nodes, also what a core on them has cost so far.
  void before(Time now, const Spending &spending, const Shares &shares);
  void before(Time now, const Spending &spending, int node);
  void after(Time now, const Spending &spending);
  // After `before`: a job begins to use its shares, or ends it.
  void begin(Slot slot, const Shares &shares, Amount cores_per_chunk, const Granted *granted);
  void end(Slot slot, std::int64_t sequence, const Shares &shares, Amount cores_per_chunk, const Granted *granted);

  void pass_time(Time now, const Spending &spending);  // without any change
  double total() const { return total_; }              // amount × seconds
  bool begun() const { return last_ != kNever; }
  Amount peak() const { return peak_; }  // that lasted for some time
  struct Level {
    Time time;
    Amount taken;
  };
  const std::vector<Level> &levels() const { return levels_; }  // from each change on
  struct Stay {
    std::int64_t sequence;
    double taken;
  };
  const std::vector<Stay> &stays() const { return stays_; }  // of jobs on their nodes, in the order of their ends

 private:
  void settle(Time now, const Spending &spending, int node);
  double cost(const Shares &shares, Amount cores_per_chunk, const Granted *granted) const;

  const Budget &budget_;
  std::vector<double> per_core_;  // what a core in use all the time would have been charged, by node, until
  std::vector<Time> since_;
  std::vector<double> begun_;  // of running jobs, by slot: their cores' cost when they began
  double total_ = 0;
  Amount peak_;
  Time last_ = kNever;  // never: nothing has happened
  std::vector<Level> levels_;
  std::vector<Stay> stays_;
};

}  // namespace schedlab
