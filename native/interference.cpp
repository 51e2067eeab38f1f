// Who shares a node slows down, or speeds up, whom: the model of pairs.
#include "engine.hpp"

namespace schedlab {

namespace {

class Interference final : public Execution {
 public:
  Interference(std::string name, std::shared_ptr<const Pairs> pairs)
      : Execution(std::move(name)), pairs_(std::move(pairs)) {}

  bool sets_rates() const override { return true; }

  // The worst of its nodes decides: the others wait for it.
  double factor(View &view, Slot slot) override {
    const Job &job = view.job(slot);
    double worst = kNever;
    for (const Share &share : job.shares) {
      const std::vector<Slot> &there = view.jobs_on(share.node);
      if (there.size() == 1) continue;
      double here = pairs_->multiply ? 1 : kNever;
      for (const Slot other : there) {
        if (other == slot) continue;
        const double speedup = pairs_->speedup(job.application, view.job(other).application);
        here = pairs_->multiply ? here * speedup : std::min(here, speedup);
      }
      worst = std::min(worst, here);
    }
    if (worst == kNever) return job.request->spread ? pairs_->on_its_own(job.application) : 1;
    return pairs_->cap ? std::min(worst, pairs_->fastest(job.application)) : worst;
  }

 private:
  std::shared_ptr<const Pairs> pairs_;
};

}  // namespace

std::shared_ptr<Execution> make_interference(std::string name, std::shared_ptr<const Pairs> pairs) {
  return std::make_shared<Interference>(std::move(name), std::move(pairs));
}

void Engine::set_pairs(std::shared_ptr<const Pairs> pairs) {
  pairs_ = std::move(pairs);
  rows_ = JobRows(0, {options_.repeat_workload, static_cast<std::size_t>(machine_.nodes()), true});
}

const Pairs *View::pairs() const { return engine_->pairs_.get(); }

Company &Engine::company() {
  if (!company_) {
    company_ = std::make_unique<Company>(machine_, placement_, pairs_);
    note_moves_ = true;
    for (Slot slot = 0; slot < jobs_.size(); ++slot)
      if (jobs_[slot].state == State::Running && !jobs_[slot].released) company_->move(jobs_[slot], true);
  }
  return *company_;
}

}  // namespace schedlab
