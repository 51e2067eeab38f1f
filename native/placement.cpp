#include "placement.hpp"

#include <algorithm>
#include <queue>
#include <tuple>

namespace schedlab {

namespace {

// Gives the node what it can take of the rest. True when nothing is left to place.
inline bool fill(Shares &shares, int node, Amount capacity, Amount &rest) {
  if (capacity > 0) {
    const Amount chunks = std::min(capacity, rest);
    shares.push_back({node, static_cast<std::int32_t>(chunks)});
    rest -= chunks;
  }
  return rest == 0;
}

bool fill_in_order(const std::vector<Candidate> &candidates, Amount rest, Shares &shares) {
  for (const Candidate &c : candidates)
    if (fill(shares, c.node, c.capacity, rest)) return true;
  return false;
}

// One chunk (or per_node_min chunks) at a time to the node with most free cores left. The heap's top is that node.
bool spread(const std::vector<Candidate> &candidates, const Request &request, Amount rest, Shares &shares) {
  using Entry = std::tuple<Amount, int, std::size_t>;  // free cores left, -node, candidate
  std::priority_queue<Entry> heap;
  std::vector<Amount> given(candidates.size(), 0);
  for (std::size_t i = 0; i < candidates.size(); ++i) heap.emplace(candidates[i].free, -candidates[i].node, i);
  const Amount step = std::max<Amount>(request.per_node_min, 1);
  while (rest > 0 && !heap.empty()) {
    const auto [free, key, i] = heap.top();
    heap.pop();
    const Amount chunks = std::min({step, rest, candidates[i].capacity - given[i]});
    given[i] += chunks, rest -= chunks;
    if (given[i] < candidates[i].capacity) heap.emplace(free - chunks * request.cores, key, i);
  }
  for (std::size_t i = 0; i < candidates.size(); ++i)
    if (given[i] > 0) shares.push_back({candidates[i].node, static_cast<std::int32_t>(given[i])});
  return rest == 0;
}

bool contiguous(const std::vector<Candidate> &candidates, Amount count, Shares &shares) {
  std::size_t first = 0;
  Amount sum = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (i > 0 && candidates[i].node != candidates[i - 1].node + 1) first = i, sum = 0;
    sum += candidates[i].capacity;
    if (sum < count) continue;
    for (Amount rest = count; first <= i; ++first)
      if (fill(shares, candidates[first].node, candidates[first].capacity, rest)) return true;
  }
  return false;
}

}  // namespace

Placement::Placement(const std::string &name, std::uint64_t seed, Chooser chooser, double threshold)
    : seed_(seed), chooser_(std::move(chooser)), threshold_(threshold) {
  if (name == "first-fit")
    kind_ = Kind::FirstFit;
  else if (name == "best-fit")
    kind_ = Kind::BestFit;
  else if (name == "spread")
    kind_ = Kind::Spread;
  else if (name == "contiguous")
    kind_ = Kind::Contiguous;
  else if (name == "random")
    kind_ = Kind::Random;
  else if (name == "occupied-first")
    kind_ = Kind::OccupiedFirst;
  else if (name == "best-pair")
    kind_ = Kind::BestPair;
  else
    throw std::invalid_argument("unknown placement: " + name);
  by_company_ = !chooser_ && (kind_ == Kind::OccupiedFirst || kind_ == Kind::BestPair || threshold_ > 0);
  by_the_moment_ = chooser_ || by_company_;
}

LiveCluster::Index Placement::index() const {
  if (kind_ == Kind::FirstFit) return LiveCluster::Index::FreeNodes;
  return kind_ == Kind::BestFit ? LiveCluster::Index::ByFree : LiveCluster::Index::None;
}

// flatten: the compiler would not inline the vector's push_back, which then takes longer than all the rest.
[[gnu::flatten]] bool Placement::first_fit(const LiveCluster &cluster, const Request &request, Amount count,
                                           Shares &shares) const {
  const Machine &machine = cluster.machine();
  const FreeNodes &nodes = cluster.free_nodes();
  const Amount needed = request.node_cores();
  if (request.plain && !request.exclusive) {  // single cores, anywhere: a node's capacity is what is free there
    const Amount *free = cluster.state().free.data();
    const int stride = machine.resources(), end = machine.nodes();
    for (int node = nodes.next(0, needed); node < end; node = nodes.next(node + 1, needed)) {
      const auto chunks = static_cast<std::int32_t>(std::min(free[node * stride], count));
      shares.push_back({node, chunks});
      count -= chunks;
      if (count == 0) return true;
    }
    return false;
  }
  for (const auto &[first, last] : request.ranges)
    for (int node = nodes.next(first, needed); node < last; node = nodes.next(node + 1, needed))
      if (fill(shares, node, machine.capacity(cluster.state(), node, request), count)) return true;
  return false;
}

bool Placement::by_free(const LiveCluster &cluster, const Request &request, Amount count, Shares &shares) const {
  const Machine &machine = cluster.machine();
  for (auto it = cluster.by_free().lower_bound({request.cores, 0}); it != cluster.by_free().end(); ++it) {
    const int node = it->second;
    if (request.may_use(node) && fill(shares, node, machine.capacity(cluster.state(), node, request), count))
      return true;
  }
  return false;
}

bool Placement::place(const LiveCluster &cluster, const Request &request, Amount count, std::int64_t sequence,
                      Shares &shares) const {
  shares.clear();
  if (count * request.cores > cluster.usable_cores()) return false;
  switch (kind_) {
    case Kind::FirstFit:
      return first_fit(cluster, request, count, shares);
    case Kind::BestFit:
      return by_free(cluster, request, count, shares);
    default:
      return place(cluster.machine(), cluster.state(), request, count, sequence, shares);
  }
}

bool Placement::choose(const Machine &machine, const NodeState &state, Slot slot, const Request &request, Amount count,
                       Shares &shares) const {
  shares.clear();
  Shares offered;
  if (!chooser_(slot, offered)) return false;
  const bool exact = !offered.empty() && offered[0].chunks > 0;
  if (exact) {
    shares = std::move(offered);
    return true;
  }
  for (const Share &share : offered) {
    if (request.may_use(share.node) && fill(shares, share.node, machine.capacity(state, share.node, request), count))
      return true;
  }
  return false;
}

bool Placement::place(const Machine &machine, const NodeState &state, const Request &request, Amount count,
                      std::int64_t sequence, Shares &shares) const {
  std::vector<Candidate> candidates;
  const auto stride = static_cast<std::size_t>(machine.resources());
  Amount sum = 0;
  for (const auto &[first, last] : request.ranges)
    for (int node = first; node < last; ++node)
      if (const Amount capacity = machine.capacity(state, node, request); capacity > 0) {
        candidates.push_back({node, capacity, state.free[static_cast<std::size_t>(node) * stride]});
        sum += capacity;
        if (kind_ == Kind::FirstFit && sum >= count) return place(request, candidates, count, sequence, shares);
      }
  shares.clear();
  return sum >= count && place(request, candidates, count, sequence, shares);
}

bool Placement::place(const Request &request, const std::vector<Candidate> &candidates, Amount count,
                      std::int64_t sequence, Shares &shares) const {
  shares.clear();
  switch (kind_) {
    case Kind::FirstFit:
      return fill_in_order(candidates, count, shares);
    case Kind::Contiguous:
      return contiguous(candidates, count, shares);
    case Kind::Spread:
      if (!request.exclusive) return spread(candidates, request, count, shares);
      break;
    case Kind::BestFit:
    case Kind::Random:
    case Kind::OccupiedFirst:
    case Kind::BestPair:
      break;
  }
  std::vector<Candidate> sorted = candidates;
  if (kind_ == Kind::Spread)
    std::stable_sort(sorted.begin(), sorted.end(), [](auto &a, auto &b) { return a.free > b.free; });
  // Who will be where is not known in a plan: the fewer cores are free, the more jobs are there.
  if (kind_ == Kind::BestFit || kind_ == Kind::OccupiedFirst || kind_ == Kind::BestPair)
    std::stable_sort(sorted.begin(), sorted.end(), [](auto &a, auto &b) { return a.free < b.free; });
  if (kind_ == Kind::Random) {
    const std::uint64_t stream = mix(seed_, static_cast<std::uint64_t>(sequence));
    std::vector<std::pair<std::uint64_t, Candidate>> keyed;
    for (const Candidate &c : candidates) keyed.emplace_back(mix(stream, static_cast<std::uint64_t>(c.node)), c);
    std::sort(keyed.begin(), keyed.end(), [](const auto &a, const auto &b) {
      return std::tie(a.first, a.second.node) < std::tie(b.first, b.second.node);
    });
    for (std::size_t i = 0; i < keyed.size(); ++i) sorted[i] = keyed[i].second;
  }
  return fill_in_order(sorted, count, shares);
}

}  // namespace schedlab
