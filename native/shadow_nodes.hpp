// A copy of the nodes in which running jobs leave and others come, as they will until a shadow time. Made anew again
// and again: only nodes that have changed in between are copied.
#pragma once

#include "engine.hpp"

namespace schedlab {

class ShadowNodes {
 public:
  const NodeState &state() const { return state_; }

  // As they are now.
  void catch_up(const View &view) {
    const LiveCluster &cluster = view.cluster();
    machine_ = &view.machine();
    const NodeLog &log = cluster.log();
    if (state_.free.empty() || !log.reaches(seen_) || machine_->budget()) {
      view.worked(machine_->nodes());
      state_ = cluster.state();
      sums_.clear(), undo_.clear();
    } else {
      for (; !undo_.empty(); undo_.pop_back()) copy_row(undo_.back().free.data(), undo_.back().jobs, undo_.back().node);
      for (std::uint64_t i = seen_; i < log.end(); ++i) follow(cluster.state(), log[i]);
      view.worked(static_cast<std::int64_t>(log.end() - seen_));
    }
    seen_ = log.end();
  }

  // How many chunks they could take, all together, before anything was applied. (Few requests are asked for often.)
  Amount capacity(const View &view, const Request &request) {
    for (const Sum &sum : sums_)
      if (sum.request == &request) return sum.capacity;
    view.worked(machine_->nodes());
    Sum sum{&request, 0};
    for (const auto &[first, last] : request.ranges)
      for (int node = first; node < last; ++node) sum.capacity += machine_->capacity(state_, node, request);
    if (sums_.size() >= kRemembered) sums_.erase(sums_.begin());
    sums_.push_back(sum);
    return sum.capacity;
  }

  void apply(const Request &request, const Shares &shares, int sign, const Granted *granted = nullptr) {
    if (!machine_->budget())
      for (const Share &share : shares) {
        const Amount *free = row(state_, share.node);
        undo_.push_back(
            {share.node, state_.jobs[static_cast<std::size_t>(share.node)], {free, free + machine_->resources()}});
      }
    machine_->apply(state_, request, shares, sign, granted);
  }

 private:
  static constexpr std::size_t kRemembered = 16;
  struct Sum {
    const Request *request;
    Amount capacity;
  };
  struct Row {
    int node;
    std::int32_t jobs;
    std::vector<Amount> free;
  };

  const Amount *row(const NodeState &state, int node) const {
    return &state.free[static_cast<std::size_t>(node) * static_cast<std::size_t>(machine_->resources())];
  }
  void copy_row(const Amount *free, std::int32_t jobs, int node) {
    std::copy_n(free, machine_->resources(), const_cast<Amount *>(row(state_, node)));
    state_.jobs[static_cast<std::size_t>(node)] = jobs;
  }
  void follow(const NodeState &live, int node) {
    for (Sum &sum : sums_)
      if (sum.request->may_use(node)) sum.capacity -= machine_->capacity(state_, node, *sum.request);
    copy_row(row(live, node), live.jobs[static_cast<std::size_t>(node)], node);
    for (Sum &sum : sums_)
      if (sum.request->may_use(node)) sum.capacity += machine_->capacity(state_, node, *sum.request);
  }

  const Machine *machine_ = nullptr;
  NodeState state_;
  std::uint64_t seen_ = 0;  // of the live cluster's log
  std::vector<Sum> sums_;
  std::vector<Row> undo_;  // rows as they were before something was applied, the first one first
};

}  // namespace schedlab
