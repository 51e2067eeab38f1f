// Columns of a batch of results, side by side in one piece of memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace schedlab {

// Memory for one batch. In huge pages where the system has them and they are asked for: with small pages, the page
// faults of the results cost a fifth of a simulation.
class Arena {
 public:
  Arena(std::size_t bytes, bool huge_pages);
  ~Arena();
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;

  // Room for n values, on a cache line of its own.
  template <class T>
  T *take(std::size_t n) {
    T *part = reinterpret_cast<T *>(begin_ + used_);
    used_ += padded<T>(n);
    return part;
  }
  template <class T>
  static std::size_t padded(std::size_t n) {
    return (n * sizeof(T) + 63) / 64 * 64;
  }

 private:
  std::byte *begin_;
  std::size_t used_ = 0;
  void *mapped_ = nullptr;  // null: from the heap
  std::size_t mapped_bytes_ = 0;
};

// A column of fixed capacity. The arena that it lives in and the number of rows are the batch's.
template <class T>
class Column {
 public:
  void place(Arena &arena, std::size_t capacity) { values_ = arena.take<T>(capacity); }
  T &operator[](std::size_t row) { return values_[row]; }
  const T &operator[](std::size_t row) const { return values_[row]; }
  T *data() const { return values_; }  // null: this batch does without the column

 private:
  T *values_ = nullptr;
};

// Batches grow with the run, so that a small one stays small: 1,024 rows, then four times as many, up to 65,536.
constexpr std::size_t kSmallestBatch = 1024, kLargestBatch = 65536;

// The base of a batch, the number-th of its run: gives its columns their memory and counts the rows.
class Batch {
 public:
  explicit Batch(int number) : Batch(number, usual_capacity(number)) {}
  Batch(int number, std::size_t capacity) : number_(number), capacity_(capacity) {}
  static std::size_t usual_capacity(int number) {
    return std::min(kSmallestBatch << (2 * std::min(number, 8)), kLargestBatch);
  }
  int number() const { return number_; }
  std::size_t capacity() const { return capacity_; }
  std::size_t rows() const { return rows_; }
  std::size_t room() const { return capacity_ - rows_; }
  std::size_t new_row() { return rows_++; }  // to be filled by the caller
  const std::shared_ptr<Arena> &memory() const { return memory_; }

 protected:
  template <class... T>
  void lay_out(Column<T> &...columns) {
    std::vector<Column<std::int64_t>> none;
    lay_out_with(none, columns...);
  }
  // And as many more as there are.
  template <class... T>
  void lay_out_with(std::vector<Column<std::int64_t>> &more, Column<T> &...columns) {
    const std::size_t bytes = (Arena::padded<T>(capacity_) + ...);
    memory_ =
        std::make_shared<Arena>(bytes + more.size() * Arena::padded<std::int64_t>(capacity_), number_ < kHugeBatches);
    (columns.place(*memory_, capacity_), ...);
    for (auto &column : more) column.place(*memory_, capacity_);
  }

 private:
  // Virtual machines are slow to give huge pages by the hundred: after so many batches, small ones are quicker.
  static constexpr int kHugeBatches = 9;

  int number_;
  std::size_t capacity_, rows_ = 0;
  std::shared_ptr<Arena> memory_;
};

}  // namespace schedlab
