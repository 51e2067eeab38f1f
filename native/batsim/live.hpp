// A job that the scheduler knows and that has not left.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "workload.hpp"

namespace schedlab::batsim {

constexpr std::string_view kSubmitted = "SUBMITTED", kRunning = "RUNNING", kSuccessfully = "COMPLETED_SUCCESSFULLY",
                           kFailed = "COMPLETED_FAILED", kAtWalltime = "COMPLETED_WALLTIME_REACHED",
                           kKilled = "COMPLETED_KILLED", kRejected = "REJECTED";

struct Live {
  std::string id;  // with the workload's name
  Place place;
  Slot slot;  // where the engine has it
  std::string_view state = kSubmitted;
  Time start = 0;
  std::vector<int> hosts;
  std::string alloc, metadata;  // `alloc`: the hosts as a text
};

}  // namespace schedlab::batsim
