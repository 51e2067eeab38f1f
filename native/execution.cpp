#include "execution.hpp"

#include <algorithm>

#include "engine.hpp"

namespace schedlab {

namespace {

class Sharing final : public Execution {
 public:
  Sharing(std::string name, double factor) : Execution(std::move(name)), factor_(factor) {}
  bool sets_rates() const override { return true; }
  double factor(View &view, Slot slot) override {
    const Shares &shares = view.job(slot).shares;
    const bool shared = std::any_of(shares.begin(), shares.end(),
                                    [&](const Share &share) { return view.jobs_on(share.node).size() > 1; });
    return shared ? factor_ : 1;
  }

 private:
  double factor_;
};

class Speeds final : public Execution {
 public:
  Speeds(std::string name, std::vector<double> speeds) : Execution(std::move(name)), speeds_(std::move(speeds)) {}
  bool decides_work() const override { return true; }
  double work(View &, Slot, const Shares &shares, double work) override {
    double slowest = kNever;
    for (const Share &share : shares) slowest = std::min(slowest, speeds_[static_cast<std::size_t>(share.node)]);
    return work / slowest;
  }

 private:
  std::vector<double> speeds_;
};

}  // namespace

std::shared_ptr<Execution> make_sharing(std::string name, double factor) {
  return std::make_shared<Sharing>(std::move(name), factor);
}

std::shared_ptr<Execution> make_speeds(std::string name, std::vector<double> speeds) {
  return std::make_shared<Speeds>(std::move(name), std::move(speeds));
}

// ---- who is where ----

Occupants &Engine::occupants() {
  if (occupants_) return *occupants_;
  occupants_ = std::make_unique<Occupants>(machine_.nodes());
  note_moves_ = true;
  std::vector<Slot> running;
  for (Slot slot = 0; slot < jobs_.size(); ++slot)
    if (jobs_[slot].state == State::Running && !jobs_[slot].released) running.push_back(slot);
  sort_by_start(running);
  for (const Slot slot : running) occupants_->move(slot, jobs_[slot].shares, true);
  return *occupants_;
}

void Engine::sort_by_start(std::vector<Slot> &slots) const {
  std::sort(slots.begin(), slots.end(), [this](Slot a, Slot b) { return jobs_[a].start_order < jobs_[b].start_order; });
  slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
}

const std::vector<Slot> &View::jobs_on(int node) const { return engine_->occupants().on(node); }

std::vector<Slot> View::neighbours(Slot slot) const {
  std::vector<Slot> found;
  for (const Share &share : job(slot).shares) {
    const std::vector<Slot> &there = jobs_on(share.node);
    std::copy_if(there.begin(), there.end(), std::back_inserter(found), [slot](Slot other) { return other != slot; });
  }
  engine_->sort_by_start(found);
  return found;
}

// ---- asking models ----

void Engine::add_execution(std::shared_ptr<Execution> model) {
  if (model->sets_rates()) watch_neighbours_ = true, occupants().watch();
  decide_work_ = decide_work_ || model->decides_work();
  by_itself_ = by_itself_ && !decide_work_;
  executions_.push_back(std::move(model));
}

// After a pass: who came and who went is known, and no time has passed.
void Engine::ask_about_rates() {
  std::vector<Slot> concerned;
  for (const int node : occupants_->take_changed()) {
    const std::vector<Slot> &there = occupants_->on(node);
    concerned.insert(concerned.end(), there.begin(), there.end());
  }
  sort_by_start(concerned);
  for (const Slot slot : concerned)
    for (const auto &model : executions_) {
      if (!model->sets_rates()) continue;
      double factor;
      {
        const Question asking(*this, "rate");
        factor = model->factor(*view_, slot);
      }
      view_->set_rate(slot, factor, model->name());
    }
}

double Engine::ask_about_work(Slot slot, const Shares &shares) {
  View &view = *view_;
  view.asked_about_ = slot, view.work_so_far_ = jobs_[slot].runtime;
  for (const auto &model : executions_) {
    if (!model->decides_work()) continue;
    const Question asking(*this, "work");
    view.work_so_far_ = model->work(view, slot, shares, view.work_so_far_);
  }
  view.asked_about_ = kNoSlot;
  return view.work_so_far_;
}

double View::total_work(Slot slot) const { return slot == asked_about_ ? work_so_far_ : job(slot).whole(); }

// So much is the whole job where it will run; what it has done of it counts in proportion. -1: nobody has said.
void Engine::set_whole(Job &job, double whole) {
  const double before = job.whole();
  if (whole < 0 || whole == before) return;
  const double left = job.work - job.overhead;
  job.work = (left == before ? whole : before > 0 ? left * (whole / before) : whole) + job.overhead;
  pace_of(job).whole = whole;
  job.pieced = true;
}

}  // namespace schedlab
