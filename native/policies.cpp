#include "policies.hpp"

namespace schedlab {

namespace {

// Turns every job away: what is left is the cost of simulating.
class RejectAll final : public Decider {
 public:
  void decide(View &view, std::span<const Event> events) override {
    for (const Event &event : events)
      if (event.kind == Event::Kind::Submitted && view.job(event.slot).state == State::Waiting) view.reject(event.slot);
  }
};

}  // namespace

std::unique_ptr<Decider> make_policy(const PolicyChoice &choice, bool calendar) {
  if (choice.backfill == "none" || choice.backfill == "skip") return make_in_order(choice);
  if (choice.backfill == "easy" && (choice.reservations > 1 || calendar)) return make_planned_easy(choice);
  if (choice.backfill == "easy" || choice.backfill == "easy-strict") return make_easy(choice);
  if (choice.backfill == "conservative") return make_conservative(choice);
  if (choice.backfill == "reject") return std::make_unique<RejectAll>();
  throw std::invalid_argument("unknown backfill: " + choice.backfill);
}

}  // namespace schedlab
