// Rows of a Gantt chart: which cores of its nodes each stay gets, drawn as rectangles. Nodes are dealt out as stays
// begin: each takes the smallest free set of neighbouring rows that is large enough, or the first free ones.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace schedlab {

// Sets of nodes, one behind the other: of each set the end; neighbouring nodes, from `first` to before `last`, with so
// many chunks on each.
struct Sets {
  std::span<const std::int64_t> ends;
  std::span<const std::int32_t> first, last, chunks;
};

// Stays in the order in which they begin: their set (below 0: none), and the cores of a chunk (below 0: whole nodes).
struct GanttStays {
  std::span<const double> begin;
  std::span<const double> end;
  std::span<const std::int64_t> set;
  std::span<const std::int64_t> cores;
};

// Unbroken sets of rows, from `low` to before `high`, that stays get.
struct Rows {
  std::vector<std::int32_t> stay, low, high;
};

// `first` has the first row of each node, and the row after the last.
Rows pack_rows(std::span<const std::int64_t> first, const Sets &sets, const GanttStays &stays);

}  // namespace schedlab
