// Columns in, columns out: how jobs enter the engine and how results leave it, a batch at a time.
#pragma once

#include "columns.hpp"
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
struct JobRows : Batch {
  Column<std::int64_t> sequence, id, cores, count, after;
  Column<std::int32_t> request, user, group, queue, partition;
  Column<double> submit, eligible, start, end, runtime, limit, estimate, priority, think;
  Column<std::uint8_t> state, reason, backfilled;
  std::vector<std::int64_t> alloc_offset{0};
  std::vector<std::int32_t> alloc_node, alloc_count;

  explicit JobRows(int number) : Batch(number) {
    lay_out(sequence, id, cores, count, after, request, user, group, queue, partition, submit, eligible, start, end,
            runtime, limit, estimate, priority, think, state, reason, backfilled);
    alloc_offset.reserve(capacity() + 1);
    alloc_node.reserve(4 * capacity()), alloc_count.reserve(4 * capacity());  // a guess: they grow where it is wrong
  }
  bool full() const { return id.size() == capacity(); }
};

// The system after each instant at which something changed.
struct TimelineRows : Batch {
  Column<double> time;
  Column<std::int32_t> running, queued;
  Column<std::int64_t> used_cores, queued_cores;

  explicit TimelineRows(int number) : Batch(number) { lay_out(time, running, queued, used_cores, queued_cores); }
  bool full() const { return time.size() == capacity(); }
  bool empty() const { return time.size() == 0; }
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
