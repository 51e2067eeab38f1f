// Numbers and sets of hosts as texts, as the other side reads them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace schedlab::batsim {

// In the fewest digits that are read back as the same number, always as a fraction: 10.0, 1e-09.
std::string number(double value);

// A time in at most 15 digits, and not earlier. RapidJSON reads longer numbers as their neighbours, and batsched gives
// up where it is told a time before the one that it said itself.
std::string told_time(double seconds);

// As `printf` writes it.
std::string formatted(const char *format, double value);

std::string grouped(std::int64_t value);  // 1,234,567

// Nothing but digits, within these bounds.
std::optional<std::int64_t> whole_number(std::string_view digits, std::int64_t lowest, std::int64_t highest);

// "1-3 5" are the hosts 1, 2, 3 and 5.
std::string hosts_text(const std::vector<int> &hosts);

// In increasing order, each once. Throws std::invalid_argument that says what cannot be read.
std::vector<int> read_hosts(std::string_view text);

constexpr int kMostHosts = 1'000'000;  // a range of more is a slip of the pen, and would fill the memory

}  // namespace schedlab::batsim
