#include "granted.hpp"

#include <cstring>

namespace schedlab {

Amount Granted::total(int resource) const {
  Amount sum = 0;
  for (auto i = static_cast<std::size_t>(resource); i < amounts.size(); i += static_cast<std::size_t>(resources))
    sum += amounts[i];
  return sum;
}

std::string Granted::packed() const {
  const std::uint64_t count = amounts.size();
  std::string bytes(reinterpret_cast<const char *>(&count), sizeof count);
  bytes.append(reinterpret_cast<const char *>(amounts.data()), amounts.size() * sizeof(Amount));
  bytes.append(reinterpret_cast<const char *>(devices.data()), devices.size() * sizeof(Device));
  return bytes;
}

std::unique_ptr<Granted> Granted::unpacked(std::string_view bytes, int resources) {
  if (bytes.empty()) return nullptr;
  auto found = std::make_unique<Granted>(resources);
  std::uint64_t count = 0;
  const auto take = [&](void *to, std::size_t size) {
    if (bytes.size() < size) throw std::invalid_argument("what was granted is cut off in the journal");
    if (size > 0) std::memcpy(to, bytes.data(), size);
    bytes.remove_prefix(size);
  };
  take(&count, sizeof count);
  if (count > bytes.size() / sizeof(Amount)) throw std::invalid_argument("the journal grants more than there is");
  found->amounts.resize(count);
  take(found->amounts.data(), count * sizeof(Amount));
  found->devices.resize(bytes.size() / sizeof(Device));
  take(found->devices.data(), found->devices.size() * sizeof(Device));
  return found;
}

bool DeviceBook::in_use(int node, const Device &device) const {
  const auto found = used_.find({node, device.resource});
  const auto index = static_cast<std::size_t>(device.index);
  return found != used_.end() && index < found->second.size() && found->second[index];
}

void DeviceBook::change(const Shares &shares, const Granted &granted, bool use) {
  for (const Device &device : granted.devices) {
    const auto row = used_.try_emplace({shares[static_cast<std::size_t>(device.share)].node, device.resource}).first;
    std::vector<bool> &used = row->second;
    const auto index = static_cast<std::size_t>(device.index);
    if (index >= used.size()) used.resize(index + 1);
    used[index] = use;
    while (!used.empty() && !used.back()) used.pop_back();
    if (used.empty()) used_.erase(row);
  }
}

}  // namespace schedlab
