// A sorted sequence kept in blocks of at most 32 entries, each block with a summary (a sum, a minimum), so that
// insertion and removal move little and a search can step over whole blocks it has no use for.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "types.hpp"

namespace schedlab {

// Entry: a strict total order by `a.before(b)`. Summary: default-constructible, `add(entry)`, and `remove(entry)`,
// which says whether it knows the summary of the others (else it is made anew).
template <class Entry, class Summary>
class BlockList {
 public:
  static constexpr int kCapacity = 32;

  struct Position {
    std::size_t block = 0;
    int index = 0;
  };

  bool empty() const { return blocks_.empty(); }
  std::size_t size() const { return size_; }
  void clear() { blocks_.clear(), size_ = 0; }

  std::size_t block_count() const { return blocks_.size(); }
  const Summary &summary(std::size_t block) const { return blocks_[block].summary; }

  const Entry &front() const { return blocks_.front().at(0); }
  bool at_end(Position p) const { return p.block >= blocks_.size(); }
  const Entry &operator[](Position p) const { return blocks_[p.block].at(p.index); }
  Position next(Position p) const { return ++p.index < blocks_[p.block].size() ? p : Position{p.block + 1, 0}; }
  Position skip_block(Position p) const { return {p.block + 1, 0}; }

  // The first entry from there on that is wanted, without a look into blocks whose summaries say that none is.
  template <class Worth, class Wanted>
  Position search(Position p, const Worth &worth, const Wanted &wanted) const {
    for (; p.block < blocks_.size(); p = skip_block(p)) {
      const Block &block = blocks_[p.block];
      if (p.index == 0 && !worth(block.summary)) continue;
      const Entry *const first = &block.entries[block.begin];
      for (const int size = block.size(); p.index < size; ++p.index)
        if (wanted(first[p.index])) return p;
    }
    return p;
  }

  Position first_not_before(const Entry &entry) const {
    if (blocks_.empty()) return {};
    const std::size_t b = find_block(entry);
    const int i = blocks_[b].find(entry);
    return i < blocks_[b].size() ? Position{b, i} : Position{b + 1, 0};
  }

  void insert(const Entry &entry) {
    ++size_;
    if (blocks_.empty()) blocks_.push_back(new_block());
    // Most entries belong at the end: look there before searching.
    std::size_t b = blocks_.size() - 1;
    if (blocks_.size() > 1 && entry.before(blocks_[b].at(0))) b = find_block(entry);
    if (blocks_[b].size() == kCapacity) {
      split(b);
      if (!entry.before(blocks_[b + 1].at(0))) ++b;
    }
    blocks_[b].insert(entry);
  }

  // Replaces everything by entries that are sorted already.
  void assign(const std::vector<Entry> &sorted) {
    clear();
    for (const Entry &entry : sorted) insert(entry);
  }

  void erase(const Entry &entry) {
    if (blocks_.empty()) [[unlikely]]
      missing();
    const std::size_t b = find_block(entry);
    const int i = blocks_[b].find(entry);
    if (i == blocks_[b].size() || entry.before(blocks_[b].at(i))) [[unlikely]]
      missing();
    erase(Position{b, i});
  }

  // Removes the entry and gives the position of the one after it.
  Position erase(Position p) {
    --size_;
    Block &block = blocks_[p.block];
    block.erase(p.index);
    if (block.size() == 0) {
      spare_.push_back(std::move(block.entries));
      blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(p.block));
      return {p.block, 0};
    }
    return p.index < block.size() ? p : Position{p.block + 1, 0};
  }

 private:
  // Entries live in [begin, end) of the array, so that taking from the front moves nothing.
  struct Block {
    Summary summary;
    int begin = 0, end = 0;
    std::unique_ptr<Entry[]> entries;

    int size() const { return end - begin; }
    const Entry &at(int i) const { return entries[begin + i]; }

    int find(const Entry &entry) const {
      const Entry *first = &entries[begin], *last = &entries[0] + end;
      return static_cast<int>(
          std::lower_bound(first, last, entry, [](const Entry &a, const Entry &b) { return a.before(b); }) - first);
    }
    void insert(const Entry &entry) {
      if (end == kCapacity) {  // full at the back only: the caller has seen to it that there is room
        std::move(&entries[begin], &entries[0] + end, &entries[0]);
        end -= begin, begin = 0;
      }
      const int i = begin + ((size() == 0 || !entry.before(entries[end - 1])) ? size() : find(entry));
      std::move_backward(&entries[0] + i, &entries[0] + end, &entries[0] + end + 1);
      entries[i] = entry;
      ++end;
      summary.add(entry);
    }
    void erase(int i) {
      const bool known = summary.remove(entries[begin + i]);
      if (i == 0) {
        ++begin;
      } else {
        std::move(&entries[0] + begin + i + 1, &entries[0] + end, &entries[0] + begin + i);
        --end;
      }
      if (!known) summarise();
    }
    void summarise() {
      summary = Summary{};
      for (int i = begin; i < end; ++i) summary.add(entries[i]);
    }
  };

  [[noreturn, gnu::cold, gnu::noinline]] static void missing() {
    throw InvariantError("a job is to be taken out of a list in which it is not");
  }

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

  // The last block whose first entry is not after this one.
  std::size_t find_block(const Entry &entry) const {
    const auto after = std::upper_bound(blocks_.begin() + 1, blocks_.end(), entry,
                                        [](const Entry &e, const Block &b) { return e.before(b.at(0)); });
    return static_cast<std::size_t>(after - blocks_.begin()) - 1;
  }

  void split(std::size_t b) {
    Block right = new_block();
    Block &left = blocks_[b];
    const int keep = left.begin + left.size() / 2;
    std::move(&left.entries[keep], &left.entries[0] + left.end, &right.entries[0]);
    right.end = left.end - keep;
    left.end = keep;
    left.summarise(), right.summarise();
    blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(b) + 1, std::move(right));
  }

  std::vector<Block> blocks_;
  std::vector<std::unique_ptr<Entry[]>> spare_;  // a queue that empties and fills again allocates nothing
  std::size_t size_ = 0;
};

}  // namespace schedlab
