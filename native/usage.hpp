// What users and groups have used of the machine's cores. Use counts half as much after each half-life.
#pragma once

#include <cmath>
#include <unordered_map>

#include "job.hpp"

namespace schedlab {

class Usage {
 public:
  explicit Usage(Time half_life) : half_life_(half_life) {}

  // A job takes its cores, or gives them back.
  void move(const Job &job, bool onto, Time now) {
    const Amount cores = onto ? job.allocated_cores : -job.allocated_cores;
    all_.change(cores, now, half_life_);
    users_[job.user].change(cores, now, half_life_);
    groups_[job.group].change(cores, now, half_life_);
  }

  // As a multiple of an equal share of all use among those who have had jobs.
  double of_user(std::int32_t user, Time now) const { return multiple(users_, user, now); }
  double of_group(std::int32_t group, Time now) const { return multiple(groups_, group, now); }

 private:
  struct Account {
    double used = 0;   // core-seconds by then, the older the less
    Amount cores = 0;  // in use since then
    Time since = 0;

    double at(Time now, Time half_life) const {
      const double left = std::exp2((since - now) / half_life);
      return used * left + static_cast<double>(cores) * (1 - left) * (half_life / std::log(2.0));
    }
    void change(Amount by, Time now, Time half_life) {
      used = at(now, half_life);
      since = now;
      cores += by;
    }
  };
  using Accounts = std::unordered_map<std::int32_t, Account>;

  double multiple(const Accounts &accounts, std::int32_t who, Time now) const {
    const double all = all_.at(now, half_life_);
    const auto found = accounts.find(who);
    if (found == accounts.end() || !(all > 0)) return 0;
    return found->second.at(now, half_life_) * static_cast<double>(accounts.size()) / all;
  }

  Time half_life_;
  Account all_;
  Accounts users_, groups_;
};

}  // namespace schedlab
