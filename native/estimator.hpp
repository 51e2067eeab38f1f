// What the scheduler believes about run times (docs/semantics.md, "Estimates").
#pragma once

#include <memory>

#include "view.hpp"

namespace schedlab {

class Estimator {
 public:
  virtual ~Estimator() = default;
  virtual Time estimate(const Job &job, Slot slot) = 0;  // once, at submission
  virtual void ended(const Job & /*job*/, Slot /*slot*/, Time /*runtime*/) {}

  // The new estimate, a longer one, of a job that has outlived its current one. After so many it is always by as much.
  static constexpr int kCorrections = 11;
  virtual Time correct(const Job &job) const;

  static std::unique_ptr<Estimator> make(const std::string &name, double factor, bool kill_at_limit);
};

}  // namespace schedlab
