// Who is on each node, in the order of starting. Kept from the moment on that somebody asks.
#pragma once

#include <algorithm>
#include <utility>

#include "types.hpp"

namespace schedlab {

class Occupants {
 public:
  explicit Occupants(int nodes) : on_(static_cast<std::size_t>(nodes)), marked_(static_cast<std::size_t>(nodes)) {}

  const std::vector<Slot> &on(int node) const { return on_[static_cast<std::size_t>(node)]; }

  void move(Slot slot, const Shares &shares, bool onto) {
    for (const Share &share : shares) {
      std::vector<Slot> &there = on_[static_cast<std::size_t>(share.node)];
      if (onto)
        there.push_back(slot);
      else
        there.erase(std::find(there.begin(), there.end(), slot));
      if (watched_ && !marked_[static_cast<std::size_t>(share.node)]) {
        marked_[static_cast<std::size_t>(share.node)] = true;
        changed_.push_back(share.node);
      }
    }
  }

  // Nodes on which somebody came or went since they were last taken.
  void watch() { watched_ = true; }
  std::vector<int> take_changed() {
    for (const int node : changed_) marked_[static_cast<std::size_t>(node)] = false;
    return std::exchange(changed_, {});
  }

 private:
  std::vector<std::vector<Slot>> on_;
  bool watched_ = false;
  std::vector<bool> marked_;
  std::vector<int> changed_;
};

}  // namespace schedlab
