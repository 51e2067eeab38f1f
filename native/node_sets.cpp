#include "node_sets.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace schedlab {

namespace {

bool whole(std::string_view text, std::uint64_t &number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() && !text.empty();
}

// How many digits a text begins with (0: none, or too many), and the number that they are.
std::size_t leading(std::string_view text, std::uint64_t &number) {
  constexpr std::size_t most = 18;  // which fit
  std::size_t digits = 0;
  number = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') {
    number = 10 * number + static_cast<std::uint64_t>(text[digits] - '0');
    if (++digits > most) return 0;
  }
  return digits;
}

// What is before the digits at the end of a name, and these.
std::pair<std::string_view, std::string_view> split(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  const std::size_t begin = last == name.npos ? 0 : last + 1;
  return {name.substr(0, begin), name.substr(begin)};
}

std::size_t length(std::uint64_t number) {
  std::size_t digits = 1;
  while (number >= 10) {
    number /= 10;
    ++digits;
  }
  return digits;
}

const std::string &key_of(std::string_view prefix, std::size_t digits, std::string &key) {
  key.assign(prefix);
  key.push_back('\0');
  key += std::to_string(digits);
  return key;
}

}  // namespace

NodeSets::NodeSets(const std::vector<std::string> &names) : size_(names.size()) {
  const std::size_t most = 16 * size_ + 1'000;  // of a table, which has an entry for every number
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto [prefix, digits] = split(names[i]);
    std::uint64_t number = 0;
    if (!whole(digits, number) || number >= most) {
      others_.emplace(names[i], static_cast<std::int32_t>(i));
      continue;
    }
    Numbered &table = numbered_[key_of(prefix, digits.size(), key_)];
    if (table.size() <= number) table.resize(std::max<std::size_t>(number + 1, 2 * table.size()), -1);
    if (table[number] < 0) table[number] = static_cast<std::int32_t>(i);
  }
}

const NodeSets::Numbered *NodeSets::numbered(std::string_view prefix, std::size_t digits) {
  // Most nodes of a machine are called alike: to compare with the last one is quicker than to look it up.
  if (last_ != nullptr && digits == last_digits_ && prefix == last_prefix_) return last_;
  const auto found = numbered_.find(key_of(prefix, digits, key_));
  if (found == numbered_.end()) return nullptr;
  last_prefix_.assign(prefix);
  last_digits_ = digits;
  return last_ = &found->second;
}

bool NodeSets::find(std::string_view name, std::vector<std::int32_t> &nodes) {
  const auto [prefix, digits] = split(name);
  std::uint64_t number = 0;
  if (whole(digits, number)) {
    const Numbered *table = numbered(prefix, digits.size());
    if (table != nullptr && number < table->size() && (*table)[number] >= 0) {
      nodes.push_back((*table)[number]);
      return true;
    }
  }
  key_.assign(name);
  const auto found = others_.find(key_);
  if (found == others_.end()) return false;
  nodes.push_back(found->second);
  return true;
}

// The numbers of a bracket: 001-003,007. Read letter by letter: there are millions, and most have two or three.
bool NodeSets::add(std::string_view prefix, std::string_view inside, std::vector<std::int32_t> &nodes) {
  const Numbered *table = nullptr;
  std::size_t width = 0;  // of the names in the table
  while (!inside.empty()) {
    std::uint64_t low = 0, high = 0;
    const std::size_t digits_of_low = leading(inside, low);
    if (digits_of_low == 0) return false;
    inside.remove_prefix(digits_of_low);
    high = low;
    if (inside.starts_with('-')) {
      inside.remove_prefix(1);
      const std::size_t digits_of_high = leading(inside, high);
      if (digits_of_high == 0) return false;
      inside.remove_prefix(digits_of_high);
    }
    if (!inside.empty() && inside.front() != ',') return false;
    inside.remove_prefix(std::min<std::size_t>(1, inside.size()));
    if (high < low || high - low >= room_) return false;
    room_ -= high - low + 1;
    for (std::uint64_t number = low; number <= high; ++number) {
      const std::size_t digits = std::max(digits_of_low, length(number));
      if (digits != width) table = numbered(prefix, width = digits);
      if (table != nullptr && number < table->size() && (*table)[number] >= 0) {
        nodes.push_back((*table)[number]);
        continue;
      }
      std::string name = std::to_string(number);
      name.insert(0, digits - name.size(), '0');
      if (!find(name.insert(0, prefix), nodes)) return false;
    }
  }
  return true;
}

bool NodeSets::expand(std::string_view text, std::vector<NodeRange> &ranges) {
  const std::size_t before = ranges.size();
  std::vector<std::int32_t> &nodes = nodes_;
  room_ = 2 * size_ + 1'000;  // a job has a node once: ranges that are written again and again would fill the memory
  while (!text.empty()) {
    nodes.clear();
    std::size_t stop = 0;
    while (stop < text.size() && text[stop] != '[' && text[stop] != ',' && text[stop] != '*') ++stop;
    const std::string_view prefix = text.substr(0, stop);
    text.remove_prefix(prefix.size());
    if (text.starts_with('[')) {
      const std::size_t end = text.find(']');
      if (end == text.npos || !add(prefix, text.substr(1, end - 1), nodes)) return false;
      text.remove_prefix(end + 1);
    } else if (!find(prefix, nodes)) {
      return false;
    }
    std::uint64_t count = 1;
    if (text.starts_with('*')) {
      const std::string_view times = text.substr(1, text.find(',') - 1);
      if (!whole(times, count) || count < 1 || count > INT32_MAX) return false;
      text.remove_prefix(times.size() + 1);
    }
    for (const std::int32_t node : nodes) {
      const auto chunks = static_cast<std::int32_t>(count);
      if (ranges.size() > before && ranges.back().last == node && ranges.back().chunks == chunks)
        ++ranges.back().last;
      else
        ranges.push_back({node, node + 1, chunks});
    }
    if (text.empty()) return true;
    if (!text.starts_with(',') || text.size() == 1) return false;
    text.remove_prefix(1);
  }
  return true;
}

}  // namespace schedlab
