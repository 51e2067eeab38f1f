// Allocations as granted: what a job holds on its nodes where that is not chunks of its request. Amounts may differ
// from node to node, and single devices (GPUs, sockets, cores) may be named.
#pragma once

#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "types.hpp"

namespace schedlab {

struct Device {
  std::int32_t share, resource, index;  // of which of the job's shares, of which resource, which one of the node's
  auto operator<=>(const Device &) const = default;
};

struct Granted {
  explicit Granted(int resources) : resources(resources) {}

  int resources;
  std::vector<Amount> amounts;  // share by share, by resource
  std::vector<Device> devices;  // in order; those of a share and resource are as many as its amount, or none

  const Amount *on(std::size_t share) const { return &amounts[share * static_cast<std::size_t>(resources)]; }
  Amount *on(std::size_t share) { return &amounts[share * static_cast<std::size_t>(resources)]; }
  Amount total(int resource) const;

  // For the journal.
  std::string packed() const;
  static std::unique_ptr<Granted> unpacked(std::string_view bytes, int resources);
};

// Nodes, and what a job is to have there; the shares' chunks are worked out from the amounts (View::check_grant).
struct Grant {
  Shares shares;
  std::unique_ptr<Granted> granted;  // null: chunks of its request
};

// Which devices are in use: a row of bits for each node and resource of which some are, up to the last of them.
class DeviceBook {
 public:
  bool in_use(int node, const Device &device) const;
  void change(const Shares &shares, const Granted &granted, bool use);
  bool operator==(const DeviceBook &) const = default;

 private:
  std::map<std::pair<std::int32_t, std::int32_t>, std::vector<bool>> used_;
};

}  // namespace schedlab
