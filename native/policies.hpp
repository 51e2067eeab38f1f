// The built-in policies: one file each, made here by name.
#pragma once

#include <memory>
#include <optional>

#include "engine.hpp"
#include "order.hpp"

namespace schedlab {

// When things are done, where not whenever something happens: at multiples of so many seconds. 0: always.
struct Periods {
  Time passes = 0;    // jobs are started,
  Time backfill = 0;  // others than the first ones in the queue,
  Time keys = 0;      // keys of a dynamic order computed anew
  bool any() const { return passes > 0 || backfill > 0 || keys > 0; }
};

struct PolicyChoice {
  std::string backfill;
  Order order;
  std::optional<Order> scan;  // the order of backfill candidates, where it is another one
  std::int64_t depth = -1;    // how many candidates a pass examines; -1: all
  int reservations = 1;
  Periods periods = {};
  Time half_life = 0;  // of what users have used, where the order looks at it
};

// With a calendar (nodes are set aside at times) easy plans: only a plan can look ahead to that.
std::unique_ptr<Decider> make_policy(const PolicyChoice &choice, bool calendar);

std::unique_ptr<Decider> make_in_order(const PolicyChoice &choice);      // none, skip
std::unique_ptr<Decider> make_easy(const PolicyChoice &choice);          // easy, easy-strict
std::unique_ptr<Decider> make_planned_easy(const PolicyChoice &choice);  // easy with several reservations
std::unique_ptr<Decider> make_conservative(const PolicyChoice &choice);

}  // namespace schedlab
