// The plan node by node: what each node has free in the course of time (Steps), so that a job touches its own nodes
// only. Kept in node_plan.cpp, searched in node_search.cpp.
#pragma once

#include "plan.hpp"
#include "steps.hpp"

namespace schedlab {

// What a job wants of a node, made ready for looking at many of them.
class Wanted {
 public:
  Wanted(const Machine &machine, const Job &job, Time duration);

  const Job &job;
  const Request &request;
  Time duration;

  Amount most() const { return most_; }  // that a node can take
  // How many chunks a node in this state can take, up to those that the job has. The row is a step of the plan.
  Amount capacity(const Amount *row) const {
    if (!takes(row)) return 0;
    for (std::size_t r = 0; r < most_amount_.size(); ++r)
      if (row[r] < most_amount_[r]) return count_chunks(row);
    return most_;
  }
  // Can it take any?
  bool takes(const Amount *row) const {
    const Amount jobs = row[least_amount_.size()];
    if (jobs >= NodeState::kExclusive || (request.exclusive && jobs > 0)) return false;
    for (std::size_t r = 0; r < least_amount_.size(); ++r)
      if (row[r] < least_amount_[r]) return false;
    return most_ > 0;
  }

 private:
  Amount count_chunks(const Amount *row) const;

  Amount most_;                                     // more chunks than these make no difference; 0: no node will do
  std::vector<Amount> least_amount_, most_amount_;  // by resource: what it takes at least, and for the most
};

class NodePlan final : public Plan {
 public:
  explicit NodePlan(const View &view) : view_(view) { reset(); }

  void reset() override;
  void advance(Time now) override { now_ = now; }
  Time now() const override { return now_; }

  using Plan::earliest;
  Time earliest(const Job &job, const Chance &chance, Shares &shares) const override;
  bool possible(const Job &job, Time from, Time duration, Shares &shares) const override;
  bool possible_on(const Job &job, const Shares &shares) const override;

  void occupy(const Job &job, const Shares &shares, Time from, Time until) override;
  void vacate(const Job &job, const Shares &shares, Time from, Time until) override;

  void freed(const Shares &shares, Time from, Time until) override;
  std::uint64_t mark() const override { return forgotten_ + freed_.size(); }
  std::optional<Chance> chance(const Job &job) override;

 private:
  // A node over the time that a job would have it: how much of the job it can take, and until when it is certain that
  // a later start would not find more there.
  struct Look {
    Amount capacity;
    Time until;
  };
  // A place that became free. Jobs whose reservations were found before may want it.
  struct Freed {
    int node;
    Time from, until;
  };
  // Nobody with so many chunks of the request or more, for so long or longer, can start before.
  struct Known {
    const Request *request;
    std::int64_t count;
    Time duration, start;
  };

  void worked(std::size_t steps) const { view_.worked(static_cast<std::int64_t>(steps)); }
  bool first_fit() const { return view_.placement().kind() == Placement::Kind::FirstFit; }
  bool capped() const { return view_.machine().capped(); }
  std::size_t resources() const { return static_cast<std::size_t>(view_.machine().resources()); }
  std::size_t width() const { return resources() + (capped() ? 2 : 1); }
  const Steps &steps(int node) const { return nodes_[static_cast<std::size_t>(node)]; }

  void amounts(const Job &job, const Shares &shares, std::size_t i, int sign, std::vector<Amount> &row) const;
  Amount cores_on(const Job &job, const Shares &shares, std::size_t i) const;
  void add(const Job &job, const Shares &shares, Time from, Time until, int sign);
  void spend(int node, Time from, Time until, Amount cores);
  bool affords(const Job &job, const Shares &shares, Time from, Time until) const;
  void open_what_the_calendar_closes(NodeState &state) const;

  Look look(const Wanted &wanted, int node, Time from) const;
  bool place(const Wanted &wanted, Time from, std::vector<Candidate> &candidates, Shares &shares) const;
  Time sweep(const Wanted &wanted, Time from, Time before, Shares &shares) const;
  Time earliest_affordable(const Job &job, Time from, Shares &shares) const;
  Time start_on(const Wanted &wanted, int node, Time from, Time before, bool has_it) const;
  bool changes_place(const Wanted &wanted, const Freed &place, Amount has) const;
  Amount has_on(const Job &job, int node) const;

  const View &view_;
  Time now_ = 0;
  std::vector<Steps> nodes_;  // rows: what is free of each resource, jobs (as in NodeState), under a cap cores in use
  Steps taken_;               // under a cap: of the budget
  std::vector<NodeMode> modes_;
  std::vector<Freed> freed_;  // the latest ones; others are forgotten
  std::uint64_t forgotten_ = 1;
  mutable std::vector<Known> known_;  // since something was vacated
};

}  // namespace schedlab
