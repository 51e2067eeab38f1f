#include "block_column.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace schedlab {

namespace {

constexpr int kDivisors[] = {1, 1000};    // whole numbers, thousandths
constexpr double kLargestExact = 0x1p50;  // ticks; a browser's numbers are doubles

// The nearest whole number, of numbers below 2^51: std::rint is a call for each, this is two additions.
double rounded(double value) {
  constexpr double shift = 0x1.8p52;
  return (value + shift) - shift;
}

// Differences wrap around, and are doubles then, being too large.
std::int64_t less(std::int64_t one, std::int64_t other) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(one) - static_cast<std::uint64_t>(other));
}

template <class T>
struct Reader {
  std::span<const T> values;
  bool has_null;
  double null;
  double divisor;

  bool known(std::size_t i) const {
    const T value = values[i];
    if constexpr (std::is_same_v<T, double>)
      if (std::isnan(value)) return false;
    return !has_null || static_cast<double>(value) != null;
  }

  std::int64_t tick(std::size_t i) const {
    if constexpr (std::is_same_v<T, double>)
      return static_cast<std::int64_t>(rounded(values[i] * divisor));
    else
      return values[i];
  }
};

template <class T>
Reader<T> reader(std::span<const T> values, std::optional<double> null, int divisor) {
  return {values, null.has_value(), null.value_or(0), static_cast<double>(divisor)};
}

// None: another column there is not.
struct Nothing {
  bool known(std::size_t) const { return true; }
  std::int64_t tick(std::size_t) const { return 0; }
};

// Calls back with the place and the tick of every known value.
template <class Values, class Beside, class Visit>
void each(std::size_t number, const Values &values, const Beside &beside, bool delta, std::int64_t first,
          const Visit &visit) {
  std::int64_t before = first;
  for (std::size_t i = 0; i < number; ++i) {
    if (!values.known(i)) continue;
    const std::int64_t tick = less(values.tick(i), beside.tick(i));
    visit(i, delta ? less(tick, before) : tick);
    before = tick;
  }
}

void as_doubles(const BlockValues &values, BlockColumn &found) {
  found = BlockColumn{};
  found.width = 8;
  std::visit(
      [&](const auto &numbers) {
        const auto own = reader(numbers, values.null, 1);
        found.bytes.resize(8 * numbers.size());
        for (std::size_t i = 0; i < numbers.size(); ++i) {
          const double value =
              own.known(i) ? static_cast<double>(numbers[i]) : std::numeric_limits<double>::quiet_NaN();
          const auto bits = std::bit_cast<std::uint64_t>(value);
          for (std::size_t plane = 0; plane < 8; ++plane)
            found.bytes[plane * numbers.size() + i] = static_cast<std::uint8_t>(bits >> (8 * plane));
        }
      },
      values.numbers);
}

template <class Values, class Beside>
bool as_ticks(std::size_t number, const Values &values, const Beside &beside, bool delta, BlockColumn &found) {
  std::size_t known = 0;
  std::int64_t least = std::numeric_limits<std::int64_t>::max(), most = std::numeric_limits<std::int64_t>::min();
  if (delta) {
    std::size_t at = 0;
    while (at < number && !values.known(at)) ++at;
    if (at < number) found.first = less(values.tick(at), beside.tick(at));
  }
  each(number, values, beside, delta, found.first, [&](std::size_t, std::int64_t tick) {
    ++known;
    least = std::min(least, tick);
    most = std::max(most, tick);
  });
  found.nulls = known < number;
  found.base = known ? least : 0;
  const std::uint64_t range = known ? static_cast<std::uint64_t>(less(most, least)) : 0;
  if (range > 0xFFFF'FFFFu - (found.nulls ? 1 : 0)) return false;
  const std::uint64_t largest = range + (found.nulls ? 1 : 0);
  found.width = largest <= 0xFF ? 1 : largest <= 0xFFFF ? 2 : 4;
  found.bytes.resize(static_cast<std::size_t>(found.width) * number);
  const auto write = [&]<int width>() {
    std::uint8_t *const bytes = found.bytes.data();
    const std::int64_t offset = less(found.base, found.nulls ? 1 : 0);
    each(number, values, beside, delta, found.first, [&](std::size_t i, std::int64_t tick) {
      const auto raw = static_cast<std::uint32_t>(less(tick, offset));
      for (std::size_t plane = 0; plane < width; ++plane)
        bytes[plane * number + i] = static_cast<std::uint8_t>(raw >> (8 * plane));
    });
  };
  if (found.width == 1)
    write.template operator()<1>();
  else if (found.width == 2)
    write.template operator()<2>();
  else
    write.template operator()<4>();
  return true;
}

}  // namespace

int block_divisor(const BlockValues &values) {
  const auto *doubles = std::get_if<std::span<const double>>(&values.numbers);
  if (doubles == nullptr) return 1;
  bool whole = true, thousandths = true;
  for (const double value : *doubles) {
    if (std::isnan(value)) continue;
    if (!(std::abs(value) < kLargestExact / kDivisors[1])) return 0;
    whole &= rounded(value) == value;
    thousandths &= rounded(value * kDivisors[1]) / kDivisors[1] == value;
  }
  return whole ? kDivisors[0] : thousandths ? kDivisors[1] : 0;
}

BlockColumn block_column(const BlockValues &values, int divisor, bool delta, const BlockValues *beside) {
  BlockColumn found;
  const bool ticks = divisor != 0 && std::visit(
                                         [&](const auto &numbers) {
                                           const auto own = reader(numbers, values.null, divisor);
                                           found.divisor = divisor;
                                           if (beside == nullptr)
                                             return as_ticks(numbers.size(), own, Nothing{}, delta, found);
                                           return std::visit(
                                               [&](const auto &others) {
                                                 const auto other = reader(others, beside->null, divisor);
                                                 bool both = true;
                                                 for (std::size_t i = 0; i < numbers.size() && both; ++i)
                                                   both = !own.known(i) || other.known(i);
                                                 if (!both)
                                                   return as_ticks(numbers.size(), own, Nothing{}, delta, found);
                                                 found.relative = true;
                                                 return as_ticks(numbers.size(), own, other, delta, found);
                                               },
                                               beside->numbers);
                                         },
                                         values.numbers);
  if (!ticks) as_doubles(values, found);
  return found;
}

}  // namespace schedlab
