// What a scheduler says (Batsim 3 and 4, JSON): replies are read and checked; what they mean is looked at where they
// are applied.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../types.hpp"

namespace schedlab::batsim {

enum class Kind {
  ExecuteJob,
  RejectJob,
  KillJob,
  CallMeLater,
  RegisterJob,
  RegisterProfile,
  SetResourceState,
  SetJobMetadata,
  ChangeJobState,
  Notify,
  Query,
  Answer,
  ToJobMessage
};

struct Said {
  Kind kind;
  Time timestamp;
  std::string text;                // as it was said
  std::string job;                 // ExecuteJob, RejectJob, SetJobMetadata, ChangeJobState, ToJobMessage
  std::string what;                // hosts, metadata, a state, a type
  std::vector<std::string> names;  // of jobs, questions, answers
  std::optional<std::map<std::string, std::string>> mapping;  // executor -> place, as written
  Time call = 0;
};

struct Reply {
  Time now;
  std::deque<Said> events;
};

Reply read_reply(std::string_view content);  // a BatsimError says what is wrong with it

}  // namespace schedlab::batsim
