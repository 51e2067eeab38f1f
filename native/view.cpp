// What deciders see and do.
#include <algorithm>

#include "engine.hpp"

namespace schedlab {

Time View::now() const { return engine_.now_; }
const Job &View::job(Slot slot) const { return engine_.jobs_[slot]; }
Job &View::annotate(Slot slot) { return engine_.jobs_[slot]; }
Slot View::first_waiting() const { return engine_.waiting_first_; }
std::size_t View::waiting() const { return static_cast<std::size_t>(engine_.waiting_count_); }
const EstimatedEnds &View::estimated_ends() const { return engine_.estimated_ends(); }
const LiveCluster &View::cluster() const { return engine_.cluster_; }
const Machine &View::machine() const { return engine_.machine_; }
const Placement &View::placement() const { return engine_.placement_; }
std::uint64_t View::changes() const { return engine_.changes_; }

bool View::place(Slot slot, Shares &shares) const {
  const Job &job = engine_.jobs_[slot];
  return engine_.placement_.place(engine_.cluster_, *job.shape, job.count, job.sequence, shares);
}

bool View::start(Slot slot, double priority, bool backfilled) {
  Job &job = engine_.jobs_[slot];
  if (job.state != State::Waiting) engine_.refuse("start", slot, "it is not waiting");
  if (!place(slot, job.shares)) return false;
  engine_.begin(slot, priority, backfilled);
  return true;
}

void View::start_on(Slot slot, const Shares &shares, double priority, bool backfilled) {
  Job &job = engine_.jobs_[slot];
  if (job.state != State::Waiting) engine_.refuse("start", slot, "it is not waiting");
  std::int64_t chunks = 0;
  for (const Share &share : shares) {
    if (share.node < 0 || share.node >= machine().nodes()) engine_.refuse("start", slot, "there is no such node");
    const bool eligible = std::any_of(job.shape->ranges.begin(), job.shape->ranges.end(),
                                      [&](const auto &r) { return share.node >= r.first && share.node < r.second; });
    if (!eligible) engine_.refuse("start", slot, "a node is not in its partition or lacks a feature");
    if (share.chunks < 1 || share.chunks > machine().room(cluster().state(), share.node, *job.shape))
      engine_.refuse("start", slot, "a node has not enough free");
    chunks += share.chunks;
  }
  if (chunks != job.count) engine_.refuse("start", slot, "the nodes given do not hold what it asked for");
  job.shares = shares;
  engine_.begin(slot, priority, backfilled);
}

void View::reject(Slot slot) {
  if (engine_.jobs_[slot].state != State::Waiting) engine_.refuse("reject", slot, "it is not waiting");
  engine_.dequeue(slot);
  engine_.jobs_[slot].reason = Reason::ByPolicy;
  engine_.leave(slot, State::Rejected, engine_.now_);
}

void View::kill(Slot slot) {
  Job &job = engine_.jobs_[slot];
  if (job.state != State::Running || job.released) engine_.refuse("kill", slot, "it is not running");
  engine_.stop(slot);
  engine_.leave(slot, State::Killed, engine_.now_);
}

void View::requeue(Slot slot) {
  Job &job = engine_.jobs_[slot];
  if (job.state != State::Running || job.released) engine_.refuse("requeue", slot, "it is not running");
  engine_.stop(slot);
  job.start = std::numeric_limits<double>::quiet_NaN();
  job.estimate = job.first_estimate, job.corrections = 0;
  engine_.enqueue(slot);
}

void View::set_rate(Slot slot, double rate) { engine_.set_rate(slot, rate); }

void View::wake_at(Time time) {
  if (!(time > engine_.now_)) throw DecisionError("cannot wake the policy at a time that is not in the future");
  if (time < kNever) engine_.set_timer(time, Engine::TimerKind::Wake, kNoSlot);
}

}  // namespace schedlab
