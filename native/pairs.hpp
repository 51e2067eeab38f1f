// How fast applications run beside one another: a heatmap with nothing missing (src/schedlab/model/heatmap.py).
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "types.hpp"

namespace schedlab {

struct Pairs {
  std::vector<std::string> names;
  std::vector<double> speedups;  // row by row: of one application beside another
  std::vector<double> alone;     // of each, on a part of its nodes and without neighbours
  bool multiply = false;         // several neighbours on a node: the product of what they do to it, or else the worst
  bool cap = true;               // never faster than beside its best neighbour, or alone

  // A job without an application (-1) neither slows others down nor is slowed down by them.
  double speedup(std::int32_t of, std::int32_t beside) const {
    return of < 0 || beside < 0 ? 1 : speedups[static_cast<std::size_t>(of) * names.size() + number(beside)];
  }
  double on_its_own(std::int32_t application) const { return application < 0 ? 1 : alone[number(application)]; }
  double fastest(std::int32_t application) const {
    if (application < 0) return 1;
    const auto row = speedups.begin() + static_cast<std::ptrdiff_t>(number(application) * names.size());
    return *std::max_element(row, row + static_cast<std::ptrdiff_t>(names.size()));
  }
  // Would one of the two be slower than this beside the other?
  bool slower(std::int32_t a, std::int32_t b, double least) const {
    return speedup(a, b) < least || speedup(b, a) < least;
  }
  // How well they go together: the mean of what each does to the other.
  double harmony(std::int32_t a, std::int32_t b) const { return (speedup(a, b) + speedup(b, a)) / 2; }

 private:
  static std::size_t number(std::int32_t application) { return static_cast<std::size_t>(application); }
};

}  // namespace schedlab
