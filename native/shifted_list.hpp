// Entries sorted by time, in blocks, each block with a summary, so that a search can step over blocks; all entries from
// one on can be moved to another time at once.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <vector>

#include "types.hpp"

namespace schedlab {

// Sums and differences of such times are exact: a shift back and forth changes no bit.
inline bool is_exact(Time time) {
  return time == kNever || (std::abs(time) < 0x1p43 && std::floor(time * 256) == time * 256);
}

// Entry: `time`, kept by the list, and `tie()`, which orders those of one time. Summary: default-constructible,
// `add(entry)`, and `remove(entry)`, which says whether it still holds for the others (else it is made anew).
template <class Entry, class Summary, int kCapacity>
class ShiftedList {
 public:
  struct Position {
    std::size_t block = 0;
    int index = 0;
  };

  bool empty() const { return blocks_.empty(); }
  std::size_t size() const { return size_; }
  void clear() { blocks_.clear(), size_ = 0, shifted_ = false; }

  bool at_end(Position p) const { return p.block >= blocks_.size(); }
  bool at_begin(Position p) const { return p.block == 0 && p.index == 0; }
  Position next(Position p) const { return ++p.index < blocks_[p.block].size ? p : Position{p.block + 1, 0}; }
  Position previous(Position p) const {
    return p.index > 0 ? Position{p.block, p.index - 1} : Position{p.block - 1, blocks_[p.block - 1].size - 1};
  }
  Position skip_block(Position p) const { return {p.block + 1, 0}; }

  Time time(Position p) const { return blocks_[p.block].time(p.index); }
  const Entry &operator[](Position p) const { return blocks_[p.block].entries[p.index]; }  // its time may be another

  std::size_t block_count() const { return blocks_.size(); }
  int block_size(std::size_t block) const { return blocks_[block].size; }
  Time block_begin(std::size_t block) const { return blocks_[block].begin; }
  Summary &summary(std::size_t block) { return blocks_[block].summary; }
  const Summary &summary(std::size_t block) const { return blocks_[block].summary; }
  Entry *entries(std::size_t block) { return blocks_[block].entries.get(); }
  const Entry *entries(std::size_t block) const { return blocks_[block].entries.get(); }
  Time offset(std::size_t block) const { return blocks_[block].offset; }

  Position first_not_before(Time time, std::int64_t tie = 0) const {
    if (blocks_.empty()) return {};
    const std::size_t b = find_block(time, tie);
    const int i = blocks_[b].find(time, tie);
    return i < blocks_[b].size ? Position{b, i} : Position{b + 1, 0};
  }

  Position insert(Time time, Entry entry) {
    keep_exact(time);
    if (blocks_.empty()) blocks_.push_back(new_block());
    std::size_t b = find_block(time, entry.tie());
    if (blocks_[b].size == kCapacity) {
      split(b);
      if (!blocks_[b + 1].is_after(time, entry.tie())) ++b;
    }
    Block &block = blocks_[b];
    const int i = block.find(time, entry.tie());
    Entry *const there = &block.entries[i];
    std::move_backward(there, &block.entries[0] + block.size, &block.entries[0] + block.size + 1);
    *there = entry;
    there->time = time - block.offset;
    ++block.size, ++size_;
    if (i == 0) block.begin = time;
    block.summary.add(entry);
    return {b, i};
  }

  // Removes the entry and gives the position of the one after it. Positions before it stay as they are.
  Position erase(Position p) {
    --size_;
    Block &block = blocks_[p.block];
    const bool known = block.summary.remove(block.entries[p.index]);
    std::move(&block.entries[p.index] + 1, &block.entries[0] + block.size, &block.entries[p.index]);
    if (--block.size == 0) {
      spare_.push_back(std::move(block.entries));
      blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(p.block));
      return {p.block, 0};
    }
    if (p.index == 0) block.begin = block.time(0);
    if (!known) block.summarise();
    if (block.size <= kCapacity / 4) take_next(p.block);
    return p.index < blocks_[p.block].size ? p : Position{p.block + 1, 0};
  }

  // Another time for the entry, which leaves the order as it is.
  void set_time(Position p, Time time) {
    keep_exact(time);
    Block &block = blocks_[p.block];
    block.entries[p.index].time = time - block.offset;
    if (p.index == 0) block.begin = time;
  }

  // This entry and all after it, which stay after those before it. All times and `by` are exact.
  void shift(Position from, Time by) {
    if (at_end(from)) return;
    shifted_ = true;
    Block &first = blocks_[from.block];
    for (int i = from.index; i < first.size; ++i) first.entries[i].time += by;
    first.begin = first.time(0);
    for (std::size_t b = from.block + 1; b < blocks_.size(); ++b) blocks_[b].offset += by, blocks_[b].begin += by;
  }

 private:
  struct Block {
    Time begin = 0, offset = 0;  // of the first entry; what is to be added to the entries' times
    int size = 0;
    Summary summary;
    std::unique_ptr<Entry[]> entries;

    Time time(int i) const { return entries[i].time + offset; }
    bool is_after(Time t, std::int64_t tie) const { return begin != t ? begin > t : entries[0].tie() > tie; }
    int find(Time t, std::int64_t tie) const {
      const auto before = [&](const Entry &e, Time at) {
        const Time mine = e.time + offset;
        return mine != at ? mine < at : e.tie() < tie;
      };
      return static_cast<int>(std::lower_bound(&entries[0], &entries[0] + size, t, before) - &entries[0]);
    }
    void summarise() {
      summary = Summary{};
      for (int i = 0; i < size; ++i) summary.add(entries[i]);
    }
  };

  Block new_block() {
    Block block;
    if (spare_.empty()) {
      block.entries = std::make_unique_for_overwrite<Entry[]>(kCapacity);
    } else {
      block.entries = std::move(spare_.back());
      spare_.pop_back();
    }
    return block;
  }

  // The last block whose first entry is not after this.
  std::size_t find_block(Time time, std::int64_t tie) const {
    if (!blocks_.back().is_after(time, tie)) return blocks_.size() - 1;
    if (found_ + 1 < blocks_.size() && !blocks_[found_].is_after(time, tie) && blocks_[found_ + 1].is_after(time, tie))
      return found_;
    const auto after = std::upper_bound(blocks_.begin() + 1, blocks_.end(), time,
                                        [&](Time t, const Block &block) { return block.is_after(t, tie); });
    return found_ = static_cast<std::size_t>(after - blocks_.begin()) - 1;
  }

  void split(std::size_t b) {
    Block right = new_block();
    Block &left = blocks_[b];
    const int keep = left.size / 2;
    std::move(&left.entries[keep], &left.entries[0] + left.size, &right.entries[0]);
    right.size = left.size - keep, left.size = keep;
    right.offset = left.offset, right.begin = right.time(0);
    left.summarise(), right.summarise();
    blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(b) + 1, std::move(right));
  }

  // Two small blocks become one.
  void take_next(std::size_t b) {
    if (b + 1 >= blocks_.size() || blocks_[b + 1].size > kCapacity / 4) return;
    Block &block = blocks_[b], &other = blocks_[b + 1];
    for (int i = 0; i < other.size; ++i) {
      Entry &entry = block.entries[block.size++] = other.entries[i];
      entry.time = entry.time + other.offset - block.offset;
      block.summary.add(entry);
    }
    spare_.push_back(std::move(other.entries));
    blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(b) + 1);
  }

  // Before the first time that is not exact, the blocks get times as they are.
  void keep_exact(Time time) {
    if (!shifted_ || is_exact(time)) return;
    for (Block &block : blocks_)
      for (int i = 0; i < block.size; ++i) block.entries[i].time += block.offset;
    for (Block &block : blocks_) block.offset = 0;
    shifted_ = false;
  }

  std::vector<Block> blocks_;
  std::vector<std::unique_ptr<Entry[]>> spare_;
  std::size_t size_ = 0;
  mutable std::size_t found_ = 0;  // the block that was looked for last: often it is the next one, too
  bool shifted_ = false;
};

}  // namespace schedlab
