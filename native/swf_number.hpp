// Numbers as SWF files write them.
#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>

namespace schedlab {

// Digits alone, at most 18 of them (so that they always fit). Anything else is not a job number but a name.
inline bool parse_digits(std::string_view text, std::int64_t &value) {
  if (text.empty() || text.size() > 18) return false;
  std::int64_t sum = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    sum = sum * 10 + (c - '0');
  }
  value = sum;
  return true;
}

// The double nearest to the text. Sign, fraction and exponent are allowed, and so is "nan": the caller looks at the
// value.
inline bool parse_real(std::string_view text, double &value) {
  static constexpr double kPowers[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                       1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  const char *p = text.data();
  const char *const end = p + text.size();
  const bool negative = p != end && *p == '-';
  if (p != end && (*p == '-' || *p == '+')) ++p;
  const char *const first = p;
  // At most 15 digits are exact in a double, and so is a power of ten up to 22: their quotient is correctly rounded
  // (Clinger 1990). That covers nearly every number of every log; the rest goes to the library.
  std::uint64_t digits = 0;  // may wrap where there are too many of them; then it is not used
  while (p != end && *p >= '0' && *p <= '9') digits = digits * 10 + static_cast<std::uint64_t>(*p++ - '0');
  std::size_t count = static_cast<std::size_t>(p - first), decimals = 0;
  if (count <= 15 && p != end && *p == '.') {
    const char *const point = ++p;
    while (p != end && *p >= '0' && *p <= '9' && count + decimals <= 15) {
      digits = digits * 10 + static_cast<std::uint64_t>(*p++ - '0');
      decimals = static_cast<std::size_t>(p - point);
    }
  }
  if (p == end && count + decimals > 0 && count + decimals <= 15) {
    const double size = static_cast<double>(digits) / kPowers[decimals];
    value = negative ? -size : size;
    return true;
  }
  if (first == end || *first == '-' || *first == '+') return false;
  value = 0;
  const auto [rest, error] = std::from_chars(first, end, value);
  if (negative) value = -value;
  return error == std::errc{} && rest == end;
}

}  // namespace schedlab
