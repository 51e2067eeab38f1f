// Binds what draws schedules: node sets as numbers, and rows of Gantt charts.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <tuple>

#include "arrays.hpp"
#include "gantt_cells.hpp"
#include "gantt_rows.hpp"
#include "node_sets.hpp"

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

// Other threads of Python go on meanwhile: a server has more than one to answer.
template <class Work>
auto without_python(const Work &work) {
  const nb::gil_scoped_release released;
  return work();
}

Arrays expand_sets(const Values<std::uint8_t> &text, const Values<std::int64_t> &ends,
                   const std::vector<std::string> &names) {
  NodeSets sets(names);
  const char *const letters = reinterpret_cast<const char *>(text.data());
  std::vector<std::int64_t> found_ends;
  std::vector<std::int32_t> first, last, chunks;
  std::vector<NodeRange> ranges;  // of one set
  const auto most = ends.shape(0) + static_cast<std::size_t>(std::count(letters, letters + text.shape(0), ','));
  found_ends.reserve(ends.shape(0));
  for (auto *column : {&first, &last, &chunks}) column->reserve(most);
  std::int64_t begin = 0;
  for (const std::int64_t end : span_of(ends)) {
    if (begin < 0 || end < begin || end > static_cast<std::int64_t>(text.shape(0)))
      throw nb::value_error("the ends are not those of texts");
    const std::string_view one(letters + begin, static_cast<std::size_t>(end - begin));
    ranges.clear();
    if (!sets.expand(one, ranges)) throw nb::value_error(std::string(one).c_str());
    for (const NodeRange &range : ranges) {
      first.push_back(range.first);
      last.push_back(range.last);
      chunks.push_back(range.chunks);
    }
    found_ends.push_back(static_cast<std::int64_t>(first.size()));
    begin = end;
  }
  return Arrays(to_array(std::move(found_ends)), to_array(std::move(first)), to_array(std::move(last)),
                to_array(std::move(chunks)));
}

std::tuple<nb::object, nb::object, nb::object> rows_of(
    const Values<std::int64_t> &first, const Values<std::int64_t> &ends, const Values<std::int32_t> &first_node,
    const Values<std::int32_t> &last_node, const Values<std::int32_t> &chunks, const Values<double> &begin,
    const Values<double> &end, const Values<std::int64_t> &set, const Values<std::int64_t> &cores) {
  const std::size_t stays = begin.shape(0), ranges = chunks.shape(0);
  if (end.shape(0) != stays || set.shape(0) != stays || cores.shape(0) != stays || first_node.shape(0) != ranges ||
      last_node.shape(0) != ranges)
    throw nb::value_error("columns of different lengths");
  for (const auto &side : {first_node, last_node})
    for (const std::int32_t one : span_of(side))
      if (one < 0 || static_cast<std::size_t>(one) >= first.shape(0)) throw nb::value_error("no such node");
  for (const std::int64_t one : span_of(ends))
    if (one < 0 || one > static_cast<std::int64_t>(ranges)) throw nb::value_error("no such end of a set");
  for (const std::int64_t one : span_of(set))
    if (one >= static_cast<std::int64_t>(ends.shape(0))) throw nb::value_error("no such set");
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
  for (const std::int32_t one : span_of(low))
    if (one < 0) throw nb::value_error("no such row");
  for (const std::int32_t one : span_of(stay))
    if (one < 0 || static_cast<std::size_t>(one) >= stays) throw nb::value_error("no such stay");
  const GanttBars drawn{span_of(stay), span_of(low), span_of(high), span_of(job), span_of(begin), span_of(end)};
  const CellGrid grid{span.first, span.second, across, down, static_cast<double>(rows)};
  Cells found = without_python([&] { return gantt_cells(drawn, grid); });
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
