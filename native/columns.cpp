#include "columns.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <new>

namespace schedlab {

namespace {
constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::align_val_t kLine{64};
}  // namespace

Arena::Arena(std::size_t bytes, bool huge_pages) {
  if (bytes < kHugePage || !huge_pages) {
    begin_ = static_cast<std::byte *>(::operator new(bytes, kLine));
    return;
  }
  const std::size_t huge = (bytes + kHugePage / 2) / kHugePage * kHugePage;  // most of the last one is better than none
  mapped_bytes_ = std::max(bytes, huge) + kHugePage;                         // room to begin at a huge page
  mapped_ = mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped_ == MAP_FAILED) throw std::bad_alloc();
  const auto address = (reinterpret_cast<std::uintptr_t>(mapped_) + kHugePage - 1) / kHugePage * kHugePage;
  begin_ = reinterpret_cast<std::byte *>(address);
  madvise(begin_, huge, MADV_HUGEPAGE);  // a wish: without huge pages it is only slower
}

Arena::~Arena() {
  if (mapped_)
    munmap(mapped_, mapped_bytes_);
  else
    ::operator delete(begin_, kLine);
}

void Batch::lay_out(const std::vector<Named> &named) {
  std::size_t bytes = 0;
  for (const Named &column : named) bytes += column.padded_(capacity_);
  memory_ = std::make_shared<Arena>(bytes, number_ < kHugeBatches);
  columns_.reserve(named.size());
  for (const Named &column : named)
    columns_.push_back({column.name_, column.element_, column.place_(column.column_, *memory_, capacity_)});
}

}  // namespace schedlab
