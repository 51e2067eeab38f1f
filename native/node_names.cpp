#include "node_names.hpp"

#include <algorithm>
#include <charconv>

namespace schedlab {

namespace {

// Does counting on from `digits`, at its width, give `later`? 09 10, 9 10, 99 100, but not 009 10.
bool counts_on(const std::string &digits, const std::string &later) {
  if (digits.empty() || later.empty()) return false;
  std::string next = digits;
  auto digit = next.rbegin();
  for (; digit != next.rend() && *digit == '9'; ++digit) *digit = '0';
  if (digit == next.rend())
    next.insert(next.begin(), '1');
  else
    ++*digit;
  return next == later;
}

void append(std::string &text, std::int32_t number) {
  char digits[16];
  text.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

}  // namespace

NodeNames::NodeNames(const std::vector<std::string> &names) {
  for (const std::string &name : names) {
    std::size_t split = name.size();
    while (split > 0 && name.size() - split < 18 && name[split - 1] >= '0' && name[split - 1] <= '9') --split;
    const std::string prefix = name.substr(0, split), digits = name.substr(split);
    if (prefixes_.empty() || prefixes_.back() != prefix) prefixes_.push_back(prefix);
    const auto which = static_cast<std::int32_t>(prefixes_.size()) - 1;
    const bool follows = !names_.empty() && names_.back().prefix == which && counts_on(names_.back().digits, digits);
    names_.push_back({which, digits, follows});
  }
}

void NodeNames::fold(std::span<const std::int32_t> nodes, std::span<const std::int32_t> chunks,
                     std::string &text) const {
  for (std::size_t i = 0; i < nodes.size();) {
    const Name &first = names_[static_cast<std::size_t>(nodes[i])];
    std::size_t end = i + 1;  // of the item: same prefix, same chunks, numbered
    while (end < nodes.size() && !first.digits.empty() && chunks[end] == chunks[i] &&
           prefixes_[static_cast<std::size_t>(names_[static_cast<std::size_t>(nodes[end])].prefix)] ==
               prefixes_[static_cast<std::size_t>(first.prefix)] &&
           !names_[static_cast<std::size_t>(nodes[end])].digits.empty())
      ++end;
    if (i > 0) text += ',';
    text += prefixes_[static_cast<std::size_t>(first.prefix)];
    if (end - i > 1) text += '[';
    for (std::size_t run = i; run < end;) {
      std::size_t last = run;
      while (last + 1 < end && nodes[last + 1] == nodes[last] + 1 &&
             names_[static_cast<std::size_t>(nodes[last + 1])].follows)
        ++last;
      if (run > i) text += ',';
      text += names_[static_cast<std::size_t>(nodes[run])].digits;
      if (last > run) text += '-', text += names_[static_cast<std::size_t>(nodes[last])].digits;
      run = last + 1;
    }
    if (end - i > 1) text += ']';
    if (chunks[i] != 1) text += '*', append(text, chunks[i]);
    i = end;
  }
}

}  // namespace schedlab
