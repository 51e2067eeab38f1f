#include "numbers.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace schedlab::batsim {

namespace {

constexpr int kDigits = 15;                                   // of numbers that everybody reads as they are
constexpr int kSmallestExponent = -4, kLargestExponent = 16;  // between them, numbers are written without one

// One that is too large for a number is too large for a host, too.
int host(std::string_view digits, std::string_view part) {
  const auto value = whole_number(digits, 0, INT64_MAX);
  const bool too_large = !value && !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos;
  if (!value && !too_large)
    throw std::invalid_argument("'" + std::string(part) + "' is neither a number nor a range of numbers such as 1-3");
  return too_large || *value > kMostHosts ? kMostHosts + 1 : static_cast<int>(*value);
}

void append_range(std::string &text, int begin, int last) {
  if (begin < 0) return;
  if (!text.empty()) text += ' ';
  text += std::to_string(begin);
  if (last > begin) text += '-' + std::to_string(last);
}

}  // namespace

std::string number(double value) {
  char text[40];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific).ptr;
  const std::string_view written(text, static_cast<std::size_t>(end - text));
  const std::size_t e = written.find('e');
  if (e == std::string_view::npos) return std::string(written);
  const int exponent = std::atoi(std::string(written.substr(e + 1)).c_str());
  if (exponent < kSmallestExponent || exponent >= kLargestExponent) return std::string(written);
  const bool negative = written[0] == '-';
  std::string digits;
  for (const char c : written.substr(0, e))
    if (c >= '0' && c <= '9') digits += c;
  std::string found = negative ? "-" : "";
  if (exponent < 0) return found + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  const auto whole = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() <= whole) return found + digits + std::string(whole - digits.size(), '0') + ".0";
  return found + digits.substr(0, whole) + '.' + digits.substr(whole);
}

std::string told_time(double seconds) {
  std::string exact = number(seconds);
  if (exact.size() <= kDigits + 1) return exact;  // with the point
  std::string near = formatted("%.15g", seconds);
  if (std::strtod(near.c_str(), nullptr) < seconds) {
    const double unit = std::pow(10.0, std::floor(std::log10(std::abs(seconds))) - kDigits + 1);  // of the last digit
    near = formatted("%.15g", std::strtod(near.c_str(), nullptr) + unit);
  }
  return near;
}

std::string formatted(const char *format, double value) {
  char text[400];
  const int size = std::snprintf(text, sizeof text, format, value);
  return {text, static_cast<std::size_t>(size)};
}

std::string hosts_text(const std::vector<int> &hosts) {
  std::string text;
  int begin = -2, last = -2;
  for (const int one : hosts) {
    if (one != last + 1) {
      append_range(text, begin, last);
      begin = one;
    }
    last = one;
  }
  append_range(text, begin, last);
  return text;
}

std::string grouped(std::int64_t value) {
  std::string text = std::to_string(value);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

std::optional<std::int64_t> whole_number(std::string_view digits, std::int64_t lowest, std::int64_t highest) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool whole = error == std::errc() && end == digits.data() + digits.size() && digits[0] != '-';
  return whole && value >= lowest && value <= highest ? std::optional(value) : std::nullopt;
}

std::vector<int> read_hosts(std::string_view text) {
  std::vector<int> hosts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t space = std::min(text.find(' ', at), text.size());
    const std::string_view part = text.substr(at, space - at);
    at = space + 1;
    const std::size_t dash = part.find('-');
    const int begin = host(part.substr(0, dash), part);
    const int last = dash == std::string_view::npos ? begin : host(part.substr(dash + 1), part);
    if (dash != std::string_view::npos && (last < begin || last > kMostHosts))
      throw std::invalid_argument("'" + std::string(part) + "' is not a range of hosts");
    for (int one = begin; one <= last; ++one) hosts.push_back(one);
  }
  std::sort(hosts.begin(), hosts.end());
  hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
  return hosts;
}

}  // namespace schedlab::batsim
