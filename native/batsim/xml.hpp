// XML as a tree, as far as platforms need it. What is unusual, or wrong, is Unsupported.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace schedlab::batsim {

struct Element {
  std::string tag;
  std::vector<std::pair<std::string, std::string>> attributes;
  std::vector<Element> children;

  const std::string *attribute(std::string_view name) const;  // null: it has none of that name
  std::string get(std::string_view name, std::string_view otherwise = {}) const;
};

Element read_xml(std::string_view text);  // the root

}  // namespace schedlab::batsim
