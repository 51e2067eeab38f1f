#include "gantt_rows.hpp"

#include <algorithm>
#include <bit>
#include <queue>
#include <utility>
#include <variant>

namespace schedlab {

namespace {

using Range = std::pair<std::int64_t, std::int64_t>;  // from a row to before another

// The free rows of a node of at most 64, as bits: most nodes of most machines.
class FewRows {
 public:
  static constexpr std::int64_t kMost = 64;

  FewRows(std::int64_t low, std::int64_t high) : low_(low), free_(bits(0, high - low)) {}

  void take(std::int64_t cores, std::vector<Range> &taken) {
    std::int64_t best = -1, smallest = kMost + 1;
    for (std::uint64_t left = free_; left != 0;) {
      const auto [begin, size] = first(left);
      if (size >= cores && size < smallest) {
        best = begin;
        smallest = size;
      }
      left &= ~bits(begin, size);
    }
    if (best >= 0) return take(best, cores, taken);
    while (cores > 0 && free_ != 0) {
      const auto [begin, size] = first(free_);
      take(begin, std::min(cores, size), taken);
      cores -= std::min(cores, size);
    }
  }

  void give_back(Range range) { free_ |= bits(range.first - low_, range.second - range.first); }

 private:
  static std::uint64_t bits(std::int64_t begin, std::int64_t size) {
    return size <= 0 ? 0 : (~std::uint64_t{0} >> (kMost - size)) << begin;
  }

  // Where the first neighbours begin, and how many they are.
  static std::pair<std::int64_t, std::int64_t> first(std::uint64_t free) {
    const int begin = std::countr_zero(free);
    return {begin, std::countr_one(free >> begin)};
  }

  void take(std::int64_t begin, std::int64_t size, std::vector<Range> &taken) {
    taken.emplace_back(low_ + begin, low_ + begin + size);
    free_ &= ~bits(begin, size);
  }

  std::int64_t low_;
  std::uint64_t free_;
};

// The free rows of a node, in order.
class ManyRows {
 public:
  ManyRows(std::int64_t low, std::int64_t high) : ranges_{{low, high}} {}

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

// The free rows of a node.
class FreeRows {
 public:
  FreeRows(std::int64_t low, std::int64_t high) : rows_(of(low, high)) {}

  // The smallest set of neighbours that is large enough; if there is none, the first free rows.
  void take(std::int64_t cores, std::vector<Range> &taken) {
    std::visit([&](auto &rows) { rows.take(cores, taken); }, rows_);
  }

  void give_back(Range range) {
    std::visit([&](auto &rows) { rows.give_back(range); }, rows_);
  }

 private:
  using Rows = std::variant<FewRows, ManyRows>;

  static Rows of(std::int64_t low, std::int64_t high) {
    if (high - low <= FewRows::kMost) return FewRows(low, high);
    return ManyRows(low, high);
  }

  Rows rows_;
};

using Held = std::vector<std::pair<std::int32_t, Range>>;  // rows, with their nodes

struct Leaving {
  double end;
  std::size_t stay;
  std::size_t held;  // which of the places where rows are kept until then
  bool operator<(const Leaving &other) const { return std::pair(end, stay) > std::pair(other.end, other.stay); }
};

}  // namespace

Rows pack_rows(std::span<const std::int64_t> first, const Sets &sets, const GanttStays &stays) {
  Rows found;
  // About as many as there are ranges of nodes. Memory that is not needed after all is never touched, and costs
  // nothing.
  for (auto *column : {&found.stay, &found.low, &found.high})
    column->reserve(std::max(sets.first.size() + sets.first.size() / 2, stays.begin.size()));
  std::vector<FreeRows> free;
  for (std::size_t node = 0; node + 1 < first.size(); ++node) free.emplace_back(first[node], first[node + 1]);
  std::priority_queue<Leaving> leaving;
  std::vector<Held> held(1);  // places are used again, with the memory that they have
  std::vector<std::size_t> unused{0};
  std::vector<Range> taken;
  for (std::size_t stay = 0; stay < stays.begin.size(); ++stay) {
    while (!leaving.empty() && leaving.top().end <= stays.begin[stay]) {
      const std::size_t place = leaving.top().held;
      leaving.pop();
      for (const auto &[node, range] : held[place]) free[static_cast<std::size_t>(node)].give_back(range);
      held[place].clear();
      unused.push_back(place);
    }
    const std::int64_t set = stays.set[stay];
    if (set < 0) continue;
    const auto begin = static_cast<std::size_t>(set == 0 ? 0 : sets.ends[static_cast<std::size_t>(set) - 1]);
    const auto end = static_cast<std::size_t>(sets.ends[static_cast<std::size_t>(set)]);
    if (unused.empty()) {
      unused.push_back(held.size());
      held.emplace_back();
    }
    const std::size_t place = unused.back();
    Held &shared = held[place];
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
        for (const Range &range : taken) shared.emplace_back(number, range);
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
    if (shared.empty()) continue;
    unused.pop_back();
    leaving.push({stays.end[stay], stay, place});
  }
  return found;
}

}  // namespace schedlab
