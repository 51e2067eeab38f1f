// What a machine on which jobs have whole nodes for themselves would promise them: the start of each when it comes, by
// estimates, beside all that was promised before. Orders that favour some jobs know by it who has waited long enough.
#pragma once

#include <map>
#include <span>

#include "job.hpp"
#include "steps.hpp"

namespace schedlab {

class Promises {
 public:
  explicit Promises(const Machine &machine)
      : of_nodes_(machine.nodes() > 1),
        units_(of_nodes_ ? machine.nodes() : machine.cores()),
        cores_(std::max<Amount>(of_nodes_ ? machine.cores() / machine.nodes() : 1, 1)) {
    free_.assign(0, {&units_, 1});
  }

  // A job that has come.
  Time give(const Job &job, Time now) {
    if (const auto known = given_.find(job.sequence); known != given_.end()) return known->second.start;
    free_.forget_before(now);
    const Amount units = std::clamp<Amount>((job.cores + cores_ - 1) / cores_, 1, units_);
    const Time start = earliest(units, job.estimate, now);
    set(job.sequence, {start, start + job.estimate, units});
    return start;
  }

  // It has ended, or will not run: what is left of its time is free for others.
  void take_back(const Job &job, Time now) {
    const auto known = given_.find(job.sequence);
    if (known == given_.end()) return;
    const auto [start, end, units] = known->second;
    if (end > now) add(std::max(start, now), end, units);
    given_.erase(known);
  }

  // For taking up a run again.
  std::vector<double> memory() const {
    std::vector<double> values;
    for (const auto &[sequence, each] : given_)
      values.insert(values.end(),
                    {static_cast<double>(sequence), each.start, each.end, static_cast<double>(each.units)});
    return values;
  }
  void recall(std::span<const double> values) {
    for (std::size_t i = 0; i + 3 < values.size(); i += 4)
      set(static_cast<std::int64_t>(values[i]), {values[i + 1], values[i + 2], static_cast<Amount>(values[i + 3])});
  }
  Time of(const Job &job) const {
    const auto known = given_.find(job.sequence);
    return known == given_.end() ? kNever : known->second.start;
  }

 private:
  struct Given {
    Time start, end;
    Amount units;
  };

  void add(Time from, Time until, Amount units) { free_.add(from, until, {&units, 1}); }
  void set(std::int64_t sequence, const Given &given) {
    given_.emplace(sequence, given);
    add(given.start, given.end, -given.units);
  }

  Time earliest(Amount units, Time duration, Time now) const {
    Time start = now;
    for (std::size_t i = free_.at(now); i < free_.size() && free_.begin(i) < start + duration; ++i)
      if (*free_.row(i) < units) start = free_.end(i);
    return start;
  }

  bool of_nodes_;
  Amount units_, cores_;  // how many there are, and the cores of one
  Steps free_;
  std::map<std::int64_t, Given> given_;  // by sequence
};

}  // namespace schedlab
