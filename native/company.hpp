// Nodes by who is there: placements that choose a job's neighbours find their nodes without looking at all of them.
#pragma once

#include <map>
#include <memory>
#include <tuple>

#include "job.hpp"
#include "pairs.hpp"
#include "placement.hpp"

namespace schedlab {

class Company {
 public:
  // `pairs` may be null: then nobody has an application.
  Company(const Machine &machine, const Placement &placement, std::shared_ptr<const Pairs> pairs);

  // A job has taken these nodes, or has left them.
  void move(const Job &job, bool onto);

  // The nodes that go first with it: by kind of company as the placement wants it, those of one kind by their numbers.
  bool place(const NodeState &state, const Job &job, Shares &shares) const;

 private:
  // Nodes whose jobs are of the same applications and leave the same number of cores.
  struct Kind {
    Amount free;
    std::vector<std::int32_t> applications;  // in order
    NodeSet nodes;
    int count = 0;
  };
  using Key = std::pair<Amount, std::vector<std::int32_t>>;

  int kind_of(const Key &key);
  int next_kind(int kind, std::int32_t application, Amount cores, bool onto);
  bool admits(const Kind &kind, const Job &job) const;
  double value(const Kind &kind, const Job &job) const;

  const Machine *machine_;
  Placement::Kind wanted_;
  double threshold_;
  std::shared_ptr<const Pairs> pairs_;
  std::vector<Kind> kinds_;
  std::map<Key, int> numbers_;
  std::map<std::tuple<int, std::int32_t, Amount>, int>
      steps_;              // from a kind, by whom (cores < 0: who leaves), to another
  std::vector<int> kind_;  // of each node
};

}  // namespace schedlab
