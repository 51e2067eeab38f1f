#include "gantt_cells.hpp"

#include <algorithm>
#include <cmath>

namespace schedlab {

namespace {

constexpr double kRounding = 1e-9;  // rows of a cell that divide evenly stay within it

// How much of the cell of that number lies between two places.
double overlap(std::size_t cell, double from, double to) {
  return std::min(to, static_cast<double>(cell) + 1) - std::max(from, static_cast<double>(cell));
}

}  // namespace

Cells gantt_cells(const GanttBars &bars, const CellGrid &grid) {
  const std::size_t size = grid.across * grid.down;
  Cells cells{std::vector<std::int32_t>(size, -1), std::vector<std::uint8_t>(size)};
  std::vector<float> cover(size), most(size);
  const double wide = static_cast<double>(grid.across), high = static_cast<double>(grid.down);
  const double across = wide / (grid.end - grid.begin), along = high / grid.rows;
  for (std::size_t i = 0; i < bars.stay.size(); ++i) {
    const auto stay = static_cast<std::size_t>(bars.stay[i]);
    if (bars.begin[stay] >= grid.end) break;
    if (bars.end[stay] <= grid.begin) continue;
    const double left = std::max((bars.begin[stay] - grid.begin) * across, 0.0);
    const double right = std::min((bars.end[stay] - grid.begin) * across, wide);
    const double upper = static_cast<double>(bars.low[i]) * along, lower = static_cast<double>(bars.high[i]) * along;
    const auto last_x = std::min(static_cast<std::size_t>(std::ceil(right)), grid.across);
    const auto last_y = std::min(static_cast<std::size_t>(std::ceil(lower - kRounding)), grid.down);
    for (auto y = static_cast<std::size_t>(upper + kRounding); y < last_y; ++y) {
      const double part = overlap(y, upper, lower);
      for (auto x = static_cast<std::size_t>(left); x < last_x; ++x) {
        const auto area = static_cast<float>(part * overlap(x, left, right));
        const std::size_t at = y * grid.across + x;
        cover[at] += area;
        if (area <= most[at]) continue;
        most[at] = area;
        cells.who[at] = static_cast<std::int32_t>(bars.job[stay]);
      }
    }
  }
  for (std::size_t at = 0; at < size; ++at)
    if (cells.who[at] >= 0)
      cells.cover[at] = static_cast<std::uint8_t>(std::clamp(std::lround(cover[at] * 255.0f), 1L, 255L));
  return cells;
}

}  // namespace schedlab
