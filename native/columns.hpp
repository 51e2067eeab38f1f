// Columns of a batch of results, side by side in one piece of memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
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

// Batches grow with the run, so that a small one stays small: 1,024 rows, then eight times as many, up to 65,536.
constexpr std::size_t kSmallestBatch = 1024, kLargestBatch = 65536;

// What the values of a column are.
enum class Element : std::uint8_t { Byte, Int32, Int64, Float, Double };

template <class T>
constexpr Element element_of() {
  if constexpr (std::is_same_v<T, std::uint8_t>)
    return Element::Byte;
  else if constexpr (std::is_same_v<T, std::int32_t>)
    return Element::Int32;
  else if constexpr (std::is_same_v<T, std::int64_t>)
    return Element::Int64;
  else if constexpr (std::is_same_v<T, float>)
    return Element::Float;
  else {
    static_assert(std::is_same_v<T, double>);
    return Element::Double;
  }
}

// The base of a batch, the number-th of its table in a run: gives its columns their memory, knows them by name, and
// counts the rows. A struct derives from it for each table, and names its columns once, in its constructor.
class Batch {
 public:
  // A column as it leaves the engine.
  struct Laid {
    std::string name;
    Element element;
    void *values;
  };

  Batch(const char *table, int number) : Batch(table, number, usual_capacity(number)) {}
  Batch(const char *table, int number, std::size_t capacity) : table_(table), number_(number), capacity_(capacity) {}
  static std::size_t usual_capacity(int number) {
    return std::min(kSmallestBatch << (3 * std::min(number, 2)), kLargestBatch);
  }
  const char *table() const { return table_; }
  int number() const { return number_; }
  std::size_t rows() const { return rows_; }
  std::size_t room() const { return capacity_ - rows_; }
  std::size_t new_row() { return rows_++; }  // to be filled by the caller
  std::size_t new_rows(std::size_t n) { return std::exchange(rows_, rows_ + n); }
  void begin_again() { rows_ = 0; }  // what was in it is not wanted
  const std::shared_ptr<Arena> &memory() const { return memory_; }
  const std::vector<Laid> &columns() const { return columns_; }
  // What belongs to it and has rows of its own, such as the nodes of jobs; null: nothing.
  virtual const Batch *details() const { return nullptr; }
  // What the numbers in columns of texts stand for; null: there are none.
  virtual const std::vector<std::string> *texts() const { return nullptr; }

 protected:
  Batch(const Batch &) = default;
  Batch(Batch &&) = default;
  Batch &operator=(const Batch &) = default;
  Batch &operator=(Batch &&) = default;
  ~Batch() = default;  // nobody owns one by its base

  // A column by its name in tables, for `lay_out`.
  class Named {
   public:
    template <class T>
    Named(std::string name, Column<T> &column)
        : name_(std::move(name)),
          column_(&column),
          element_(element_of<T>()),
          padded_(&Arena::padded<T>),
          place_([](void *place, Arena &arena, std::size_t capacity) -> void * {
            auto &chosen = *static_cast<Column<T> *>(place);
            chosen.place(arena, capacity);
            return chosen.data();
          }) {}

   private:
    friend class Batch;
    std::string name_;
    void *column_;
    Element element_;
    std::size_t (*padded_)(std::size_t);
    void *(*place_)(void *, Arena &, std::size_t);
  };

  // Once, with all columns that this batch has.
  void lay_out(const std::vector<Named> &named);

 private:
  // Virtual machines are slow to give huge pages by the hundred: after so many batches, small ones are quicker.
  static constexpr int kHugeBatches = 9;

  const char *table_;
  int number_;
  std::size_t capacity_, rows_ = 0;
  std::shared_ptr<Arena> memory_;
  std::vector<Laid> columns_;
};

}  // namespace schedlab
