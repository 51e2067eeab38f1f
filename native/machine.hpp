// The machine: nodes in groups, what one node can still take, and the live cluster with its indexes.
#pragma once

#include <bit>
#include <memory>
#include <set>
#include <utility>

#include "budget.hpp"

namespace schedlab {

// What one kind of request asks of a node. How many chunks is the job's own number.
struct Request {
  std::vector<Amount> chunk;  // by resource, cores first
  Amount per_node_min = 0, per_node_max = 0;
  bool exclusive = false;
  bool spread = false;       // it has a part of every socket of its nodes: others may have the rest
  std::vector<bool> groups;  // which node groups may serve it

  // Derived by Machine::prepare:
  Amount cores = 0, memory = 0, gpus = 0;                   // of one chunk
  bool plain = false;                                       // single cores that may go anywhere
  bool loose = false;                                       // and share nodes with others
  bool countable = false;                                   // whether it fits is a matter of counting free cores
  bool counted() const { return countable && !exclusive; }  // and what it takes are the cores that it asks for
  // The cores that a node must have free to take anything of it.
  Amount node_cores() const { return cores * (per_node_min > 1 ? per_node_min : 1); }
  Amount largest = 0;                       // how many chunks an empty machine takes
  std::vector<std::pair<int, int>> ranges;  // eligible nodes as [first, last)
  bool may_use(int node) const {
    for (const auto &[first, last] : ranges)
      if (node >= first && node < last) return true;
    return false;
  }
};

struct Group {
  int count;
  std::vector<Amount> resources;
};

// What is free on each node, and how many jobs are there. The live cluster has one; plans make their own.
struct NodeState {
  std::vector<Amount> free;        // node-major: free[node * resources + resource]
  std::vector<std::int32_t> jobs;  // jobs on the node; kExclusive more if one holds it alone, or if it is closed
  static constexpr std::int32_t kExclusive = 1 << 24;
  Spending spending;  // of the machine's budget
};

// The fixed facts.
class Machine {
 public:
  Machine(std::vector<std::string> resources, std::vector<Group> groups, std::unique_ptr<Budget> budget = nullptr);

  int nodes() const { return nodes_; }
  int resources() const { return resources_; }
  const std::vector<std::string> &resource_names() const { return resource_names_; }  // cores first
  Amount cores() const { return total_cores_; }
  bool uniform() const { return uniform_; }  // all nodes alike
  const std::vector<Group> &groups() const { return groups_; }
  Amount total(int node, int resource) const {
    return totals_.free[static_cast<std::size_t>(node * resources_ + resource)];
  }
  const NodeState &empty() const { return totals_; }
  const Budget *budget() const { return budget_.get(); }
  bool capped() const { return capped_; }  // it has a budget with a limit

  void prepare(Request &request, bool all_exclusive, bool contiguous) const;

  // How many chunks of this request there is room for on the node in this state, and how many it can take, which is
  // none if there is no room for per_node_min (semantics: "Capacity").
  Amount room(const NodeState &state, int node, const Request &request) const {
    return room(&state.free[static_cast<std::size_t>(node) * static_cast<std::size_t>(resources_)],
                state.jobs[static_cast<std::size_t>(node)], request);
  }
  Amount room(const Amount *free, Amount jobs, const Request &request) const;  // the same, of a node of a plan
  Amount capacity(const NodeState &state, int node, const Request &request) const;

  // May a job of this request have so much there, chunks or not?
  bool has_room(const Amount *free, Amount jobs, const Request &request, const Amount *amounts) const;
  // How many of its chunks these amounts hold.
  Amount chunks_in(const Amount *amounts, const Request &request) const;

  // Take (sign -1) or give back (+1) these shares: so many chunks, or the amounts that were granted there.
  void apply(NodeState &state, const Request &request, const Share &share, int sign,
             const Amount *granted = nullptr) const;
  void apply(NodeState &state, const Request &request, const Shares &shares, int sign,
             const Granted *granted = nullptr) const;

  // With a budget: so many cores more or fewer in use, or another mode of a node, change what is taken of it.
  void spend(Spending &spending, int node, Amount cores, int sign) const;
  void set_mode(Spending &spending, int node, NodeMode mode) const;
  // Is it kept with these shares besides? Always, if there is no limit.
  bool affords(const NodeState &state, const Request &request, const Shares &shares,
               const Granted *granted = nullptr) const {
    return !capped_ || within_limit(state.spending, request, shares, granted);
  }
  // At most how many cores more it allows; exactly so many where it is a matter of counting them (by_cores).
  Amount affordable_cores(const Spending &spending) const;
  // Whole nodes count in full among the cores in use, but not in a budget: from now on, no request is countable.
  void stop_counting() { counting_ = false; }

 private:
  bool within_limit(const Spending &spending, const Request &request, const Shares &shares,
                    const Granted *granted) const;

  std::vector<std::string> resource_names_;
  int nodes_ = 0, resources_, memory_ = -1, gpus_ = -1;
  std::vector<Group> groups_;
  std::vector<int> group_first_;
  NodeState totals_;
  Amount total_cores_ = 0;
  bool uniform_ = true;
  std::unique_ptr<Budget> budget_;
  bool capped_ = false, counting_ = true;
  Amount least_per_core_ = 0;
};

// A set of node numbers in which the next member is found by looking at words, not nodes.
class NodeSet {
 public:
  explicit NodeSet(int nodes);
  void insert(int node) {
    const auto i = static_cast<std::size_t>(node);
    words_[i / 64] |= 1ull << (i % 64);
    summary_[i / 4096] |= 1ull << (i / 64 % 64);
  }
  void erase(int node) {
    const auto i = static_cast<std::size_t>(node);
    words_[i / 64] &= ~(1ull << (i % 64));
    if (words_[i / 64] == 0) summary_[i / 4096] &= ~(1ull << (i / 64 % 64));
  }
  int next(int from) const;  // the first member >= from; the number of nodes if there is none
  bool has(int node) const { return words_[static_cast<std::size_t>(node) / 64] >> (node % 64) & 1; }

  // By words of 64 nodes. Some member has to be left for `first_word`.
  std::size_t first_word() const {
    std::size_t block = 0;
    while (summary_[block] == 0) ++block;
    return block * 64 + static_cast<std::size_t>(std::countr_zero(summary_[block]));
  }
  std::uint64_t word(std::size_t w) const { return words_[w]; }
  void set_word(std::size_t w, std::uint64_t members) {
    words_[w] = members;
    summary_[w / 64] = (summary_[w / 64] & ~(1ull << (w % 64))) | std::uint64_t{members != 0} << (w % 64);
  }

 private:
  int nodes_;
  std::vector<std::uint64_t> words_, summary_;  // a bit per node; a bit per word that is not zero
};

// Nodes by their free cores: who has at least so many, for the powers of two that requests have asked for so far.
class FreeNodes {
 public:
  void change(int node, Amount before, Amount after) {
    for (Level &level : levels_)
      if ((before >= level.cores) != (after >= level.cores)) {
        if (after >= level.cores)
          level.nodes.insert(node);
        else
          level.nodes.erase(node);
      }
  }
  // Those with any free core, if requests have asked for nothing else; null if they have.
  NodeSet *with_any() { return levels_.size() == 1 && levels_[0].cores == 1 ? &levels_[0].nodes : nullptr; }
  // A node from there on that may have so many free (it has at least half of it).
  int next(int from, Amount at_least) const;
  bool agrees(const Machine &machine, const NodeState &state) const;  // for those who doubt it
  // Before the first `next` for such a request: sees to it that there is a level for it.
  void expect(Amount at_least, const Machine &machine, const NodeState &state);

 private:
  struct Level {
    Amount cores;
    NodeSet nodes;
  };
  std::vector<Level> levels_;  // fewest cores first
};

// Nodes whose state has changed, one after the other, for those who keep a copy.
class NodeLog {
 public:
  explicit NodeLog(std::size_t most) : most_(most) {}
  std::uint64_t end() const { return begin_ + nodes_.size(); }
  bool reaches(std::uint64_t from) const { return from >= begin_; }  // else so much has changed that it is forgotten
  int operator[](std::uint64_t i) const { return nodes_[static_cast<std::size_t>(i - begin_)]; }
  void add(int node) {
    if (nodes_.size() >= most_) begin_ += nodes_.size(), nodes_.clear();
    nodes_.push_back(node);
  }

 private:
  std::size_t most_;
  std::uint64_t begin_ = 0;
  std::vector<int> nodes_;
};

// The live cluster: the machine's state plus the index that the chosen placement walks by.
class LiveCluster {
 public:
  enum class Index { None, FreeNodes, ByFree };

  LiveCluster(const Machine &machine, Index index);

  const Machine &machine() const { return *machine_; }
  const NodeState &state() const { return state_; }
  Amount free_cores() const { return free_cores_; }
  Amount usable_cores() const { return free_cores_ - withheld_; }  // less those that the budget does not allow

  // A closed node takes no new jobs; what its jobs give back stays hidden until it is opened.
  void close(int node);
  void open(int node);
  void set_mode(int node, NodeMode mode);  // for the budget
  bool closed(int node) const { return !closed_.empty() && closed_[static_cast<std::size_t>(node)]; }
  int closed_nodes() const { return closed_nodes_; }
  NodeState unoccupied() const;  // the open nodes without any job
  NodeState opened() const;      // as if no node were closed

  Amount take(const Request &request, const Shares &shares) { return change(request, shares, -1); }
  Amount give_back(const Request &request, const Shares &shares) { return change(request, shares, +1); }
  // Single cores of the first nodes that have some, chosen and taken in one go: where that is the placement, and nobody
  // is in its way. There have to be so many.
  bool takes_at_once() { return simple_ && free_nodes_.with_any(); }
  void take_first(Amount cores, Shares &shares);
  // The same of what was granted, with its devices.
  Amount take(const Request &request, const Shares &shares, const Granted &granted);
  Amount give_back(const Request &request, const Shares &shares, const Granted &granted);
  const DeviceBook &devices() const { return devices_; }

  // What has changed since somebody first asked for it.
  const NodeLog &log() const {
    if (!log_) log_ = std::make_unique<NodeLog>(static_cast<std::size_t>(machine_->nodes())), simple_ = false;
    return *log_;
  }

  const FreeNodes &free_nodes() const { return free_nodes_; }
  void expect(const Request &request);                                          // a request that will be placed
  const std::set<std::pair<Amount, int>> &by_free() const { return by_free_; }  // (free cores, node)

 private:
  Amount change(const Request &request, const Shares &shares, int sign);
  Amount change_any(const Request &request, const Shares &shares, int sign, const Granted *granted);
  void show(int node, bool visible);
  void withhold();  // anew what the budget does not allow
  void spend(const Request &request, const Shares &shares, int sign);

  const Machine *machine_;
  Index index_;
  NodeState state_;
  Amount free_cores_, withheld_ = 0;
  std::vector<bool> closed_;  // empty until one is
  std::vector<Amount> hidden_;
  int closed_nodes_ = 0;
  mutable std::unique_ptr<NodeLog> log_;  // null until somebody asks
  mutable bool simple_ = true;            // no node is closed, and nobody keeps a log
  FreeNodes free_nodes_;
  DeviceBook devices_;
  std::set<std::pair<Amount, int>> by_free_;
};

}  // namespace schedlab
