#include "node_names.hpp"

#include <algorithm>
#include <charconv>

namespace schedlab {

namespace {

void append(std::string &text, std::int32_t number) {
  char digits[16];
  text.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

}  // namespace

// Does counting on from this name, at its width, give the later one? 09 10, 9 10, 99 100, but not 009 10.
bool NodeNames::Name::counts_on_to(const Name &later) const {
  return later.number == number + 1 &&
         (later.digits.size() == digits.size() || (later.digits.size() == digits.size() + 1 && later.digits[0] != '0'));
}

NodeNames::NodeNames(const std::vector<std::string> &names) {
  for (const std::string &name : names) {
    std::size_t split = name.size();
    while (split > 0 && name.size() - split < 18 && name[split - 1] >= '0' && name[split - 1] <= '9') --split;
    const std::string prefix = name.substr(0, split), digits = name.substr(split);
    const auto known = std::find(prefixes_.rbegin(), prefixes_.rend(), prefix);  // most often the last one
    const auto which =
        known == prefixes_.rend() ? prefixes_.size() : static_cast<std::size_t>(prefixes_.rend() - known) - 1;
    if (known == prefixes_.rend()) prefixes_.push_back(prefix);
    names_.push_back({which, digits, digits.empty() ? 0 : std::stoull(digits)});
  }
}

void NodeNames::fold(std::span<const std::int32_t> nodes, std::span<const std::int32_t> chunks,
                     std::string &text) const {
  const auto name = [&](std::size_t i) -> const Name & { return names_[static_cast<std::size_t>(nodes[i])]; };
  for (std::size_t i = 0; i < nodes.size();) {
    std::size_t end = i + 1;  // of the item: same prefix, same chunks, numbered
    while (end < nodes.size() && chunks[end] == chunks[i] && name(end).prefix == name(i).prefix &&
           !name(i).digits.empty() && !name(end).digits.empty())
      ++end;
    if (i > 0) text += ',';
    text += prefixes_[name(i).prefix];
    if (end - i > 1) text += '[';
    for (std::size_t first = i; first < end;) {
      std::size_t last = first;
      while (last + 1 < end && name(last).counts_on_to(name(last + 1))) ++last;
      if (first > i) text += ',';
      text += name(first).digits;
      if (last > first) text += '-', text += name(last).digits;
      first = last + 1;
    }
    if (end - i > 1) text += ']';
    if (chunks[i] != 1) text += '*', append(text, chunks[i]);
    i = end;
  }
}

}  // namespace schedlab
