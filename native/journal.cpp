#include "journal.hpp"

#include <cstring>

namespace schedlab {

void Journal::write(const Entry &entry, const Shares &shares, std::string_view extra) {
  const std::uint32_t sizes[2] = {static_cast<std::uint32_t>(shares.size()), static_cast<std::uint32_t>(extra.size())};
  bytes_.append(reinterpret_cast<const char *>(&entry), sizeof entry);
  bytes_.append(reinterpret_cast<const char *>(sizes), sizeof sizes);
  if (!shares.empty()) bytes_.append(reinterpret_cast<const char *>(shares.data()), shares.size() * sizeof(Share));
  bytes_.append(extra);
}

bool JournalReader::next() {
  if (at_ == bytes_.size()) return false;
  std::uint32_t sizes[2];
  copy(&entry, sizeof entry), copy(sizes, sizeof sizes);
  shares.resize(sizes[0]), extra.resize(sizes[1]);
  copy(shares.data(), sizes[0] * sizeof(Share)), copy(extra.data(), sizes[1]);
  return true;
}

void JournalReader::copy(void *to, std::size_t size) {
  if (bytes_.size() - at_ < size) throw std::invalid_argument("the journal is cut off");
  if (size > 0) std::memcpy(to, bytes_.data() + at_, size);
  at_ += size;
}

}  // namespace schedlab
