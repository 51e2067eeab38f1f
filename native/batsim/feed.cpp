#include "feed.hpp"

#include <algorithm>

namespace schedlab::batsim {

bool Feed::refill(JobColumns &columns) {
  const std::vector<Place> &order = workload_.order();
  const std::size_t size = std::min(kBatch, order.size() - next_);
  if (size == 0) return false;
  id_.clear(), count_.clear(), submit_.clear(), runtime_.clear(), limit_.clear();
  for (std::size_t i = next_; i < next_ + size; ++i) {
    const Line &line = workload_.line(order[i]);
    id_.push_back(static_cast<std::int64_t>(i));
    count_.push_back(std::max(line.hosts, 1));
    submit_.push_back(line.submit), limit_.push_back(line.limit);
    runtime_.push_back(workload_.profile(order[i]).seconds);
  }
  next_ += size;
  never_.assign(size, kNever), first_.assign(size, 0), unknown_.assign(size, -1);
  columns = {};
  columns.size = size;
  columns.id = id_.data(), columns.count = count_.data();
  columns.submit = submit_.data(), columns.runtime = runtime_.data(), columns.limit = limit_.data();
  columns.cancel = never_.data();
  columns.request = first_.data();
  columns.user = columns.group = columns.queue = columns.partition = unknown_.data();
  return true;
}

}  // namespace schedlab::batsim
