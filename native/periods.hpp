// Passes, backfilling and new keys at times of their own: the multiples of a period.
#pragma once

#include <algorithm>
#include <cmath>

#include "types.hpp"

namespace schedlab {

// In seconds; 0: whenever something happens.
struct Periods {
  Time passes = 0;    // jobs are started,
  Time backfill = 0;  // others than the first ones in the queue,
  Time keys = 0;      // keys of a dynamic order computed anew

  bool any() const { return passes > 0 || backfill > 0 || keys > 0; }

  bool passes_at(Time now) const { return !(passes > 0) || is_multiple(now, passes, 1); }
  bool backfills_at(Time now) const { return !(unit() > 0) || is_multiple(now, unit(), units()); }
  Time next_pass(Time now) const { return passes > 0 ? next_multiple(now, passes, 1) : kNever; }
  Time next_backfill(Time now) const { return unit() > 0 ? next_multiple(now, unit(), units()) : kNever; }
  double stretch_of_keys(Time now) const { return last_multiple(now, keys); }

 private:
  // Backfilling is at every n-th time of passes, so that it never falls between two of them: 3 × 0.1 is not 0.3.
  Time unit() const { return passes > 0 ? passes : backfill; }
  double units() const { return passes > 0 && backfill > 0 ? std::round(backfill / passes) : 1; }

  // The largest k with k × period <= now. A quotient may be rounded to the whole number on either side; the product
  // decides, because it is the time at which somebody is woken.
  static double last_multiple(Time now, Time period) {
    const double k = std::floor(now / period);
    if ((k + 1) * period <= now) return k + 1;
    return k * period > now ? k - 1 : k;
  }

  static bool is_multiple(Time now, Time period, double n) {
    const double k = last_multiple(now, period);
    return k * period == now && std::fmod(k, n) == 0;
  }

  // After now also where a period is less than the clock can tell apart.
  static Time next_multiple(Time now, Time period, double n) {
    const double k = last_multiple(now, period);
    return std::max((std::floor(k / n) + 1) * n * period, std::nextafter(now, kNever));
  }
};

}  // namespace schedlab
