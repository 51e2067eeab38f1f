#include "journal.hpp"

#include <cstring>

namespace schedlab {

void Journal::write(const Entry &entry, const Shares &shares) {
  const auto count = static_cast<std::uint32_t>(shares.size());
  bytes_.append(reinterpret_cast<const char *>(&entry), sizeof entry);
  bytes_.append(reinterpret_cast<const char *>(&count), sizeof count);
  if (count > 0) bytes_.append(reinterpret_cast<const char *>(shares.data()), count * sizeof(Share));
}

bool JournalReader::next(Entry &entry, Shares &shares) {
  std::uint32_t count;
  if (at_ == bytes_.size()) return false;
  if (bytes_.size() - at_ < sizeof entry + sizeof count) throw std::invalid_argument("the journal is cut off");
  std::memcpy(&entry, bytes_.data() + at_, sizeof entry);
  std::memcpy(&count, bytes_.data() + at_ + sizeof entry, sizeof count);
  at_ += sizeof entry + sizeof count;
  if (bytes_.size() - at_ < count * sizeof(Share)) throw std::invalid_argument("the journal is cut off");
  shares.resize(count);
  if (count > 0) std::memcpy(shares.data(), bytes_.data() + at_, count * sizeof(Share));
  at_ += count * sizeof(Share);
  return true;
}

}  // namespace schedlab
