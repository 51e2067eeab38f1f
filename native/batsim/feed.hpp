// The engine's host: jobs go in as columns, a batch at a time; of results, nothing is kept here (outputs.hpp has them).
#pragma once

#include <vector>

#include "../tables.hpp"
#include "talk.hpp"

namespace schedlab::batsim {

class Feed final : public schedlab::Host {
 public:
  Feed(const Workload &workload, const volatile std::sig_atomic_t &stopped) : workload_(workload), stopped_(stopped) {}

  // Before the run, and the engine that asks.
  void set(const Talk &talk, const Engine &engine) { talk_ = &talk, engine_ = &engine; }

  bool refill(JobColumns &columns) override;
  void take(Batch &&) override {}
  std::string more_may_come() override { return talk_->more_may_come(engine_->view()->now()) ? "the scheduler" : ""; }
  std::int64_t last_referrer(std::int64_t) override { return -1; }
  void know_request(const std::string &) override {}
  void know_name(std::int64_t, const std::string &) override {}
  void tick(Time, std::int64_t) override {
    if (stopped_ != 0) throw Interrupted("interrupted");
  }
  void tick_within(Time, std::int64_t) override {}

 private:
  static constexpr std::size_t kBatch = 1 << 13;

  const Workload &workload_;
  const volatile std::sig_atomic_t &stopped_;
  const Talk *talk_ = nullptr;
  const Engine *engine_ = nullptr;
  std::size_t next_ = 0;
  std::vector<std::int64_t> id_, count_;
  std::vector<double> submit_, runtime_, limit_;
  std::vector<double> never_;
  std::vector<std::int32_t> first_, unknown_;
};

}  // namespace schedlab::batsim
