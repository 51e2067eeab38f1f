// none: start in order, stop at the first that does not fit. skip: go on past it.
#include "policies.hpp"
#include "queue_policy.hpp"

namespace schedlab {

namespace {

class NoBackfill final : public QueuePolicy {
 public:
  using QueuePolicy::QueuePolicy;

  Slot all_wait_for(View &view) override {
    review(view);
    return in_step() && !queue_.empty() ? queue_.front().slot : kNoSlot;
  }
  Why reason(View &view, Slot slot) override {
    if (slot != queue_.front().slot) return {WaitReason::Behind, queue_.front().slot};
    if (const auto obstacle = view.obstacle(slot)) return {*obstacle};
    return view.otherwise(slot, WaitReason::Limit);
  }

 protected:
  void pass(View &view) override {
    while (!queue_.empty() && start(view, queue_.front(), false)) queue_.erase(WaitingList::Position{});
  }
  void arrivals(View &, const std::vector<Waiting> &) override {}  // the first still does not fit
};

class Skip final : public QueuePolicy {
 public:
  explicit Skip(const PolicyChoice &choice) : QueuePolicy(choice), depth_(choice.depth) {}

  Why reason(View &view, Slot slot) override {
    if (const auto obstacle = view.obstacle(slot)) return {*obstacle};
    return view.otherwise(slot, WaitReason::Limit);
  }

 protected:
  bool settles(const View &) const override { return depth_ < 0; }

  void pass(View &view) override {
    std::int64_t examined = -1;  // counted from the first that does not fit
    for (WaitingList::Position p; !queue_.at_end(p) && (depth_ < 0 || examined < depth_);) {
      if (p.index == 0 && examined >= 0 && depth_ < 0 &&
          queue_.summary(p.block).cores > view.cluster().usable_cores()) {
        p = queue_.skip_block(p);
        continue;
      }
      view.worked(view.machine().nodes());
      const bool started = start(view, queue_[p], examined >= 0);
      if (!started || examined >= 0) ++examined;
      p = started ? queue_.erase(p) : queue_.next(p);
    }
  }
  void arrivals(View &view, const std::vector<Waiting> &fresh) override {
    for (const Waiting &who : fresh)
      if (start(view, who, true)) queue_.erase(who);
  }

 private:
  std::int64_t depth_;
};

}  // namespace

std::unique_ptr<Decider> make_in_order(const PolicyChoice &choice) {
  if (choice.backfill == "skip") return std::make_unique<Skip>(choice);
  return std::make_unique<NoBackfill>(choice);
}

}  // namespace schedlab
