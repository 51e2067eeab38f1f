// The files that Batsim leaves behind, as its users' tools read them: names, columns, their order, formats of numbers.
// They are written while the simulation goes on: if it ends badly, what happened until then is there.
#pragma once

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../types.hpp"

namespace schedlab::batsim {

// A job that has left.
struct Row {
  std::string_view workload, job, profile;  // the job without the workload's name
  Time submit;
  int wanted;  // hosts
  Time limit;
  std::string_view state;
  Time start = 0, runtime = 0;
  std::string_view hosts = {}, metadata = {};
};

class File {
 public:
  explicit File(const std::string &path);  // Unsupported if it cannot be written
  void write(std::string_view text) { std::fwrite(text.data(), 1, text.size(), file_.get()); }
  [[gnu::format(printf, 2, 3)]] void print(const char *format, ...);
  bool finish();  // whether all of it could be written

 private:
  struct Close {
    void operator()(std::FILE *file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file_;
};

class Outputs {
 public:
  Outputs(const std::string &prefix, std::vector<std::string> hosts, bool trace, bool states);

  void started(Time time, const std::string &job, const std::vector<int> &hosts);
  void stopped(Time time, const std::string &job, const std::vector<int> &hosts, bool killed);
  void left(const Row &row);
  // It is over: `time` by the simulation's clock; by ours, how long it took, and how long the scheduler did.
  void finish(Time time, double simulation_seconds, double scheduler_seconds, const std::string &version);
  void close();  // an error if not all of it could be written

 private:
  void begin_trace();
  void set(Time time, const std::vector<int> &hosts, const char *value);
  void spend(Time time, const std::vector<int> &hosts, bool computing);
  void write_states(Time time);

  std::string prefix_;
  std::vector<std::string> hosts_;
  std::optional<File> trace_, states_, jobs_, schedule_;
  std::int64_t in_trace_ = 0;  // jobs

  std::vector<char> computing_;  // each host
  std::vector<Time> since_;
  std::int64_t busy_ = 0;
  double spent_[2] = {0, 0};  // seconds of all hosts together, idle and computing, of stays that are over

  std::int64_t all_ = 0, finished_ = 0, successful_ = 0, rejected_ = 0;
  double waited_ = 0, stayed_ = 0, slowdowns_ = 0;
  double longest_wait_ = 0, longest_stay_ = 0, worst_slowdown_ = 0, makespan_ = 0;
};

}  // namespace schedlab::batsim
