// What is free when: the running jobs until their estimated ends, and reservations. Kept as numbers of cores where that
// says it all (CountPlan), else node by node (NodePlan).
#pragma once

#include <memory>
#include <optional>

#include "engine.hpp"

namespace schedlab {

struct Counted;

class Plan {
 public:
  static std::unique_ptr<Plan> by_count(const View &view);
  static std::unique_ptr<Plan> by_nodes(const View &view);
  static std::unique_ptr<Plan> of(const View &view) { return view.plans_by_nodes() ? by_nodes(view) : by_count(view); }
  // Can a plan by count stand for this job?
  static bool countable(const View &view, const Job &job);

  virtual ~Plan() = default;
  virtual Time now() const = 0;        // where it begins
  virtual void reset() = 0;            // the running jobs and nothing else
  virtual void advance(Time now) = 0;  // forget what is past
  // The earliest start from now on at which the job fits for its whole estimate, and (by nodes) where.
  Time earliest(const Job &job, Shares &shares) const { return earliest(job, {now(), now(), now()}, shares); }
  // The same for whom it is known that it can only start at a time in [from, before), or at `otherwise` or later.
  struct Chance {
    Time from, before, otherwise;
  };
  virtual Time earliest(const Job &job, const Chance &chance, Shares &shares) const = 0;
  bool possible_now(const Job &job, Shares &shares) const { return possible(job, now(), job.estimate, shares); }
  virtual bool possible(const Job &job, Time from, Time duration, Shares &shares) const = 0;
  virtual bool possible_on(const Job &job, const Shares &shares) const = 0;  // now, for its estimate, on these nodes
  virtual void occupy(const Job &job, const Shares &shares, Time from, Time until) = 0;
  virtual void vacate(const Job &job, const Shares &shares, Time from, Time until) = 0;

  virtual Amount needed(const Job &job) const { return job.cores; }  // cores, where it is a matter of them
  virtual Counted *counted() { return nullptr; }                     // where the plan is numbers of cores
  // Compression by nodes, after something became free: when could this job start earlier, given its reservation?
  // Never: its start and place stay as they are. A "never" is always right; a time may be wrong.
  virtual std::optional<Chance> chance(const Job &) { return std::nullopt; }
  // To be told of each place that is vacated for good; a job says by its mark since when it has not been looked at.
  virtual void freed(const Shares &shares, Time from, Time until) = 0;
  virtual std::uint64_t mark() const { return 0; }
};

}  // namespace schedlab
