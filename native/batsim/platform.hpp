// The machine of a SimGrid platform as Batsim numbers it: compute hosts in the order of their names.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace schedlab::batsim {

using Properties = std::vector<std::pair<std::string, std::string>>;  // in the order of the file, each name once

struct Host {
  std::string name;
  Properties properties, zone_properties;
};

// `roles` of hosts besides those that the file gives them. With storages, and whatever else is unusual or wrong, it is
// Unsupported; links and routes are looked at only so far: jobs that are delays do not use them.
std::vector<Host> read_platform(const std::string &path, const std::map<std::string, std::string> &roles);

}  // namespace schedlab::batsim
