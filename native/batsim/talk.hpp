// The conversation with a scheduler: what happens in the engine is told in messages, one for an instant; what the
// scheduler says comes into effect at the times that it gives. While it is busy (its reply has a later time than the
// question), events wait for it with their own times. What jobs are, and what schedulers may do with them, is the same
// as in src/schedlab/bridge/batsim, which carries more (tests/property/test_batsim_program.py).
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <queue>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "../engine.hpp"
#include "link.hpp"
#include "live.hpp"
#include "log.hpp"
#include "outputs.hpp"
#include "platform.hpp"
#include "reply.hpp"
#include "workload.hpp"

namespace schedlab::batsim {

// Of Batsim's options, those that a scheduler is told of and that can be given here.
struct Rules {
  bool forward_profiles = false, acknowledge = false, storage_sharing = true;
  std::string scheduler_config;
};

class Talk final : public Decider {
 public:
  Talk(Workload &workload, const std::vector<Host> &hosts, const Rules &rules, Link &link, Outputs &outputs, Log &log);

  void decide(View &view, std::span<const Event> events) override;
  bool more_may_come(Time now) const;  // a BatsimError says what jobs wait for in vain
  void finish(Time now);               // the simulation has ended

  Time time() const { return last_told_; }   // of the simulation, when something was last told
  double waited() const { return waited_; }  // seconds by our clock, for the scheduler

 private:
  // A reason why the scheduler cannot have what it asks for.
  struct Refused : std::runtime_error {
    using std::runtime_error::runtime_error;
  };

  // The time as it is written, and what happens.
  void clock(Time time);
  void hear(View &view, std::span<const Event> events);
  void meet(const Job &job, Slot slot);
  void end(Slot slot);
  void call_due();
  std::string begins() const;

  // Messages.
  void tell(std::string_view kind, const std::string &data);
  void tell_end(Live &live, std::string_view state, int code);
  void now_the_later();
  void go_on(View &view);
  void ask();
  void exchange(const std::string &message, bool last);
  bool is_ready(View &view);

  // What the scheduler says, done.
  void apply(View &view, const Said &said);
  void perform(View &view, const Said &said);
  void execute(View &view, const Said &said);
  bool start(View &view, Live &live, const std::vector<int> &hosts);
  void explain(View &view, const Live &live, const std::vector<int> &hosts) const;
  void reject(View &view, const std::string &job);
  void kill(View &view, const std::vector<std::string> &jobs);
  void change_state(View &view, const std::string &job, const std::string &state);
  void call_later(View &view, Time time);
  static std::size_t executors(const Live &live, const Said &said, std::size_t hosts);
  Live &find(const std::string &job);
  void leave(Live &live, std::string_view state);

  Workload &workload_;
  const std::vector<Host> &hosts_;
  const Rules &rules_;
  Link &link_;
  Outputs &outputs_;
  Log &log_;

  bool begun_ = false;
  Time time_ = -1, told_ = 0;  // `told_` is what `now_` says: never before `time_`
  std::string now_;
  std::unordered_map<std::string, Live> live_;
  std::vector<Live *> in_slot_;  // the same, by where the engine has them
  std::int64_t still_to_come_;   // jobs; negative: that there are no more has been told
  std::int64_t moves_ = 0;       // how many jobs have come, and how many have left
  std::int64_t submitted_ = 0, completed_ = 0;

  std::string news_, later_;  // events that the scheduler is to be told; those that come in a message of their own
  std::deque<Said> said_;     // of the last reply, what is not done yet
  Time ready_at_ = -kNever;   // until then the scheduler is busy
  std::priority_queue<Time, std::vector<Time>, std::greater<>> calls_;  // when it wants to be called
  std::unordered_set<std::string> kill_asked_;
  std::string last_;  // its last reply
  std::int64_t exchanges_ = 0;
  Time last_told_ = 0;
  double waited_ = 0;
};

}  // namespace schedlab::batsim
