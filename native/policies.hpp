// The built-in policies: one file each, made here by name.
#pragma once

#include <memory>
#include <optional>

#include "engine.hpp"
#include "order.hpp"
#include "periods.hpp"

namespace schedlab {

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
