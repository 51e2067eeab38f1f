// Numbers and sets of hosts as texts, as the other side reads them.
#pragma once

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

// "1-3 5" are the hosts 1, 2, 3 and 5.
std::string hosts_text(const std::vector<int> &hosts);

struct HostsRead {
  std::vector<int> hosts;  // in increasing order, each once
  bool canonical = true;   // the text is as `hosts_text` would write it
};
// Throws std::invalid_argument that says what cannot be read.
HostsRead read_hosts(std::string_view text);

constexpr int kMostHosts = 1'000'000;  // a range of more is a slip of the pen, and would fill the memory

}  // namespace schedlab::batsim
