// What deciders and observers do to jobs: each act is checked, written into the journal, and takes effect at once.
#include <algorithm>
#include <cstdio>

#include "engine.hpp"
#include "plan.hpp"

namespace schedlab {

// ---- starting ----

bool View::place(Slot slot, Shares &shares) const {
  const Job &job = engine_->jobs_[slot];
  const Placement &placement = engine_->placement_;
  const bool asks = placement.by_the_moment(), without_some = has_calendar() && restricted(job);
  if (!asks && !without_some)
    return placement.place(cluster(), *job.request, job.count, job.sequence, shares) && affords(job, shares);
  if (job.count * job.request->cores > cluster().usable_cores()) return false;
  NodeState allowed;
  if (without_some) {
    allowed = cluster().state();
    restrict(allowed, job, now(), believed_end(job));
  }
  const NodeState &state = without_some ? allowed : cluster().state();
  if (!asks)
    return placement.place(machine(), state, *job.request, job.count, job.sequence, shares) && affords(job, shares);
  if (placement.by_company()) return engine_->company().place(state, job, shares) && affords(job, shares);
  if (!placement.choose(machine(), state, slot, *job.request, job.count, shares)) return false;
  check_nodes(job, slot, shares, "place");
  return affords(job, shares);
}

bool View::place_beside(const Plan &plan, Slot slot, Shares &shares) const {
  const Job &job = engine_->jobs_[slot];
  if (engine_->placement_.by_the_moment()) {
    Shares chosen;
    if (!place(slot, chosen)) return false;
    if (plan.possible_on(job, chosen))
      shares = std::move(chosen);
    else if (engine_->placement_.threshold() > 0)
      return false;  // the plan does not know whom it would meet there
  }
  return has_room(job, shares);
}

bool View::affords(const Job &job, const Shares &shares, const Granted *granted) const {
  if (machine().affords(cluster().state(), *job.request, shares, granted)) return true;
  over_budget_ = true;
  return false;
}

// The words are for deciders in Python and elsewhere; those in the core, which ask often, do without.
void View::explain_refusal(const Job &job) {
  if (!refusal.empty()) return;  // an observer has said it
  const bool withheld = job.cores <= cluster().free_cores() && job.cores > cluster().usable_cores();
  if (!over_budget_ && !withheld) return;
  char text[128];
  std::snprintf(text, sizeof text, " refused the start of job %lld at %.15g s", static_cast<long long>(job.id), now());
  refusal = "the cap of " + machine().budget()->name + text;
}

void View::forget_refusal() { refusal.clear(), over_budget_ = false; }

bool View::has_room(const Job &job, const Shares &shares) const {
  return affords(job, shares) && std::all_of(shares.begin(), shares.end(), [&](const Share &share) {
           return share.chunks <= machine().room(cluster().state(), share.node, *job.request) &&
                  !window_against(job, share.node);
         });
}

// Nodes that exist, are named once, and are there for the job.
void View::check_usable(const Job &job, Slot slot, const Shares &shares, const char *what) const {
  std::vector<int> nodes;
  for (const Share &share : shares) nodes.push_back(share.node);
  std::sort(nodes.begin(), nodes.end());
  if (std::adjacent_find(nodes.begin(), nodes.end()) != nodes.end())
    engine_->refuse(what, slot, "a node is named twice");
  for (const Share &share : shares) {
    if (share.node < 0 || share.node >= machine().nodes()) engine_->refuse(what, slot, "there is no such node");
    if (cluster().closed(share.node)) engine_->refuse(what, slot, "a node is closed (down, off or drained)");
    if (!job.request->may_use(share.node))
      engine_->refuse(what, slot, "a node is not in its partition or lacks a feature");
    if (const Window *window = window_against(job, share.node))
      engine_->refuse(what, slot, why_not(job, share.node, *window));
  }
}

void View::check_nodes(const Job &job, Slot slot, const Shares &shares, const char *what) const {
  check_usable(job, slot, shares, what);
  std::int64_t chunks = 0;
  for (const Share &share : shares) {
    if (share.chunks < 1 || share.chunks > machine().room(cluster().state(), share.node, *job.request))
      engine_->refuse(what, slot, "a node has not enough free");
    chunks += share.chunks;
  }
  if (chunks != job.count) engine_->refuse(what, slot, "the nodes given do not hold what it asked for");
}

bool View::begin(Slot slot, double priority, Backfilled backfilled) {
  if (engine_->gate_) {
    forget_refusal();
    if (!engine_->gate_->allows(*this, slot, engine_->jobs_[slot].shares)) {
      if (engine_->reasons_) note_gate(slot);
      return false;
    }
  }
  Job &job = engine_->jobs_[slot];
  double whole = -1;
  if (engine_->decide_work_) [[unlikely]] {
    whole = engine_->ask_about_work(slot, job.shares);
    engine_->set_whole(job, whole);
  }
  if (engine_->journal_)
    note(Act::Start, slot, priority, whole, job.shape, backfilled.code, job.shares, job.granted.get());
  engine_->begin(slot, priority, backfilled);
  return true;
}

bool View::start(Slot slot, double priority, Backfilled backfilled) {
  Job &job = engine_->jobs_[slot];
  if (job.state != State::Waiting) engine_->refuse("start", slot, "it is not waiting");
  if (!reservations_.empty()) return start_beside_reservations(slot, nullptr, priority, backfilled);
  if (!engine_->starts_at_once(job)) return place(slot, job.shares) && begin(slot, priority, backfilled);
  if (job.cores > cluster().free_cores()) {
    job.shares.clear();
    return false;
  }
  engine_->begin_at_once(slot, priority, backfilled);
  return true;
}

bool View::start_on(Slot slot, const Shares &shares, double priority, Backfilled backfilled) {
  Job &job = engine_->jobs_[slot];
  if (job.state != State::Waiting) engine_->refuse("start", slot, "it is not waiting");
  check_nodes(job, slot, shares, "start");
  if (!affords(job, shares)) return false;
  if (!reservations_.empty()) return start_beside_reservations(slot, &shares, priority, backfilled);
  job.shares = shares;
  return begin(slot, priority, backfilled);
}

bool View::start_as(Slot slot, std::int32_t shape, Grant *grant, double priority, Backfilled backfilled) {
  Job &job = engine_->jobs_[slot];
  if (job.state != State::Waiting) engine_->refuse("start", slot, "it is not waiting");
  if (shape != job.shape &&
      (!job.flexible || shape < 0 || static_cast<std::size_t>(shape) >= job.flexible->shapes.size()))
    engine_->refuse("start", slot, "it has no such shape");
  forget_refusal();
  const Engine::ShapeMarks before = engine_->shape_marks(job);
  const auto undo = [&] {
    engine_->waiting_cores_ += before.cores - job.cores;
    engine_->count_queued(job, -1);
    engine_->restore(job, before);
    engine_->count_queued(job, +1);
  };
  if (shape != job.shape) change_shape(slot, shape);
  try {
    const bool started = !grant           ? start(slot, priority, backfilled)
                         : grant->granted ? start_granted(slot, *grant, priority, backfilled)
                                          : start_on(slot, grant->shares, priority, backfilled);
    if (!started) explain_refusal(job), undo();
    return started;
  } catch (...) {
    undo();
    throw;
  }
}

void View::change_shape(Slot slot, std::int32_t shape) {
  Job &job = engine_->jobs_[slot];
  engine_->waiting_cores_ -= job.cores, engine_->count_queued(job, -1);
  engine_->take_shape(job, shape);
  engine_->waiting_cores_ += job.cores, engine_->count_queued(job, +1);
}

// ---- what else may become of a job ----

void View::reject(Slot slot) {
  if (engine_->jobs_[slot].state != State::Waiting) engine_->refuse("reject", slot, "it is not waiting");
  note(Act::Reject, slot);
  engine_->dequeue(slot);
  engine_->count_queued(engine_->jobs_[slot], -1);
  drop_reservation(slot);
  engine_->jobs_[slot].reason = Reason::ByPolicy;
  engine_->leave(slot, State::Rejected);
}

Job &View::running_job(Slot slot, const char *what) const {
  Job &job = engine_->jobs_[slot];
  if (job.state != State::Running || job.released) engine_->refuse(what, slot, "it is not running");
  return job;
}

void View::started_by_python() {
  if (native || engine_->phase_ != Phase::Deciding) intervene();
}

void View::check_cost(double cost, Slot slot, const char *what) const {
  if (!(cost >= 0)) engine_->refuse(what, slot, "a cost cannot be negative");
  if (cost == kNever) engine_->refuse(what, slot, "a cost cannot be without end");
}

// Running jobs have taken or left nodes otherwise than plans of native policies know: by observers, or by a policy that
// builds on one of them.
void View::intervene() { ++engine_->interventions_, ++engine_->changes_; }

void View::kill(Slot slot, Reason reason) {
  const bool suspended = engine_->jobs_[slot].state == State::Suspended;
  Job &job = suspended ? engine_->jobs_[slot] : running_job(slot, "kill");
  if (suspended) job.since = now();  // it has done nothing since it was suspended
  engine_->learn(slot);              // may throw: nothing that counts has changed yet
  note(Act::Kill, slot, 0, 0, 0, static_cast<std::uint8_t>(reason));
  job.reason = reason;
  if (suspended) {
    std::erase(engine_->suspended_, slot);
  } else {
    engine_->write_piece(job, PieceEnd::Killed, reason);
    engine_->stop(slot);
  }
  engine_->leave(slot, State::Killed);
  if (engine_->phase_ == Phase::Deciding) intervene();
  engine_->tell(Event::Kind::Completed, slot);
}

void View::complete(Slot slot) {
  Job &job = running_job(slot, "complete");
  engine_->learn(slot);  // may throw: nothing has changed yet
  note(Act::Complete, slot);
  engine_->write_piece(job, PieceEnd::Completed, Reason::ByDecision);
  engine_->stop(slot);
  engine_->leave(slot, State::Completed);
  if (engine_->phase_ == Phase::Deciding) intervene();
  engine_->tell(Event::Kind::Completed, slot);
}

void View::requeue(Slot slot, double saved, double cost, Reason reason) {
  Job &job = running_job(slot, "requeue");
  if (!(saved >= 0)) engine_->refuse("requeue", slot, "what is saved of its work cannot be negative");
  check_cost(cost, slot, "requeue");
  const double whole = job.whole(), done = job.done(now());
  if (saved > done + 1e-9 * (whole < kNever ? whole : done) || saved == kNever)
    engine_->refuse("requeue", slot, "it has not done so much as is to be saved");
  note(Act::Requeue, slot, saved, cost, 0, static_cast<std::uint8_t>(reason));
  engine_->write_piece(job, PieceEnd::Requeued, reason);
  engine_->stop(slot);
  const double kept = whole == job.runtime ? saved : saved * (job.runtime / whole);
  job.pace->whole = -1;  // where it will run next is not known
  job.work = std::max(job.runtime - kept, 0.0) + cost, job.overhead = cost;
  job.pace->first_start = job.first_start();
  job.start = job.key = std::numeric_limits<double>::quiet_NaN();
  job.estimate = job.first_estimate > kept ? job.first_estimate - kept : 1;  // as for jobs that are submitted
  job.corrections = 0;
  job.granted.reset(), job.cores = job.asked_cores();
  job.reserved_start = kNever;
  engine_->enqueue_again(slot);
  if (engine_->phase_ == Phase::Deciding) intervene();
  engine_->tell(Event::Kind::Requeued, slot);
}

void View::suspend(Slot slot) {
  Job &job = running_job(slot, "suspend");
  note(Act::Suspend, slot);
  engine_->write_piece(job, PieceEnd::Suspended);
  engine_->settle(job);
  engine_->stop(slot);
  job.state = State::Suspended;
  engine_->suspended_.push_back(slot);
  intervene();
}

bool View::resume(Slot slot, Grant *grant, double cost) {
  Job &job = engine_->jobs_[slot];
  if (job.state != State::Suspended) engine_->refuse("resume", slot, "it is not suspended");
  check_cost(cost, slot, "resume");
  forget_refusal();
  Grant chosen;
  if (grant) check_grant(job, slot, *grant, "resume"), chosen = std::move(*grant);
  if (grant ? !affords(job, chosen.shares, chosen.granted.get()) : !place(slot, chosen.shares)) {
    explain_refusal(job);
    return false;
  }
  if (engine_->gate_ && !engine_->gate_->allows(*this, slot, chosen.shares)) return false;
  const double whole = engine_->decide_work_ ? engine_->ask_about_work(slot, chosen.shares) : -1;
  note(Act::Resume, slot, cost, whole, 0, 0, chosen.shares, chosen.granted.get());
  go_on(slot, std::move(chosen), cost, whole);
  return true;
}

void View::go_on(Slot slot, Grant grant, double cost, double whole) {
  Job &job = engine_->jobs_[slot];
  std::erase(engine_->suspended_, slot);
  job.shares = std::move(grant.shares);
  job.granted = std::move(grant.granted), job.cores = job.asked_cores();
  engine_->set_whole(job, whole);
  job.work += cost, job.overhead += cost;
  job.estimate = std::max(job.estimate, job.used);  // it runs: nobody believes that it has ended
  engine_->occupy(slot);
  intervene();
}

bool View::reshape(Slot slot, std::int32_t shape, Grant *grant, double cost) {
  Job &job = running_job(slot, "reshape");
  if (!job.flexible || !job.flexible->malleable) engine_->refuse("reshape", slot, "it is not malleable");
  if (shape < 0 || static_cast<std::size_t>(shape) >= job.flexible->shapes.size())
    engine_->refuse("reshape", slot, "it has no such shape");
  check_cost(cost, slot, "reshape");
  if (!engine_->is_at_point(job)) engine_->refuse("reshape", slot, "it is not at a point where it may");
  if (shape == job.shape) return true;
  // Off its nodes for a moment, so that it may keep what it has.
  const Engine::ShapeMarks before = engine_->shape_marks(job);
  LiveCluster &nodes = engine_->cluster_;
  if (job.granted)
    nodes.give_back(*job.request, job.shares, *job.granted);
  else
    nodes.give_back(*job.request, job.shares);
  engine_->settle(job);
  engine_->take_shape(job, shape);
  const auto undo = [&] {
    engine_->restore(job, before);
    if (job.granted)
      nodes.take(*job.request, job.shares, *job.granted);
    else
      nodes.take(*job.request, job.shares);
  };
  Grant chosen;
  bool fits = true;
  double whole = -1;
  try {
    if (grant) {
      check_grant(job, slot, *grant, "reshape");
      fits = affords(job, grant->shares, grant->granted.get());
      chosen = std::move(*grant);
    } else {
      fits = place(slot, chosen.shares);
    }
    if (fits && engine_->decide_work_) whole = engine_->ask_about_work(slot, chosen.shares);
  } catch (...) {
    undo();
    throw;
  }
  undo();
  if (!fits) return false;
  note(Act::Reshape, slot, cost, whole, shape, 0, chosen.shares, chosen.granted.get());
  move_to(slot, shape, std::move(chosen), cost, whole);
  return true;
}

void View::move_to(Slot slot, std::int32_t shape, Grant grant, double cost, double whole) {
  Job &job = engine_->jobs_[slot];
  const double rate = job.rate;
  engine_->write_piece(job, PieceEnd::Reshaped);
  engine_->settle(job);
  engine_->stop(slot);
  engine_->take_shape(job, shape);
  job.shares = std::move(grant.shares), job.granted = std::move(grant.granted);
  engine_->set_whole(job, whole);
  job.work += cost, job.overhead += cost;
  engine_->occupy(slot);
  if (rate != 1) engine_->keep_rate(slot, rate);
  intervene();
}

}  // namespace schedlab
