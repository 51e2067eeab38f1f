// GCC says where the program is (-fsanitize-coverage=trace-pc); libFuzzer wants a table of counters. This is between.
#include <cstddef>
#include <cstdint>
#include <cstring>

extern "C" {
void __sanitizer_cov_8bit_counters_init(std::uint8_t *begin, std::uint8_t *end);
void __sanitizer_cov_trace_cmp8(std::uint64_t one, std::uint64_t other);
}

namespace {

constexpr std::size_t kPlaces = std::size_t{1} << 13;  // more than the program has, so that few share a counter
std::uint8_t counters[kPlaces];

std::uint64_t bits(double number) {
  std::uint64_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  return bits;
}

[[maybe_unused]] const bool registered = (__sanitizer_cov_8bit_counters_init(counters, counters + kPlaces), true);

}  // namespace

extern "C" {

// libFuzzer has a function of this name that does nothing: the linker is told to take this one (--wrap).
void __wrap___sanitizer_cov_trace_pc() {
  std::uint8_t &counter = counters[reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) % kPlaces];
  counter += counter != 255;
}

// GCC's own, for comparisons of floating-point numbers.
void __sanitizer_cov_trace_cmpd(double one, double other) { __sanitizer_cov_trace_cmp8(bits(one), bits(other)); }
void __sanitizer_cov_trace_cmpf(float one, float other) { __sanitizer_cov_trace_cmpd(one, other); }
}
