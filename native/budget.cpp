#include "budget.hpp"

#include <algorithm>

namespace schedlab {

Amount Budget::least_per_core() const {
  Amount least = std::numeric_limits<Amount>::max();
  for (const BudgetRates &group : rates) least = std::min(least, group.per_core);
  return least;
}

bool Budget::by_cores() const {
  return std::all_of(rates.begin(), rates.end(), [&](const BudgetRates &group) {
    return group.per_core == rates[0].per_core && group.per_core > 0 && group.active == group.idle[0];
  });
}

// noinline, here and below: most runs have no budget, and their hot paths, which are flattened, are to stay short.

BudgetBooks::BudgetBooks(const Budget &budget)
    : budget_(budget),
      per_core_(budget.group_of_node.size(), 0.0),
      since_(budget.group_of_node.size(), 0.0),
      peak_(std::numeric_limits<Amount>::min()) {}

[[gnu::noinline]] void BudgetBooks::pass_time(Time now, const Spending &spending) {
  if (last_ == kNever) {
    levels_.push_back({now, spending.taken});
  } else if (now > last_) {
    peak_ = std::max(peak_, spending.taken);
    total_ += static_cast<double>(spending.taken) * (now - last_);
  }
  last_ = now;
}

// A core's cost on the node until now: its own, and its share of what the node takes because it has jobs at all.
void BudgetBooks::settle(Time now, const Spending &spending, int node) {
  const auto i = static_cast<std::size_t>(node);
  if (const Amount cores = spending.cores[i]; cores > 0) {
    const BudgetRates &rates = budget_.of(node);
    per_core_[i] +=
        (static_cast<double>(rates.active) / static_cast<double>(cores) + static_cast<double>(rates.per_core)) *
        (now - since_[i]);
  }
  since_[i] = now;
}

[[gnu::noinline]] void BudgetBooks::before(Time now, const Spending &spending, const Shares &shares) {
  pass_time(now, spending);
  for (const Share &share : shares) settle(now, spending, share.node);
}

[[gnu::noinline]] void BudgetBooks::before(Time now, const Spending &spending, int node) {
  pass_time(now, spending);
  settle(now, spending, node);
}

[[gnu::noinline]] void BudgetBooks::after(Time now, const Spending &spending) {
  if (levels_.back().time == now)
    levels_.back().taken = spending.taken;
  else if (levels_.back().taken != spending.taken)
    levels_.push_back({now, spending.taken});
}

double BudgetBooks::cost(const Shares &shares, Amount cores_per_chunk, const Granted *granted) const {
  double sum = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const Amount cores = granted ? granted->on(i)[0] : shares[i].chunks * cores_per_chunk;
    sum += static_cast<double>(cores) * per_core_[static_cast<std::size_t>(shares[i].node)];
  }
  return sum;
}

[[gnu::noinline]] void BudgetBooks::begin(Slot slot, const Shares &shares, Amount cores_per_chunk,
                                          const Granted *granted) {
  if (slot >= begun_.size()) begun_.resize(slot + 1);
  begun_[slot] = cost(shares, cores_per_chunk, granted);
}

[[gnu::noinline]] void BudgetBooks::end(Slot slot, std::int64_t sequence, const Shares &shares, Amount cores_per_chunk,
                                        const Granted *granted) {
  stays_.push_back({sequence, cost(shares, cores_per_chunk, granted) - begun_[slot]});
}

}  // namespace schedlab
