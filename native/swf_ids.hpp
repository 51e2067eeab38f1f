// Which job numbers a log has had so far.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>

namespace schedlab {

// A set of numbers ≥ 0 as a bitmap in pages: dense numbers, as job numbers are, cost about two bits each, and a lone
// number far away costs one page. Consecutive numbers mostly meet the page of the one before.
class IdSet {
 public:
  IdSet() = default;
  IdSet(const IdSet &) = delete;  // it points into itself
  IdSet &operator=(const IdSet &) = delete;

  // False if it was there already.
  bool insert(std::int64_t id) {
    const std::int64_t number = id >> 9;
    if (page_ == nullptr || number != number_) {
      page_ = &pages_[number];  // a new page is all zero; the map never moves its pages
      number_ = number;
    }
    std::uint64_t &word = (*page_)[(id >> 6) & 7];
    const std::uint64_t bit = std::uint64_t{1} << (id & 63);
    const bool fresh = (word & bit) == 0;
    word |= bit;
    return fresh;
  }

 private:
  using Page = std::array<std::uint64_t, 8>;
  std::unordered_map<std::int64_t, Page> pages_;
  Page *page_ = nullptr;
  std::int64_t number_ = -1;
};

}  // namespace schedlab
