// What deciders did, written down: a run that was interrupted is taken up again by doing it once more, without asking
// anybody. Jobs are in the same slots then, because everything else repeats itself.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "types.hpp"

namespace schedlab {

enum class Act : std::uint8_t {
  Start,
  Reject,
  Kill,
  Requeue,
  Suspend,
  Resume,
  Reshape,
  SetRate,
  WakeAt,
  Close,
  Open,
  Reserve,
  Unreserve,
  Submit,
  Withdraw,
  Hold,
  Release,
  KnowRequest,
  KnowName,
  Waits,    // what a job waits for from now on,
  Explain,  // what a decider says of it,
  Refused,  // and that an observer did not let it start
  Complete,
};

// Whose turn it is in a pass: observers' before, the decider's, observers' after.
enum class Phase : std::uint8_t { Before, Deciding, After };

struct Entry {
  Act act;
  Phase phase;
  std::uint8_t code = 0;   // of whether it was backfilled
  std::int32_t shape = 0;  // or the mode of a node
  std::int64_t pass = 0;   // -1: before the first
  std::int64_t who = 0;    // slot, or node
  double a = 0, b = 0;
};

class Journal {
 public:
  // `extra`: what an act needs besides, in its own form.
  void write(const Entry &entry, const Shares &shares = {}, std::string_view extra = {});
  std::string take() { return std::exchange(bytes_, {}); }

 private:
  std::string bytes_;
};

// Reads entries in the order in which they were written.
class JournalReader {
 public:
  explicit JournalReader(std::string bytes) : bytes_(std::move(bytes)) {}
  bool next();  // false at the end; what was read is in these:
  Entry entry;
  Shares shares;
  std::string extra;

 private:
  void copy(void *to, std::size_t size);

  std::string bytes_;
  std::size_t at_ = 0;
};

}  // namespace schedlab
