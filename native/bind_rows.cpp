// Binds what draws schedules: node sets as numbers, and rows of Gantt charts.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>
#include <span>
#include <string_view>
#include <tuple>

#include "arrays.hpp"
#include "gantt_cells.hpp"
#include "gantt_rows.hpp"
#include "node_sets.hpp"
#include "without_python.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace schedlab {

namespace {

template <class T>
using Values = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

using Arrays = std::tuple<nb::object, nb::object, nb::object, nb::object>;

template <class T>
std::span<const T> span_of(const Values<T> &values) {
  return {values.data(), values.shape(0)};
}

// Whether all numbers are from 0 to before `end`.
template <class T>
bool within(std::span<const T> numbers, std::size_t end) {
  bool found = true;  // to look at all of them is quicker than to ask each time whether to go on
  for (const T one : numbers) found &= static_cast<std::uint64_t>(one) < end;
  return found;
}

// What sets were found to be, one behind the other.
struct Expanded {
  std::vector<std::int64_t> ends;
  std::vector<std::int32_t> first, last, chunks;
};

Expanded expanded(std::string_view text, std::span<const std::int64_t> ends, const std::vector<std::string> &names) {
  NodeSets sets(names);
  Expanded found;
  std::vector<NodeRange> ranges;  // of one set
  const auto most = ends.size() + static_cast<std::size_t>(std::count(text.begin(), text.end(), ','));
  found.ends.reserve(ends.size());
  for (auto *column : {&found.first, &found.last, &found.chunks}) column->reserve(most);
  std::int64_t begin = 0;
  for (const std::int64_t end : ends) {
    if (begin < 0 || end < begin || end > static_cast<std::int64_t>(text.size()))
      throw nb::value_error("the ends are not those of texts");
    const std::string_view one = text.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
    ranges.clear();
    if (!sets.expand(one, ranges)) throw nb::value_error(std::string(one).c_str());
    for (const NodeRange &range : ranges) {
      found.first.push_back(range.first);
      found.last.push_back(range.last);
      found.chunks.push_back(range.chunks);
    }
    found.ends.push_back(static_cast<std::int64_t>(found.first.size()));
    begin = end;
  }
  return found;
}

Arrays expand_sets(const Values<std::uint8_t> &text, const Values<std::int64_t> &ends,
                   const std::vector<std::string> &names) {
  const std::string_view letters(reinterpret_cast<const char *>(text.data()), text.shape(0));
  Expanded found = without_python([&] { return expanded(letters, span_of(ends), names); });
  return Arrays(to_array(std::move(found.ends)), to_array(std::move(found.first)), to_array(std::move(found.last)),
                to_array(std::move(found.chunks)));
}

std::tuple<nb::object, nb::object, nb::object> rows_of(
    const Values<std::int64_t> &first, const Values<std::int64_t> &ends, const Values<std::int32_t> &first_node,
    const Values<std::int32_t> &last_node, const Values<std::int32_t> &chunks, const Values<double> &begin,
    const Values<double> &end, const Values<std::int64_t> &set, const Values<std::int64_t> &cores) {
  const std::size_t stays = begin.shape(0), ranges = chunks.shape(0);
  if (end.shape(0) != stays || set.shape(0) != stays || cores.shape(0) != stays || first_node.shape(0) != ranges ||
      last_node.shape(0) != ranges)
    throw nb::value_error("columns of different lengths");
  without_python([&] {
    for (const auto side : {span_of(first_node), span_of(last_node)})
      if (!within(side, first.shape(0))) throw nb::value_error("no such node");
    if (!within(span_of(ends), ranges + 1)) throw nb::value_error("no such end of a set");
    for (const std::int64_t one : span_of(set))
      if (one >= static_cast<std::int64_t>(ends.shape(0))) throw nb::value_error("no such set");
  });
  const Sets sets{span_of(ends), span_of(first_node), span_of(last_node), span_of(chunks)};
  const GanttStays stays_of{span_of(begin), span_of(end), span_of(set), span_of(cores)};
  if (stays > INT32_MAX || (first.shape(0) && first.data()[first.shape(0) - 1] > INT32_MAX))
    throw nb::value_error("more stays or rows than can be counted");
  Rows found = without_python([&] { return pack_rows(span_of(first), sets, stays_of); });
  return {to_array(std::move(found.stay)), to_array(std::move(found.low)), to_array(std::move(found.high))};
}

std::tuple<nb::object, nb::object> cells_of(const Values<std::int32_t> &stay, const Values<std::int32_t> &low,
                                            const Values<std::int32_t> &high, const Values<std::int64_t> &job,
                                            const Values<double> &begin, const Values<double> &end,
                                            std::pair<double, double> span, std::size_t rows, std::size_t across,
                                            std::size_t down) {
  const std::size_t bars = stay.shape(0), stays = job.shape(0);
  if (low.shape(0) != bars || high.shape(0) != bars || begin.shape(0) != stays || end.shape(0) != stays)
    throw nb::value_error("columns of different lengths");
  if (!(span.second > span.first) || rows == 0 || across == 0 || down == 0) throw nb::value_error("no cells");
  const GanttBars drawn{span_of(stay), span_of(low), span_of(high), span_of(job), span_of(begin), span_of(end)};
  const CellGrid grid{span.first, span.second, across, down, static_cast<double>(rows)};
  Cells found = without_python([&] {
    if (!within(drawn.low, std::numeric_limits<std::int32_t>::max())) throw nb::value_error("no such row");
    if (!within(drawn.stay, stays)) throw nb::value_error("no such stay");
    return gantt_cells(drawn, grid);
  });
  return {to_array(std::move(found.who)), to_array(std::move(found.cover))};
}

}  // namespace

}  // namespace schedlab

void bind_rows(nb::module_ &module) {
  module.def("expand_sets", &schedlab::expand_sets, "text"_a, "ends"_a, "names"_a,
             "Node sets, one behind the other in `text`, as ranges of nodes: of each set the end; of each range its "
             "first node, the node after its last, and the chunks on each. ValueError, with the set, if it does not "
             "name such nodes.");
  module.def("gantt_rows", &schedlab::rows_of, "first"_a, "ends"_a, "first_node"_a, "last_node"_a, "chunks"_a,
             "begin"_a, "end"_a, "set"_a, "cores"_a,
             "Which rows stays get, in the order of their beginning: stay, low, high of each rectangle.");
  module.def("gantt_cells", &schedlab::cells_of, "stay"_a, "low"_a, "high"_a, "job"_a, "begin"_a, "end"_a, "span"_a,
             "rows"_a, "across"_a, "down"_a,
             "Rectangles of stays, in the order of their beginning, from afar, cell by cell: the job that has most of "
             "it (-1: none), and how much of it jobs have, "
             "0 to 255.");
}
