// Keeping the plan by nodes: jobs come and go, and what they take of the machine's budget.
#include "node_plan.hpp"

namespace schedlab {

void NodePlan::reset() {
  now_ = view_.now();
  NodeState state = view_.cluster().unoccupied();
  open_what_the_calendar_closes(state);
  nodes_.resize(state.jobs.size());
  std::vector<Amount> row(width(), 0);
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    std::copy_n(&state.free[node * resources()], resources(), row.begin());
    row[resources()] = state.jobs[node];
    nodes_[node].assign(now_, row);
  }
  if (capped()) taken_.assign(now_, {&state.spending.taken, 1}), modes_ = state.spending.modes;
  known_.clear();
  forgotten_ += freed_.size() + 1;  // whatever was found before counts for nothing
  freed_.clear();
  worked(nodes_.size());
  const EstimatedEnds &ends = view_.estimated_ends();
  for (EstimatedEnds::Position p; !ends.at_end(p); p = ends.next(p)) {
    const Job &job = view_.job(ends[p].slot);
    occupy(job, job.shares, now_, ends[p].end);
  }
}

// The calendar says until when nobody may be there: a node that is closed for that time is planned with.
void NodePlan::open_what_the_calendar_closes(NodeState &state) const {
  if (!view_.has_calendar() || view_.cluster().closed_nodes() == 0) return;
  const std::size_t stride = resources();
  for (int node = 0; node < view_.machine().nodes(); ++node) {
    if (!view_.opens_after_window(node)) continue;
    const std::size_t first = static_cast<std::size_t>(node) * stride;
    for (std::size_t k = 0; k < stride; ++k) state.free[first + k] = view_.machine().empty().free[first + k];
    state.jobs[static_cast<std::size_t>(node)] = 0;
  }
}

// The one place that says what a job has on a node, as a row of the plan; sign -1 takes it, +1 gives it back.
void NodePlan::amounts(const Job &job, const Shares &shares, std::size_t i, int sign, std::vector<Amount> &row) const {
  const Request &request = *job.request;
  const Share &share = shares[i];
  const Amount *granted = job.granted ? job.granted->on(i) : nullptr;
  for (std::size_t r = 0; r < resources(); ++r)
    row[r] = sign * (request.exclusive ? view_.machine().total(share.node, static_cast<int>(r))
                     : granted         ? granted[r]
                                       : share.chunks * request.chunk[r]);
  row[resources()] = -sign * (request.exclusive ? NodeState::kExclusive + 1 : 1);
  if (capped()) row[resources() + 1] = -sign * cores_on(job, shares, i);
}

// That count for the budget.
Amount NodePlan::cores_on(const Job &job, const Shares &shares, std::size_t i) const {
  return job.granted ? job.granted->on(i)[0] : shares[i].chunks * job.request->cores;
}

void NodePlan::occupy(const Job &job, const Shares &shares, Time from, Time until) {
  add(job, shares, from, until, -1);
}

void NodePlan::vacate(const Job &job, const Shares &shares, Time from, Time until) {
  known_.clear();
  add(job, shares, from, until, +1);
}

void NodePlan::add(const Job &job, const Shares &shares, Time from, Time until, int sign) {
  from = std::max(from, now_);
  if (!(until > from)) return;
  if (capped()) taken_.forget_before(now_);
  std::vector<Amount> row(width());
  for (std::size_t i = 0; i < shares.size(); ++i) {
    amounts(job, shares, i, sign, row);
    Steps &steps = nodes_[static_cast<std::size_t>(shares[i].node)];
    steps.forget_before(now_);
    if (capped()) spend(shares[i].node, from, until, row.back());
    worked(1 + steps.add(from, until, row));
  }
}

// What so many more cores in use on the node take of the budget depends on those that are in use there already.
void NodePlan::spend(int node, Time from, Time until, Amount cores) {
  const BudgetRates &rates = view_.machine().budget()->of(node);
  const NodeMode mode = modes_[static_cast<std::size_t>(node)];
  const Steps &there = steps(node);
  for (std::size_t i = there.at(from); i < there.size() && there.begin(i) < until; ++i) {
    const Amount used = there.row(i)[resources() + 1];
    const Amount more = rates.taken(mode, used + cores) - rates.taken(mode, used);
    if (more != 0) worked(taken_.add(std::max(there.begin(i), from), std::min(there.end(i), until), {&more, 1}));
  }
}

// Does the machine's budget allow it there at every moment?
bool NodePlan::affords(const Job &job, const Shares &shares, Time from, Time until) const {
  if (!capped()) return true;
  const Budget &budget = *view_.machine().budget();
  Amount own = 0;
  std::vector<std::pair<Time, Amount>> changes;  // of what the job itself would take
  for (std::size_t s = 0; s < shares.size(); ++s) {
    const Share &share = shares[s];
    const Amount cores = cores_on(job, shares, s);
    const Steps &there = steps(share.node);
    const auto takes = [&](std::size_t i) {
      const BudgetRates &rates = budget.of(share.node);
      const NodeMode mode = modes_[static_cast<std::size_t>(share.node)];
      const Amount used = there.row(i)[resources() + 1];
      return rates.taken(mode, used + cores) - rates.taken(mode, used);
    };
    std::size_t i = there.at(from);
    own += takes(i);
    for (++i; i < there.size() && there.begin(i) < until; ++i)
      changes.emplace_back(there.begin(i), takes(i) - takes(i - 1));
    worked(i);
  }
  std::sort(changes.begin(), changes.end());
  std::size_t level = taken_.at(from), next = 0;
  for (;;) {
    if (taken_.row(level)[0] + own > budget.limit) return false;
    const Time others = taken_.end(level), its = next < changes.size() ? changes[next].first : kNever;
    const Time time = std::min(others, its);
    if (!(time < until)) return true;
    for (; next < changes.size() && changes[next].first == time; ++next) own += changes[next].second;
    if (others == time) ++level;
    worked(1);
  }
}

// Remembers a place that others may want. So many that everybody has to look everywhere anyway are not kept.
void NodePlan::freed(const Shares &shares, Time from, Time until) {
  if (!(until > now_)) return;
  for (const Share &share : shares) freed_.push_back({share.node, std::max(from, now_), until});
  const std::size_t most = 1024 + 4 * nodes_.size();
  if (freed_.size() <= most) return;
  const std::size_t old = freed_.size() - most / 2;
  freed_.erase(freed_.begin(), freed_.begin() + static_cast<std::ptrdiff_t>(old));
  forgotten_ += old;
}

std::unique_ptr<Plan> Plan::by_nodes(const View &view) { return std::make_unique<NodePlan>(view); }

}  // namespace schedlab
