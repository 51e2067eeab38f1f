#include "machine.hpp"

#include <algorithm>

namespace schedlab {

Machine::Machine(std::vector<std::string> resources, std::vector<Group> groups)
    : resources_(static_cast<int>(resources.size())), groups_(std::move(groups)) {
  for (int r = 0; r < resources_; ++r) {
    if (resources[static_cast<std::size_t>(r)] == "memory") memory_ = r;
    if (resources[static_cast<std::size_t>(r)] == "gpus") gpus_ = r;
  }
  for (const Group& group : groups_) {
    group_first_.push_back(nodes_);
    nodes_ += group.count;
    total_cores_ += group.count * group.resources[0];
    for (int i = 0; i < group.count; ++i)
      totals_.free.insert(totals_.free.end(), group.resources.begin(), group.resources.end());
  }
  totals_.jobs.assign(static_cast<std::size_t>(nodes_), 0);
}

void Machine::prepare(Shape& shape, bool all_exclusive, bool contiguous) const {
  shape.exclusive = shape.exclusive || all_exclusive;
  shape.cores = shape.chunk[0];
  shape.memory = memory_ < 0 ? 0 : shape.chunk[static_cast<std::size_t>(memory_)];
  shape.gpus = gpus_ < 0 ? 0 : shape.chunk[static_cast<std::size_t>(gpus_)];
  const bool anywhere = std::all_of(shape.groups.begin(), shape.groups.end(), [](bool yes) { return yes; });
  const bool only_cores = std::all_of(shape.chunk.begin() + 1, shape.chunk.end(), [](Amount a) { return a == 0; });
  shape.plain = shape.cores == 1 && only_cores && anywhere && !shape.per_node_min && !shape.per_node_max &&
                shape.exclusive == all_exclusive;
  shape.countable = shape.plain && !contiguous;
  Amount run = 0;  // chunks on neighbouring usable nodes: what `contiguous` can hope for
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const int first = group_first_[g], last = first + groups_[g].count;
    const Amount one = shape.groups[g] ? capacity(totals_, first, shape) : 0;
    run = one == 0 ? 0 : run + one * groups_[g].count;
    shape.largest = contiguous ? std::max(shape.largest, run) : shape.largest + one * groups_[g].count;
    if (!shape.groups[g]) continue;
    if (!shape.ranges.empty() && shape.ranges.back().second == first)
      shape.ranges.back().second = last;
    else
      shape.ranges.emplace_back(first, last);
  }
}

Amount Machine::capacity(const NodeState& state, int node, const Shape& shape) const {
  const std::int32_t jobs = state.jobs[static_cast<std::size_t>(node)];
  if (jobs >= NodeState::kExclusive || (shape.exclusive && jobs > 0)) return 0;
  const Amount* free = &state.free[static_cast<std::size_t>(node) * static_cast<std::size_t>(resources_)];
  Amount chunks = shape.per_node_max ? shape.per_node_max : INT32_MAX;
  for (int r = 0; r < resources_; ++r) {
    const Amount wanted = shape.chunk[static_cast<std::size_t>(r)];
    if (wanted > 0) chunks = std::min(chunks, wanted == 1 ? free[r] : free[r] / wanted);
  }
  return chunks < shape.per_node_min ? 0 : chunks;
}

Amount Machine::apply(NodeState& state, const Shape& shape, const Shares& shares, int sign) const {
  Amount cores = 0;
  for (const Share& share : shares) {
    const auto node = static_cast<std::size_t>(share.node);
    Amount* free = &state.free[node * static_cast<std::size_t>(resources_)];
    if (shape.exclusive) {
      const Amount* total = &totals_.free[node * static_cast<std::size_t>(resources_)];
      for (int r = 0; r < resources_; ++r) free[r] += sign * total[r];
      state.jobs[node] -= sign * (NodeState::kExclusive + 1);
      cores += total[0];
    } else {
      for (int r = 0; r < resources_; ++r) free[r] += sign * share.chunks * shape.chunk[static_cast<std::size_t>(r)];
      state.jobs[node] -= sign;
      cores += share.chunks * shape.cores;
    }
  }
  return cores;
}

void MaxTree::reset(int leaves) {
  leaves_ = leaves;
  for (size_ = 1; size_ < leaves; size_ *= 2) {
  }
  tree_.assign(static_cast<std::size_t>(2 * size_), -1);
}

void MaxTree::set(int leaf, std::int32_t value) {
  auto i = static_cast<std::size_t>(size_ + leaf);
  tree_[i] = value;
  for (i /= 2; i >= 1; i /= 2) {
    const std::int32_t best = std::max(tree_[2 * i], tree_[2 * i + 1]);
    if (tree_[i] == best) break;
    tree_[i] = best;
  }
}

int MaxTree::next(int from, std::int32_t at_least) const {
  if (from >= leaves_) return leaves_;
  auto i = static_cast<std::size_t>(size_ + from);
  while (tree_[i] < at_least) {
    while (i & 1) i /= 2;  // a right child: everything below its parent has been seen
    if (i == 0) return leaves_;
    ++i;
  }
  while (i < static_cast<std::size_t>(size_)) {
    i *= 2;
    if (tree_[i] < at_least) ++i;
  }
  return static_cast<int>(i) - size_;
}

LiveCluster::LiveCluster(const Machine& machine, Index index)
    : machine_(&machine), index_(index), state_(machine.empty()), free_cores_(machine.cores()) {
  if (index_ == Index::NextFree) next_free_.reset(machine.nodes());
  for (int node = 0; node < machine.nodes(); ++node) {
    if (index_ == Index::NextFree) next_free_.set(node, static_cast<std::int32_t>(machine.total(node, 0)));
    if (index_ == Index::ByFree) by_free_.emplace(machine.total(node, 0), node);
  }
}

Amount LiveCluster::change(const Shape& shape, const Shares& shares, int sign) {
  const auto stride = static_cast<std::size_t>(machine_->resources());
  if (index_ == Index::ByFree)
    for (const Share& share : shares)
      by_free_.erase({state_.free[static_cast<std::size_t>(share.node) * stride], share.node});
  const Amount cores = machine_->apply(state_, shape, shares, sign);
  for (const Share& share : shares) {
    const Amount free = state_.free[static_cast<std::size_t>(share.node) * stride];
    if (index_ == Index::ByFree) by_free_.emplace(free, share.node);
    if (index_ == Index::NextFree) next_free_.set(share.node, static_cast<std::int32_t>(free));
  }
  free_cores_ += sign * cores;
  return cores;
}

}  // namespace schedlab
