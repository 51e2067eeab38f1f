// Numbers as the bytes of a block for browsers (schedlab.web.block): whole ticks above a base, as unsigned numbers of
// 1, 2 or 4 bytes, or doubles; bytes of the same weight stand together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

namespace schedlab {

// NaN, and `null` if there is one, mean unknown.
struct BlockValues {
  std::variant<std::span<const double>, std::span<const std::int64_t>> numbers;
  std::optional<double> null;
};

struct BlockColumn {
  int divisor = 0;         // of which all values are whole multiples (1, 1000); 0: they are doubles
  int width = 0;           // bytes of a value
  bool relative = false;   // differences to the other column
  bool nulls = false;      // 0 is unknown
  std::int64_t first = 0;  // of differences to the one before: what the first one is
  std::int64_t base = 0;   // what was subtracted
  std::vector<std::uint8_t> bytes;
};

// The unit of which all values are whole multiples, or 0.
int block_divisor(const BlockValues &values);

// The column, as differences to the one before (`delta`), and to another column of the same unit wherever both are
// known (`beside`).
BlockColumn block_column(const BlockValues &values, int divisor, bool delta, const BlockValues *beside);

}  // namespace schedlab
