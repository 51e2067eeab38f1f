// Which nodes a job gets (docs/semantics.md, "Placements").
#pragma once

#include <functional>

#include "machine.hpp"

namespace schedlab {

// A node that can take something of a job.
struct Candidate {
  int node;
  Amount capacity;  // at least one chunk
  Amount free;      // cores
};

class Placement {
 public:
  enum class Kind { FirstFit, BestFit, Spread, Contiguous, Random, OccupiedFirst, BestPair };

  // Somebody else's choice: nodes, with chunks or in the order in which they are to be filled (chunks 0).
  using Chooser = std::function<bool(Slot slot, Shares &shares)>;

  // With a threshold, no two jobs share a node of which one would be slower than that beside the other.
  Placement(const std::string &name, std::uint64_t seed, Chooser chooser = {}, double threshold = 0);

  // On a single node there is nothing to choose, only perhaps to refuse.
  Placement on_one_node() const { return chooser_ || threshold_ > 0 ? *this : Placement("first-fit", 0); }

  Kind kind() const { return kind_; }
  LiveCluster::Index index() const;  // what it wants the live cluster to keep

  // Chooses nodes for `count` chunks; false if they do not fit. `sequence` names the job's own random stream.
  bool place(const LiveCluster &cluster, const Request &request, Amount count, std::int64_t sequence,
             Shares &shares) const;

  // Where a chooser puts a job: false if that is nowhere, or if it did not offer enough.
  bool chosen() const { return static_cast<bool>(chooser_); }
  // It looks at who is where (Company), and so cannot say where a job will be put later.
  bool by_company() const { return by_company_; }
  double threshold() const { return threshold_; }
  bool by_the_moment() const { return by_the_moment_; }  // one of the two
  bool choose(const Machine &machine, const NodeState &state, Slot slot, const Request &request, Amount count,
              Shares &shares) const;

  // The same on any state, by looking at every node: for plans and shadow states.
  bool place(const Machine &machine, const NodeState &state, const Request &request, Amount count,
             std::int64_t sequence, Shares &shares) const;
  // The same among these nodes, in the order of their numbers; none that would be chosen is missing.
  bool place(const Request &request, const std::vector<Candidate> &candidates, Amount count, std::int64_t sequence,
             Shares &shares) const;

 private:
  bool first_fit(const LiveCluster &cluster, const Request &request, Amount count, Shares &shares) const;
  bool by_free(const LiveCluster &cluster, const Request &request, Amount count, Shares &shares) const;

  Kind kind_;
  std::uint64_t seed_;
  Chooser chooser_;
  double threshold_;
  bool by_company_, by_the_moment_;
};

}  // namespace schedlab
