// Columns in, columns out: how jobs enter the engine and how results leave it, a batch at a time.
#pragma once

#include "types.hpp"

namespace schedlab {

// A batch of the workload; the memory belongs to the host until it gives the next one.
struct JobColumns {
  std::size_t size = 0;
  const std::int64_t *id, *count, *after;
  const double *submit, *runtime, *limit, *cancel, *think;
  const std::int32_t *request, *user, *group, *queue, *partition;
};

// Jobs that have left, in the order of leaving.
struct JobRows {
  static constexpr std::size_t kFull = 65536;
  std::vector<std::int64_t> sequence, id, cores, count, after;
  std::vector<std::int32_t> request, user, group, queue, partition;
  std::vector<double> submit, eligible, start, end, runtime, limit, estimate, priority, think;
  std::vector<std::uint8_t> state, reason, backfilled;
  std::vector<std::int64_t> alloc_offset;
  std::vector<std::int32_t> alloc_node, alloc_count;

  JobRows() {
    for (auto *column : {&sequence, &id, &cores, &count, &after, &alloc_offset}) column->reserve(kFull + 1);
    for (auto *column : {&request, &user, &group, &queue, &partition}) column->reserve(kFull);
    for (auto *column : {&submit, &eligible, &start, &end, &runtime, &limit, &estimate, &priority, &think})
      column->reserve(kFull);
    for (auto *column : {&state, &reason, &backfilled}) column->reserve(kFull);
    alloc_offset.push_back(0);
  }
  std::size_t size() const { return id.size(); }
};

// The system after each instant at which something changed.
struct TimelineRows {
  static constexpr std::size_t kFull = JobRows::kFull;
  std::vector<double> time;
  std::vector<std::int32_t> running, queued;
  std::vector<std::int64_t> used_cores, queued_cores;

  TimelineRows() {
    time.reserve(kFull);
    for (auto *column : {&running, &queued}) column->reserve(kFull);
    for (auto *column : {&used_cores, &queued_cores}) column->reserve(kFull);
  }
  std::size_t size() const { return time.size(); }
};

// Whoever embeds the engine: gives jobs, takes results, is told of progress.
class Host {
 public:
  virtual ~Host() = default;
  virtual bool refill(JobColumns &columns) = 0;  // false when the workload is over
  virtual void take(JobRows &&rows) = 0;
  virtual void take(TimelineRows &&rows) = 0;
  virtual void tick(Time now, std::int64_t ended) = 0;  // every few thousand instants; may throw to stop the run
};

}  // namespace schedlab
