// A row of numbers as a step function of time: one row from each step's time until the next step, the last for ever.
// Neighbouring steps are never alike.
#pragma once

#include <algorithm>
#include <span>

#include "types.hpp"

namespace schedlab {

class Steps {
 public:
  using Row = std::span<const std::int64_t>;

  void assign(Time time, Row row) {
    width_ = row.size();
    times_.assign(1, time);
    rows_.assign(row.begin(), row.end());
  }

  std::size_t size() const { return times_.size(); }
  Time begin(std::size_t i) const { return times_[i]; }
  Time end(std::size_t i) const { return i + 1 < times_.size() ? times_[i + 1] : kNever; }
  const std::int64_t *row(std::size_t i) const { return &rows_[i * width_]; }

  // The step that holds at this time; before all of them, the first.
  std::size_t at(Time time) const {
    const auto after = std::upper_bound(times_.begin(), times_.end(), time);
    return after == times_.begin() ? 0 : static_cast<std::size_t>(after - times_.begin()) - 1;
  }
  // The last step that begins before `until`, but none before step `first`.
  std::size_t last_before(Time until, std::size_t first) const {
    const auto from = times_.begin() + static_cast<std::ptrdiff_t>(first) + 1;
    return first + static_cast<std::size_t>(std::lower_bound(from, times_.end(), until) - from);
  }

  void forget_before(Time now) {
    if (times_.size() < 2 || times_[1] > now) return;
    const std::size_t past = at(now);
    times_.erase(times_.begin(), times_.begin() + static_cast<std::ptrdiff_t>(past));
    rows_.erase(rows_.begin(), rows_.begin() + static_cast<std::ptrdiff_t>(past * width_));
  }

  // Adds the row to all that is between these times. The steps that it had to look at are counted.
  std::size_t add(Time from, Time until, Row change) {
    const std::size_t first = cut(from), last = until < kNever ? cut(until) : size();
    for (std::size_t i = first; i < last; ++i)
      for (std::size_t k = 0; k < width_; ++k) rows_[i * width_ + k] += change[k];
    join(last), join(first);
    return last - first;
  }

 private:
  std::size_t cut(Time time) {
    const std::size_t i = at(time);
    if (times_[i] >= time) return i;
    times_.insert(times_.begin() + static_cast<std::ptrdiff_t>(i) + 1, time);
    const auto next = static_cast<std::ptrdiff_t>((i + 1) * width_);
    rows_.insert(rows_.begin() + next, width_, 0);
    std::copy_n(rows_.begin() + next - static_cast<std::ptrdiff_t>(width_), width_, rows_.begin() + next);
    return i + 1;
  }

  void join(std::size_t i) {
    if (i == 0 || i >= size() || !std::equal(row(i - 1), row(i - 1) + width_, row(i))) return;
    times_.erase(times_.begin() + static_cast<std::ptrdiff_t>(i));
    const auto begin = rows_.begin() + static_cast<std::ptrdiff_t>(i * width_);
    rows_.erase(begin, begin + static_cast<std::ptrdiff_t>(width_));
  }

  std::size_t width_ = 0;
  std::vector<Time> times_;
  std::vector<std::int64_t> rows_;
};

}  // namespace schedlab
