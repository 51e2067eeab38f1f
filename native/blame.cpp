#include "blame.hpp"

namespace schedlab {

void Blame::look(View &view, bool by_nodes, const std::vector<Reservation> &reservations) {
  delayed_.clear();
  std::vector<Slot> able;
  for (Slot slot = view.first_waiting(); slot != kNoSlot; slot = view.job(slot).next)
    if (!view.obstacle(slot)) able.push_back(slot);
  if (able.empty()) return;
  const std::unique_ptr<Plan> plan = by_nodes ? Plan::by_nodes(view) : Plan::by_count(view);
  std::unordered_map<Slot, Reservation> own;  // of those in the plan
  for (const Reservation &given : reservations) {
    Reservation reservation = given;
    const Job &job = view.job(reservation.slot);
    if (std::isnan(reservation.start)) reservation.start = plan->earliest(job, reservation.shares);
    if (!(reservation.start < kNever)) continue;
    plan->occupy(job, reservation.shares, reservation.start, reservation.start + job.estimate);
    own.emplace(reservation.slot, reservation);
    std::erase_if(able, [&](Slot slot) {
      const Job &asking = view.job(slot);
      const auto mine = own.find(slot);
      const auto without_own = [&](auto change) {
        if (mine == own.end()) return;
        const Time from = mine->second.start;
        ((*plan).*change)(asking, mine->second.shares, from, from + asking.estimate);
      };
      Shares shares;
      without_own(&Plan::vacate);
      const bool possible = plan->possible_now(asking, shares);
      without_own(&Plan::occupy);
      if (!possible) delayed_.emplace(slot, reservation.slot);
      return !possible;
    });
    if (able.empty()) return;
  }
}

}  // namespace schedlab
