// A live job: from its submission until it has left. Kept in a slot that is reused afterwards, so that memory follows
// the jobs that are in the system and not the log.
#pragma once

#include "machine.hpp"

namespace schedlab {

enum class State : std::uint8_t { Completed, Killed, Cancelled, Rejected, Held, Waiting, Running, Gone };
enum class Reason : std::uint8_t { None, TooLarge, UnknownPartition, UnknownResource, ByPolicy, NoFeatures };

struct Job {
  // What the workload says.
  std::int64_t sequence, id;
  Time submit, runtime, limit;
  std::int64_t count, cores;
  const Shape* shape;
  std::int32_t request, user, group, queue, partition, executable;
  std::int64_t after;
  Time think;

  // What has become of it.
  State state;
  Reason reason;
  Time eligible;
  Time first_estimate, estimate;  // believed duration, as submitted and as corrected
  int corrections;
  double key, scan_key;  // its place in the policy's queue
  bool backfilled;
  Time start, end;  // `end` is the truth: the engine's, not the policy's
  Time estimated_end;
  std::uint64_t start_order;
  double work, rate;  // remaining work at `since`, and how fast it shrinks
  Time since;
  bool released;  // its resources are free already (passes=event)
  std::size_t heap_position;
  Amount allocated_cores;  // whole nodes count in full
  Shares shares;
  Slot previous, next;  // neighbours in the list of waiting jobs

  Time reserved_start;  // conservative: its reservation
  Shares reserved_shares;
};

}  // namespace schedlab
