// A queue of which only the smallest entry is wanted. Few entries are kept in order, the smallest one last: it goes at
// once, and moving the others for a new one is quicker than anything that has to guess. Many are a binary heap.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace schedlab {

// Entry: a strict total order by `a.before(b)`.
template <class Entry>
class Heap {
 public:
  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  const Entry &top() const { return few_ ? entries_.back() : entries_.front(); }
  const std::vector<Entry> &entries() const { return entries_; }  // in no order

  void push(const Entry &entry) {
    if (few_) {
      const auto later = [&](const Entry &other) { return entry.before(other); };
      entries_.insert(std::partition_point(entries_.begin(), entries_.end(), later), entry);
      if (entries_.size() == kMany) become_many();
    } else {
      entries_.push_back(entry);
      rise(entries_.size() - 1, entry);
    }
  }

  void pop() {
    if (few_)
      entries_.pop_back();
    else
      pop_of_many();
  }

 private:
  static constexpr std::size_t kMany = 128, kFew = 64;

  // The other way round, a sorted sequence is a heap.
  [[gnu::noinline]] void become_many() {
    std::reverse(entries_.begin(), entries_.end());
    few_ = false;
  }
  [[gnu::noinline]] void become_few() {
    std::sort(entries_.begin(), entries_.end(), [](const Entry &a, const Entry &b) { return b.before(a); });
    few_ = true;
  }

  // The hole sinks to the bottom, then the last entry, which most likely belongs there, rises from it: a few per cent
  // of a simulation quicker than std::priority_queue.
  void pop_of_many() {
    const Entry last = entries_.back();
    entries_.pop_back();
    const std::size_t size = entries_.size();
    std::size_t hole = 0, child = 1;
    for (; child + 1 < size; child = 2 * hole + 1) {
      child += entries_[child + 1].before(entries_[child]);
      entries_[hole] = entries_[child];
      hole = child;
    }
    if (child < size) {
      entries_[hole] = entries_[child];
      hole = child;
    }
    rise(hole, last);
    if (size == kFew) become_few();
  }

  void rise(std::size_t hole, const Entry entry) {
    for (; hole > 0; hole = (hole - 1) / 2) {
      const Entry &parent = entries_[(hole - 1) / 2];
      if (!entry.before(parent)) break;
      entries_[hole] = parent;
    }
    entries_[hole] = entry;
  }

  bool few_ = true;
  std::vector<Entry> entries_;
};

}  // namespace schedlab
