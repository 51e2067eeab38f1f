// Node sets read: n[001-003,007] and n[001-002]*2 as numbers of nodes (schedlab.model.nodeset.expand, for many texts).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace schedlab {

// Neighbouring nodes of a set, from `first` to before `last`, with as many chunks on each.
struct NodeRange {
  std::int32_t first, last, chunks;
};

class NodeSets {
 public:
  explicit NodeSets(const std::vector<std::string> &names);

  // Appends the nodes of a text in their order. False if it is not the text of such nodes.
  bool expand(std::string_view text, std::vector<NodeRange> &ranges);

 private:
  // Names that are a prefix and so many digits: their nodes by the number that the digits are (-1: no such name).
  using Numbered = std::vector<std::int32_t>;

  bool add(std::string_view prefix, std::string_view inside, std::vector<std::int32_t> &nodes);
  bool find(std::string_view name, std::vector<std::int32_t> &nodes);
  const Numbered *numbered(std::string_view prefix, std::size_t digits);

  std::size_t size_;
  std::unordered_map<std::string, Numbered> numbered_;    // by prefix and number of digits
  std::unordered_map<std::string, std::int32_t> others_;  // names without digits at their end, or with too many
  std::string key_;                                       // that is being looked for
  std::string last_prefix_;                               // what was looked for last, and found
  std::size_t last_digits_ = 0;
  const Numbered *last_ = nullptr;
  std::vector<std::int32_t> nodes_;  // of a part of the text that is being read
  std::uint64_t room_ = 0;           // for nodes in ranges of that text
};

}  // namespace schedlab
