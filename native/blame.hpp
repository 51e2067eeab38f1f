// Who would be delayed if a job that fits now were started now, by a plan with reservations.
#pragma once

#include <unordered_map>

#include "plan.hpp"

namespace schedlab {

struct Reservation {
  Slot slot;
  Time start = std::numeric_limits<double>::quiet_NaN();  // not a number: the earliest beside those before it
  Shares shares;
};

class Blame {
 public:
  // Looks at all waiting jobs that nothing else keeps from starting. The reservations count in this order.
  void look(View &view, bool by_nodes, const std::vector<Reservation> &reservations);
  // The first of them that leaves no room for the job, its own aside; kNoSlot if there is none.
  Slot of(Slot slot) const {
    const auto found = delayed_.find(slot);
    return found == delayed_.end() ? kNoSlot : found->second;
  }

 private:
  std::unordered_map<Slot, Slot> delayed_;
};

}  // namespace schedlab
