// Allocations as node-set strings: n[001-003,007], and n[001-002]*2 for two chunks on each.
#pragma once

#include <span>

#include "types.hpp"

namespace schedlab {

class NodeNames {
 public:
  explicit NodeNames(const std::vector<std::string> &names);

  // Appends the text for these nodes, folded in the order given (schedlab.model.nodeset.fold says the same in Python).
  void fold(std::span<const std::int32_t> nodes, std::span<const std::int32_t> chunks, std::string &text) const;

 private:
  struct Name {
    std::size_t prefix;  // which prefix
    std::string digits;
    std::uint64_t number;
    bool counts_on_to(const Name &later) const;
  };
  std::vector<std::string> prefixes_;
  std::vector<Name> names_;
};

}  // namespace schedlab
