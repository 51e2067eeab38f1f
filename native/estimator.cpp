#include "estimator.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace schedlab {

namespace {

class LimitTimes final : public Estimator {
 public:
  explicit LimitTimes(double factor) : factor_(factor) {}
  Time estimate(const Job &job, Slot) override { return factor_ * job.limit; }

 private:
  double factor_;
};

class Exact final : public Estimator {
 public:
  explicit Exact(bool kill_at_limit) : kill_at_limit_(kill_at_limit) {}
  Time estimate(const Job &job, Slot) override {
    return kill_at_limit_ ? std::min(job.runtime, job.limit) : job.runtime;
  }

 private:
  bool kill_at_limit_;
};

// Tsafrir, Etsion and Feitelson, TPDS 2007.
class LastTwo final : public Estimator {
 public:
  Time estimate(const Job &job, Slot) override {
    const auto found = users_.find(job.user);
    if (found == users_.end() || found->second.jobs < 2) return job.limit;
    return std::min(job.limit, std::floor((found->second.last + found->second.before) / 2));
  }
  void ended(const Job &job, Slot, Time runtime) override {
    History &history = users_[job.user];
    history.before = history.last;
    history.last = runtime;
    ++history.jobs;
  }

 private:
  struct History {
    Time last = 0, before = 0;
    int jobs = 0;
  };
  std::unordered_map<std::int32_t, History> users_;
};

}  // namespace

Time Estimator::correct(const Job &job) const {
  constexpr std::array<Time, kCorrections> kSteps = {60,    300,   900,   1800,   3600,  7200,
                                                     18000, 36000, 72000, 180000, 360000};
  const Time elapsed = job.estimate;
  const auto step = static_cast<std::size_t>(job.corrections);
  if (step >= kSteps.size()) return job.limit > elapsed ? job.limit : elapsed + kSteps.back();
  const Time longer = std::max(job.first_estimate + kSteps[step], std::nextafter(elapsed, kNever));
  return job.limit > elapsed ? std::min(longer, job.limit) : longer;
}

std::unique_ptr<Estimator> Estimator::make(const std::string &name, double factor, bool kill_at_limit) {
  if (name == "limit") return std::make_unique<LimitTimes>(factor);
  if (name == "exact") return std::make_unique<Exact>(kill_at_limit);
  if (name == "last-two") return std::make_unique<LastTwo>();
  throw std::invalid_argument("unknown estimate: " + name);
}

}  // namespace schedlab
