// Which records become jobs, and what stands in for what they lack.
#include <algorithm>
#include <limits>

#include "swf.hpp"

namespace schedlab::swf {

void Parser::clean(const Record &record) {
  const auto &[job, submit, wait, run, allocated, cpu, used, requested, limit, memory, status, user, group, executable,
               queue, partition, after, think] = record.value;
  out_of_order_ += submit < last_submit_;
  last_submit_ = submit;
  const double first = options_.prefer_allocated ? allocated : requested;
  const double second = options_.prefer_allocated ? requested : allocated;
  const double processors = first > 0 ? first : second;
  const bool strict = options_.clean == Clean::Strict;
  const auto largest = static_cast<double>(options_.max_procs);
  if (submit < 0) return drop(kNoSubmit);
  if (processors <= 0) return drop(kNoProcessors);
  if (strict && largest > 0 && (allocated > largest || requested > largest)) return drop(kTooLarge);
  if (options_.clean != Clean::None && run <= 0) return drop(status == 5 ? kCancelled : kNoRun);
  if (strict && limit <= 0) return drop(kNoLimit);
  if (first <= 0) fill(kOtherProcessors);
  keep(record, processors);
}

void Parser::keep(const Record &record, double processors) {
  const auto &value = record.value;
  const double never = std::numeric_limits<double>::infinity();
  double runtime = value[kRun], limit = value[kLimit];
  const bool cancelled = value[kStatus] == 5 && runtime <= 0;
  if (runtime < 0) {
    runtime = 0;
    fill(kZeroRun);
  }
  if (limit <= 0) {
    limit = options_.missing_limit >= 0 ? options_.missing_limit : runtime;
    fill(options_.missing_limit >= 0 ? kGivenLimit : runtime > 0 ? kRunAsLimit : kZeroLimit);
  } else if (options_.clean == Clean::Strict && runtime > limit) {
    runtime = limit;
    fill(kRunCut);
  }
  note(record);

  Columns &to = columns_;
  to.id.push_back(record.id);
  to.submit.push_back(value[kSubmit]);
  to.runtime.push_back(runtime);
  to.limit.push_back(limit);
  to.count.push_back(static_cast<std::int64_t>(processors));
  to.user.push_back(static_cast<std::int32_t>(value[kUser]));
  to.group.push_back(static_cast<std::int32_t>(value[kGroup]));
  to.queue.push_back(static_cast<std::int32_t>(value[kQueue]));
  to.partition.push_back(static_cast<std::int32_t>(value[kPartition]));
  to.executable.push_back(static_cast<std::int32_t>(value[kExecutable]));
  to.status.push_back(static_cast<std::int8_t>(value[kStatus]));
  to.wait.push_back(value[kWait] < 0 ? std::numeric_limits<double>::quiet_NaN() : value[kWait]);
  to.cancel.push_back(cancelled ? value[kSubmit] + std::max(value[kWait], 0.0) : never);
  to.after.push_back(record.after);
  to.think.push_back(std::max(value[kThink], 0.0));
  to.memory.push_back(static_cast<std::int64_t>(std::max(value[kMemory], 0.0) * 1024));
  if (named_) to.names.emplace_back(record.name);
  ++kept_;
}

// What of a job is not kept, or was not understood.
void Parser::note(const Record &record) {
  const auto &value = record.value;
  unkept_[kCpuTimeUnkept] += value[kCpuTime] >= 0;
  unkept_[kUsedMemoryUnkept] += value[kUsedMemory] >= 0;
  unkept_[kOtherUnkept] += value[kAllocated] > 0 && value[kRequested] > 0 && value[kAllocated] != value[kRequested];
  unkept_[kMemoryUnkept] += !options_.memory && value[kMemory] > 0;
  if (record.odd == 0) return;
  for (std::size_t field = 0; field < kFields; ++field) odd_[field] += record.odd >> field & 1;
}

void Columns::reserve(std::size_t size) {
  for (auto *column : {&id, &count, &after, &memory}) column->reserve(size);
  for (auto *column : {&submit, &runtime, &limit, &wait, &cancel, &think}) column->reserve(size);
  for (auto *column : {&user, &group, &queue, &partition, &executable}) column->reserve(size);
  status.reserve(size);
}

}  // namespace schedlab::swf
