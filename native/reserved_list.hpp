// The reservations of waiting jobs in the order of their starts.
#pragma once

#include <array>
#include <bit>
#include <set>

#include "shifted_list.hpp"

namespace schedlab {

// From so many reservations on it pays to know more of them all. Tests make it smaller.
inline std::size_t deep_queue = 1024;

// One that cannot be planned at all, because of jobs that are believed never to end, has it at the end of time: it
// takes nothing, and is looked at after all others.
struct Reserved {
  Time time;
  std::int64_t sequence;
  Time estimate;
  std::int32_t cores;
  Slot slot;
  std::int64_t tie() const { return sequence; }
};

// What nobody in a block is below, how long nobody there is longer than, and (made when it is asked for) who of them
// wants no more cores for no longer than anybody else, by cores.
struct Extremes {
  struct Corner {
    std::int32_t cores;
    Time estimate;
  };
  std::int32_t cores = std::numeric_limits<std::int32_t>::max();
  Time estimate = kNever, longest = 0;
  std::unique_ptr<std::vector<Corner>> corners;

  void add(const Reserved &who) {
    cores = std::min(cores, who.cores);
    estimate = std::min(estimate, who.estimate), longest = std::max(longest, who.estimate);
    corners.reset();
  }
  bool remove(const Reserved &who) {
    corners.reset();
    return who.cores > cores && who.estimate > estimate;
  }
};

class ReservedList : public ShiftedList<Reserved, Extremes, 32> {
  using Base = ShiftedList<Reserved, Extremes, 32>;

 public:
  void clear() { Base::clear(), drop_estimates(), exact_ = true; }
  Position insert(Time time, const Reserved &who) {
    exact_ = exact_ && is_exact(time) && is_exact(who.estimate);
    if (deep_) estimates_[of_size(who.cores)].insert(who.estimate);
    return Base::insert(time, who);
  }
  Position erase(Position p) {
    if (deep_) forget((*this)[p]);
    return Base::erase(p);
  }
  // To another time; gives the position of the one that was after it.
  Position move(Position p, Time time) {
    exact_ = exact_ && is_exact(time);
    const Reserved who = (*this)[p];
    const Position before = at_begin(p) ? p : previous(p);
    const Time others = this->time(before);
    if (at_begin(p) || others < time || (others == time && (*this)[before].sequence < who.sequence)) {
      set_time(p, time);
      return next(p);
    }
    const Time was = this->time(p);
    Base::erase(p);
    Base::insert(time, who);
    return first_not_before(was, who.sequence);
  }

  const std::vector<Extremes::Corner> &corners(std::size_t block) {
    auto &corners = summary(block).corners;
    if (!corners) {
      corners = std::make_unique<std::vector<Extremes::Corner>>();
      for (int i = 0; i < block_size(block); ++i)
        corners->push_back({entries(block)[i].cores, entries(block)[i].estimate});
      std::sort(corners->begin(), corners->end(), [](const auto &a, const auto &b) {
        return a.cores != b.cores ? a.cores < b.cores : a.estimate < b.estimate;
      });
      Time least = kNever;
      std::erase_if(*corners, [&](const Extremes::Corner &corner) {
        if (corner.estimate < least || (least == kNever && corner.estimate == kNever))
          return least = corner.estimate, false;
        return true;
      });
    }
    return *corners;
  }

  bool exact() const { return exact_; }  // all times and estimates are

  bool deep() {
    if (size() >= deep_queue && !deep_) {
      deep_ = true;
      for (Position p; !at_end(p); p = next(p)) estimates_[of_size((*this)[p].cores)].insert((*this)[p].estimate);
    } else if (size() < deep_queue / 4 && deep_) {
      drop_estimates();
    }
    return deep_;
  }
  // Might somebody want so many cores for so long? A "no" is right.
  bool want(Amount cores, Time duration) const {
    if (!deep_) return true;
    for (std::size_t k = 0; k <= of_size(cores); ++k)
      if (!estimates_[k].empty() && *estimates_[k].begin() <= duration) return true;
    return false;
  }

 private:
  static std::size_t of_size(Amount cores) {
    return static_cast<std::size_t>(std::bit_width(static_cast<std::uint32_t>(cores)));
  }
  void forget(const Reserved &who) {
    auto &estimates = estimates_[of_size(who.cores)];
    estimates.erase(estimates.find(who.estimate));
  }
  void drop_estimates() {
    if (deep_)
      for (auto &estimates : estimates_) estimates.clear();
    deep_ = false;
  }

  bool exact_ = true, deep_ = false;
  std::array<std::multiset<Time>, 33> estimates_;  // by the binary logarithm of cores
};

}  // namespace schedlab
