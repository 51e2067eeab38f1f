#include "gantt_rows.hpp"

#include <algorithm>
#include <queue>
#include <utility>

namespace schedlab {

namespace {

using Range = std::pair<std::int64_t, std::int64_t>;  // from a row to before another

// The free rows of a node, in order.
class FreeRows {
 public:
  FreeRows(std::int64_t low, std::int64_t high) : ranges_{{low, high}} {}

  // The smallest set of neighbours that is large enough; if there is none, the first free rows.
  void take(std::int64_t cores, std::vector<Range> &taken) {
    auto best = ranges_.end();
    for (auto range = ranges_.begin(); range != ranges_.end(); ++range)
      if (size(*range) >= cores && (best == ranges_.end() || size(*range) < size(*best))) best = range;
    if (best != ranges_.end()) {
      taken.emplace_back(best->first, best->first + cores);
      best->first += cores;
      if (best->first == best->second) ranges_.erase(best);
      return;
    }
    std::size_t emptied = 0;
    for (Range &range : ranges_) {
      const std::int64_t used = std::min(cores, size(range));
      taken.emplace_back(range.first, range.first + used);
      range.first += used;
      cores -= used;
      if (range.first == range.second) ++emptied;
      if (cores == 0) break;
    }
    ranges_.erase(ranges_.begin(), ranges_.begin() + static_cast<std::ptrdiff_t>(emptied));
  }

  void give_back(Range range) {
    auto next = std::lower_bound(ranges_.begin(), ranges_.end(), range);
    if (next != ranges_.end() && next->first == range.second) {
      range.second = next->second;
      next = ranges_.erase(next);
    }
    if (next != ranges_.begin() && std::prev(next)->second == range.first)
      std::prev(next)->second = range.second;
    else
      ranges_.insert(next, range);
  }

 private:
  static std::int64_t size(const Range &range) { return range.second - range.first; }
  std::vector<Range> ranges_;
};

struct Leaving {
  double end;
  std::size_t stay;
  std::vector<std::pair<std::int32_t, Range>> rows;  // with their nodes
  bool operator<(const Leaving &other) const { return std::pair(end, stay) > std::pair(other.end, other.stay); }
};

}  // namespace

Rows pack_rows(std::span<const std::int64_t> first, const Sets &sets, const GanttStays &stays) {
  Rows found;
  std::vector<FreeRows> free;
  for (std::size_t node = 0; node + 1 < first.size(); ++node) free.emplace_back(first[node], first[node + 1]);
  std::priority_queue<Leaving> leaving;
  std::vector<Range> taken;
  for (std::size_t stay = 0; stay < stays.begin.size(); ++stay) {
    while (!leaving.empty() && leaving.top().end <= stays.begin[stay]) {
      for (const auto &[node, range] : leaving.top().rows) free[static_cast<std::size_t>(node)].give_back(range);
      leaving.pop();
    }
    const std::int64_t set = stays.set[stay];
    if (set < 0) continue;
    const auto begin = static_cast<std::size_t>(set == 0 ? 0 : sets.ends[static_cast<std::size_t>(set) - 1]);
    const auto end = static_cast<std::size_t>(sets.ends[static_cast<std::size_t>(set)]);
    Leaving shared{stays.end[stay], stay, {}};
    Range building{-1, -1};
    const auto finish = [&] {
      if (building.second <= building.first) return;
      found.stay.push_back(static_cast<std::int32_t>(stay));
      found.low.push_back(static_cast<std::int32_t>(building.first));
      found.high.push_back(static_cast<std::int32_t>(building.second));
    };
    const auto take = [&](std::int32_t number, std::int32_t chunks) {
      const auto node = static_cast<std::size_t>(number);
      const std::int64_t size = first[node + 1] - first[node], chunk = stays.cores[stay];
      const std::int64_t cores = chunk < 0 ? size : chunk * chunks;
      taken.clear();
      if (cores >= size) {
        taken.emplace_back(first[node], first[node + 1]);
      } else {
        free[node].take(std::max<std::int64_t>(cores, 1), taken);
        for (const Range &range : taken) shared.rows.emplace_back(number, range);
      }
      for (const Range &range : taken) {
        if (range.first != building.second) {
          finish();
          building.first = range.first;
        }
        building.second = range.second;
      }
    };
    for (std::size_t at = begin; at < end; ++at)
      for (std::int32_t node = sets.first[at]; node < sets.last[at]; ++node) take(node, sets.chunks[at]);
    finish();
    if (!shared.rows.empty()) leaving.push(std::move(shared));
  }
  return found;
}

}  // namespace schedlab
