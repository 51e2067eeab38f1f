// A Gantt chart from afar: of each cell (some rows, some time) how much of it jobs have, and which one most of it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace schedlab {

// Rectangles: from row `low` to before `high`, of a stay; and stays: of `job`, from `begin` to `end`. Rectangles are in
// the order of their beginning.
struct GanttBars {
  std::span<const std::int32_t> stay, low, high;
  std::span<const std::int64_t> job;
  std::span<const double> begin, end;
};

// The cells: `across` of them between two moments, `down` of them for `rows` rows.
struct CellGrid {
  double begin, end;
  std::size_t across, down;
  double rows;
};

// Row by row: the job that has most of a cell (-1: none), and the share of it that jobs have, 0 to 255 and never 0
// where there is any.
struct Cells {
  std::vector<std::int32_t> who;
  std::vector<std::uint8_t> cover;
};

Cells gantt_cells(const GanttBars &bars, const CellGrid &grid);

}  // namespace schedlab
