#include "machine.hpp"

#include <algorithm>
#include <bit>

namespace schedlab {

Machine::Machine(std::vector<std::string> resources, std::vector<Group> groups, std::unique_ptr<Budget> budget)
    : resource_names_(std::move(resources)),
      resources_(static_cast<int>(resource_names_.size())),
      groups_(std::move(groups)),
      budget_(std::move(budget)) {
  for (int r = 0; r < resources_; ++r) {
    if (resource_names_[static_cast<std::size_t>(r)] == "memory") memory_ = r;
    if (resource_names_[static_cast<std::size_t>(r)] == "gpus") gpus_ = r;
  }
  for (const Group &group : groups_) {
    group_first_.push_back(nodes_);
    nodes_ += group.count;
    total_cores_ += group.count * group.resources[0];
    uniform_ = uniform_ && group.resources == groups_[0].resources;
    for (int i = 0; i < group.count; ++i)
      totals_.free.insert(totals_.free.end(), group.resources.begin(), group.resources.end());
  }
  totals_.jobs.assign(static_cast<std::size_t>(nodes_), 0);
  if (!budget_) return;
  for (std::size_t g = 0; g < groups_.size(); ++g)
    budget_->group_of_node.insert(budget_->group_of_node.end(), static_cast<std::size_t>(groups_[g].count),
                                  static_cast<std::int32_t>(g));
  capped_ = budget_->limited();
  counting_ = budget_->by_cores();
  least_per_core_ = budget_->least_per_core();
  totals_.spending.cores.assign(static_cast<std::size_t>(nodes_), 0);
  totals_.spending.modes.assign(static_cast<std::size_t>(nodes_), NodeMode::Up);
  for (int node = 0; node < nodes_; ++node) totals_.spending.taken += budget_->of(node).taken(NodeMode::Up, 0);
}

void Machine::prepare(Request &request, bool all_exclusive, bool contiguous) const {
  request.exclusive = request.exclusive || all_exclusive;
  request.cores = request.chunk[0];
  request.memory = memory_ < 0 ? 0 : request.chunk[static_cast<std::size_t>(memory_)];
  request.gpus = gpus_ < 0 ? 0 : request.chunk[static_cast<std::size_t>(gpus_)];
  const bool anywhere = std::all_of(request.groups.begin(), request.groups.end(), [](bool yes) { return yes; });
  const bool only_cores = std::all_of(request.chunk.begin() + 1, request.chunk.end(), [](Amount a) { return a == 0; });
  request.plain = request.cores == 1 && only_cores && anywhere && !request.per_node_min && !request.per_node_max &&
                  request.exclusive == all_exclusive;
  request.loose = request.plain && !request.exclusive;
  request.countable = request.plain && !contiguous && (!capped_ || (counting_ && !request.exclusive));
  Amount run = 0;  // chunks on neighbouring usable nodes: what `contiguous` can hope for
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const int first = group_first_[g], last = first + groups_[g].count;
    const Amount one = request.groups[g] ? capacity(totals_, first, request) : 0;
    run = one == 0 ? 0 : run + one * groups_[g].count;
    request.largest = contiguous ? std::max(request.largest, run) : request.largest + one * groups_[g].count;
    if (!request.groups[g]) continue;
    if (!request.ranges.empty() && request.ranges.back().second == first)
      request.ranges.back().second = last;
    else
      request.ranges.emplace_back(first, last);
  }
}

Amount Machine::room(const Amount *free, Amount jobs, const Request &request) const {
  if (jobs >= NodeState::kExclusive || (request.exclusive && jobs > 0)) return 0;
  if (request.plain) return free[0];
  Amount chunks = request.per_node_max ? request.per_node_max : INT32_MAX;
  for (int r = 0; r < resources_; ++r) {
    const Amount wanted = request.chunk[static_cast<std::size_t>(r)];
    if (wanted > 0) chunks = std::min(chunks, wanted == 1 ? free[r] : free[r] / wanted);
  }
  return chunks;
}

Amount Machine::capacity(const NodeState &state, int node, const Request &request) const {
  const Amount chunks = room(state, node, request);
  return chunks < request.per_node_min ? 0 : chunks;
}

bool Machine::has_room(const Amount *free, Amount jobs, const Request &request, const Amount *amounts) const {
  if (jobs >= NodeState::kExclusive || (request.exclusive && jobs > 0)) return false;
  for (int r = 0; r < resources_; ++r)
    if (amounts[r] > free[r]) return false;
  return true;
}

Amount Machine::chunks_in(const Amount *amounts, const Request &request) const {
  Amount chunks = INT32_MAX;
  for (int r = 0; r < resources_; ++r)
    if (const Amount wanted = request.chunk[static_cast<std::size_t>(r)]; wanted > 0)
      chunks = std::min(chunks, amounts[r] / wanted);
  return chunks;
}

void Machine::apply(NodeState &state, const Request &request, const Share &share, int sign,
                    const Amount *granted) const {
  if (budget_) spend(state.spending, share.node, granted ? granted[0] : share.chunks * request.cores, sign);
  const auto node = static_cast<std::size_t>(share.node);
  Amount *free = &state.free[node * static_cast<std::size_t>(resources_)];
  if (request.exclusive) {
    const Amount *total = &totals_.free[node * static_cast<std::size_t>(resources_)];
    for (int r = 0; r < resources_; ++r) free[r] += sign * total[r];
    state.jobs[node] -= sign * (NodeState::kExclusive + 1);
  } else if (granted) [[unlikely]] {
    for (int r = 0; r < resources_; ++r) free[r] += sign * granted[r];
    state.jobs[node] -= sign;
  } else {
    for (int r = 0; r < resources_; ++r) free[r] += sign * share.chunks * request.chunk[static_cast<std::size_t>(r)];
    state.jobs[node] -= sign;
  }
}

void Machine::apply(NodeState &state, const Request &request, const Shares &shares, int sign,
                    const Granted *granted) const {
  for (std::size_t i = 0; i < shares.size(); ++i)
    apply(state, request, shares[i], sign, granted ? granted->on(i) : nullptr);
}

[[gnu::noinline]] void Machine::spend(Spending &spending, int node, Amount cores, int sign) const {
  const auto i = static_cast<std::size_t>(node);
  const BudgetRates &rates = budget_->of(node);
  const Amount before = rates.taken(spending.modes[i], spending.cores[i]);
  spending.cores[i] -= sign * cores;
  spending.taken += rates.taken(spending.modes[i], spending.cores[i]) - before;
}

void Machine::set_mode(Spending &spending, int node, NodeMode mode) const {
  const auto i = static_cast<std::size_t>(node);
  const BudgetRates &rates = budget_->of(node);
  spending.taken += rates.taken(mode, spending.cores[i]) - rates.taken(spending.modes[i], spending.cores[i]);
  spending.modes[i] = mode;
}

[[gnu::noinline]] bool Machine::within_limit(const Spending &spending, const Request &request, const Shares &shares,
                                             const Granted *granted) const {
  Amount taken = spending.taken;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const auto node = static_cast<std::size_t>(shares[i].node);
    const BudgetRates &rates = budget_->of(shares[i].node);
    const Amount cores = granted ? granted->on(i)[0] : shares[i].chunks * request.cores;
    taken += rates.taken(spending.modes[node], spending.cores[node] + cores) -
             rates.taken(spending.modes[node], spending.cores[node]);
  }
  return taken <= budget_->limit;
}

Amount Machine::affordable_cores(const Spending &spending) const {
  const Amount left = budget_->limit - spending.taken;
  if (least_per_core_ <= 0) return total_cores_;
  return left >= 0 ? left / least_per_core_ : -((-left + least_per_core_ - 1) / least_per_core_);
}

NodeSet::NodeSet(int nodes)
    : nodes_(nodes), words_(static_cast<std::size_t>(nodes) / 64 + 1), summary_(words_.size() / 64 + 1) {}

int NodeSet::next(int from) const {
  if (from >= nodes_) return nodes_;
  const auto i = static_cast<std::size_t>(from);
  if (const std::uint64_t rest = words_[i / 64] >> (i % 64)) return from + std::countr_zero(rest);
  const std::size_t word = i / 64 + 1;
  if (word == words_.size()) return nodes_;
  std::size_t block = word / 64;
  std::uint64_t rest = summary_[block] >> (word % 64) << (word % 64);
  while (rest == 0) {
    if (++block == summary_.size()) return nodes_;
    rest = summary_[block];
  }
  const std::size_t found = block * 64 + static_cast<std::size_t>(std::countr_zero(rest));
  return static_cast<int>(found * 64) + std::countr_zero(words_[found]);
}

int FreeNodes::next(int from, Amount at_least) const {
  for (auto level = levels_.rbegin(); level != levels_.rend(); ++level)
    if (level->cores <= at_least) return level->nodes.next(from);
  return from;  // a request for no cores: any node may do
}

bool FreeNodes::agrees(const Machine &machine, const NodeState &state) const {
  for (const Level &level : levels_)
    for (int node = 0; node < machine.nodes(); ++node) {
      const bool has = state.free[static_cast<std::size_t>(node * machine.resources())] >= level.cores;
      if (level.nodes.has(node) != has || (level.nodes.next(node) == node) != has) return false;
    }
  return true;
}

void FreeNodes::expect(Amount at_least, const Machine &machine, const NodeState &state) {
  if (at_least <= 0) return;
  const auto cores = static_cast<Amount>(std::bit_floor(static_cast<std::uint64_t>(at_least)));
  const auto at = std::find_if(levels_.begin(), levels_.end(), [&](const Level &l) { return l.cores >= cores; });
  if (at != levels_.end() && at->cores == cores) return;
  Level level{cores, NodeSet(machine.nodes())};
  for (int node = 0; node < machine.nodes(); ++node)
    if (state.free[static_cast<std::size_t>(node * machine.resources())] >= cores) level.nodes.insert(node);
  levels_.insert(at, std::move(level));
}

LiveCluster::LiveCluster(const Machine &machine, Index index)
    : machine_(&machine), index_(index), state_(machine.empty()), free_cores_(machine.cores()) {
  if (index_ == Index::ByFree)
    for (int node = 0; node < machine.nodes(); ++node) by_free_.emplace(machine.total(node, 0), node);
  withhold();
}

[[gnu::noinline]] void LiveCluster::withhold() {
  if (machine_->capped()) withheld_ = std::max<Amount>(free_cores_ - machine_->affordable_cores(state_.spending), 0);
}

[[gnu::noinline]] void LiveCluster::spend(const Request &request, const Shares &shares, int sign) {
  for (const Share &share : shares) machine_->spend(state_.spending, share.node, share.chunks * request.cores, sign);
  withhold();
}

void LiveCluster::set_mode(int node, NodeMode mode) {
  if (!machine_->budget()) return;
  machine_->set_mode(state_.spending, node, mode);
  withhold();
}

void LiveCluster::expect(const Request &request) {
  if (index_ == Index::FreeNodes) free_nodes_.expect(request.node_cores(), *machine_, state_);
}

void LiveCluster::close(int node) {
  if (closed_.empty()) {
    closed_.resize(static_cast<std::size_t>(machine_->nodes()));
    hidden_.resize(state_.free.size());
  }
  show(node, false);
}

void LiveCluster::open(int node) { show(node, true); }

// Moves what is free on the node out of sight, or back.
void LiveCluster::show(int node, bool visible) {
  const auto stride = static_cast<std::size_t>(machine_->resources()), first = static_cast<std::size_t>(node) * stride;
  const Amount before = state_.free[first];
  for (std::size_t r = first; r < first + stride; ++r) std::swap(state_.free[r], hidden_[r]);
  const Amount after = state_.free[first];
  free_cores_ += after - before;
  state_.jobs[static_cast<std::size_t>(node)] += visible ? -NodeState::kExclusive : NodeState::kExclusive;
  if (index_ == Index::FreeNodes) free_nodes_.change(node, before, after);
  if (index_ == Index::ByFree) by_free_.erase({before, node}), by_free_.emplace(after, node);
  closed_[static_cast<std::size_t>(node)] = !visible;
  closed_nodes_ += visible ? -1 : 1;
  simple_ = closed_nodes_ == 0 && !log_;
  if (log_) log_->add(node);
  withhold();
}

NodeState LiveCluster::opened() const {
  NodeState state = state_;
  const auto stride = static_cast<std::size_t>(machine_->resources());
  for (int node = 0; closed_nodes_ > 0 && node < machine_->nodes(); ++node)
    if (closed(node)) {
      const auto first = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(node) * stride);
      std::copy_n(hidden_.begin() + first, stride, state.free.begin() + first);
      state.jobs[static_cast<std::size_t>(node)] -= NodeState::kExclusive;
    }
  return state;
}

NodeState LiveCluster::unoccupied() const {
  NodeState state = machine_->empty();
  const auto stride = static_cast<std::size_t>(machine_->resources());
  for (int node = 0; closed_nodes_ > 0 && node < machine_->nodes(); ++node)
    if (closed(node)) {
      std::fill_n(state.free.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(node) * stride), stride, 0);
      state.jobs[static_cast<std::size_t>(node)] = NodeState::kExclusive;
      if (machine_->budget())
        machine_->set_mode(state.spending, node, state_.spending.modes[static_cast<std::size_t>(node)]);
    }
  return state;
}

Amount LiveCluster::change(const Request &request, const Shares &shares, int sign) {
  const auto stride = static_cast<std::size_t>(machine_->resources());
  if (stride == 1 && !request.exclusive && index_ == Index::FreeNodes && simple_) {  // the common case
    Amount *free = state_.free.data();
    std::int32_t *jobs = state_.jobs.data();
    const Amount each = sign * request.cores;
    Amount chunks = 0;
    NodeSet *const with_any = free_nodes_.with_any();
    if (with_any && each > 0) {
      for (const Share &share : shares) {
        free[share.node] += each * share.chunks;
        --jobs[share.node];
        chunks += share.chunks;
        with_any->insert(share.node);
      }
    } else {
      for (const Share &share : shares) {
        const Amount before = free[share.node], after = before + each * share.chunks;
        free[share.node] = after;
        jobs[share.node] -= sign;
        chunks += share.chunks;
        free_nodes_.change(share.node, before, after);
      }
    }
    free_cores_ += each * chunks;
    if (machine_->budget()) [[unlikely]]
      spend(request, shares, sign);
    return request.cores * chunks;
  }
  return change_any(request, shares, sign, nullptr);
}

// flatten: the compiler would not inline the vector's push_back, which then takes longer than all the rest.
[[gnu::flatten]] void LiveCluster::take_first(Amount cores, Shares &shares) {
  NodeSet &nodes = *free_nodes_.with_any();
  Amount *free = state_.free.data();
  std::int32_t *jobs = state_.jobs.data();
  free_cores_ -= cores;
  shares.clear();
  for (;;) {
    const std::size_t w = nodes.first_word();
    std::uint64_t left = nodes.word(w);
    do {
      const auto node = static_cast<int>(w * 64) + std::countr_zero(left);
      const Amount here = std::min(free[node], cores);
      shares.push_back({node, static_cast<std::int32_t>(here)});
      ++jobs[node];
      free[node] -= here, cores -= here;
      if (free[node] > 0) break;
      left &= left - 1;
    } while (left && cores > 0);
    nodes.set_word(w, left);
    if (cores == 0) return;
  }
}

Amount LiveCluster::take(const Request &request, const Shares &shares, const Granted &granted) {
  devices_.change(shares, granted, true);
  return change_any(request, shares, -1, &granted);
}

Amount LiveCluster::give_back(const Request &request, const Shares &shares, const Granted &granted) {
  devices_.change(shares, granted, false);
  return change_any(request, shares, +1, &granted);
}

// On any machine, of anything.
Amount LiveCluster::change_any(const Request &request, const Shares &shares, int sign, const Granted *granted) {
  const auto stride = static_cast<std::size_t>(machine_->resources());
  const auto free_on = [&](const Share &share) { return state_.free[static_cast<std::size_t>(share.node) * stride]; };
  Amount cores = 0, out_of_sight = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const Share &share = shares[i];
    const Amount *amounts = granted ? granted->on(i) : nullptr;
    if (log_) log_->add(share.node);
    if (closed(share.node)) {  // its job ends, or moves: nobody gets to see what becomes free
      const auto first = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(share.node) * stride);
      const auto swap = [&] {
        std::swap_ranges(state_.free.begin() + first, state_.free.begin() + first + static_cast<std::ptrdiff_t>(stride),
                         hidden_.begin() + first);
      };
      swap();
      const Amount free = free_on(share);
      machine_->apply(state_, request, share, sign, amounts);
      out_of_sight += free_on(share) - free;
      swap();
      continue;
    }
    const Amount before = free_on(share);
    machine_->apply(state_, request, share, sign, amounts);
    const Amount after = free_on(share);
    cores += after - before;
    if (index_ == Index::FreeNodes) free_nodes_.change(share.node, before, after);
    if (index_ == Index::ByFree) by_free_.erase({before, share.node}), by_free_.emplace(after, share.node);
  }
  free_cores_ += cores;
  if (machine_->budget()) withhold();
  return sign * (cores + out_of_sight);
}

}  // namespace schedlab
