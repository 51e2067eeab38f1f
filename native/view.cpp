// What deciders see and do.
#include "view.hpp"

#include <algorithm>
#include <cstdio>

#include "engine.hpp"
#include "plan.hpp"

namespace schedlab {

View::View(Engine &engine) : engine_(&engine) {}
View::~View() = default;

std::shared_ptr<void> View::keep_alive() const { return engine_->shared_from_this(); }

std::span<const Event> View::events() const { return engine_->events(); }
const EstimatedEnds &View::estimated_ends() const { return engine_->estimated_ends(); }
const std::vector<Slot> &View::suspended() const { return engine_->suspended_; }
std::vector<Move> View::take_moves() { return std::exchange(engine_->moves_, {}); }
std::int64_t View::node_changes() const { return engine_->node_changes_; }
NodeMode View::mode(int node) const {
  return engine_->modes_.empty() ? NodeMode::Up : engine_->modes_[static_cast<std::size_t>(node)];
}

std::vector<Slot> View::jobs_on(int node) const {
  std::vector<Slot> found;
  for (Slot slot = 0; slot < engine_->jobs_.size(); ++slot) {
    const Job &job = engine_->jobs_[slot];
    if (job.state == State::Running && !job.released &&
        std::any_of(job.shares.begin(), job.shares.end(), [node](const Share &s) { return s.node == node; }))
      found.push_back(slot);
  }
  std::sort(found.begin(), found.end(), [&](Slot a, Slot b) { return job(a).start_order < job(b).start_order; });
  return found;
}

std::span<const Finished> View::history(std::int32_t user) const {
  const auto found = engine_->history_.find(user);
  return found == engine_->history_.end() ? std::span<const Finished>() : std::span<const Finished>(found->second);
}

std::string View::node_name(int node) const {
  const auto i = static_cast<std::size_t>(node);
  return i < node_names.size() ? node_names[i] : std::to_string(node);
}

// ---- starting ----

bool View::place(Slot slot, Shares &shares) const {
  const Job &job = engine_->jobs_[slot];
  const Placement &placement = engine_->placement_;
  const bool asks = placement.chosen(), without_some = restricted(job);
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
  if (!placement.choose(machine(), state, slot, *job.request, job.count, shares)) return false;
  check_nodes(job, slot, shares, "place");
  return affords(job, shares);
}

bool View::place_beside(const Plan &plan, Slot slot, Shares &shares) const {
  const Job &job = engine_->jobs_[slot];
  if (engine_->placement_.chosen()) {
    Shares chosen;
    if (!place(slot, chosen)) return false;
    if (plan.possible_on(job, chosen)) shares = std::move(chosen);
  }
  return has_room(job, shares);
}

bool View::affords(const Job &job, const Shares &shares) const {
  if (machine().affords(cluster().state(), *job.request, shares)) return true;
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

void View::check_nodes(const Job &job, Slot slot, const Shares &shares, const char *what) const {
  std::int64_t chunks = 0;
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
    if (share.chunks < 1 || share.chunks > machine().room(cluster().state(), share.node, *job.request))
      engine_->refuse(what, slot, "a node has not enough free");
    chunks += share.chunks;
  }
  if (chunks != job.count) engine_->refuse(what, slot, "the nodes given do not hold what it asked for");
}

bool View::begin(Slot slot, double priority, Backfilled backfilled) {
  if (engine_->gate_) {
    forget_refusal();
    if (!engine_->gate_->allows(*this, slot, engine_->jobs_[slot].shares)) return false;
  }
  const Job &job = engine_->jobs_[slot];
  if (engine_->journal_) note(Act::Start, slot, priority, 0, job.shape, backfilled.code, job.shares);
  engine_->begin(slot, priority, backfilled);
  return true;
}

bool View::start(Slot slot, double priority, Backfilled backfilled) {
  Job &job = engine_->jobs_[slot];
  if (job.state != State::Waiting) engine_->refuse("start", slot, "it is not waiting");
  if (!reservations_.empty()) return start_beside_reservations(slot, nullptr, priority, backfilled);
  return place(slot, job.shares) && begin(slot, priority, backfilled);
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

bool View::start_as(Slot slot, std::int32_t shape, const Shares *shares, double priority, Backfilled backfilled) {
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
    const bool started = shares ? start_on(slot, *shares, priority, backfilled) : start(slot, priority, backfilled);
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

void View::resize(Slot slot, std::int64_t count) {
  Job &job = engine_->jobs_[slot];
  if (job.state != State::Waiting) engine_->refuse("resize", slot, "it is not waiting");
  if (count < 1) engine_->refuse("resize", slot, "a job has at least 1 chunk");
  if (std::find(reservations_.begin(), reservations_.end(), slot) != reservations_.end())
    engine_->refuse("resize", slot, "it holds a reservation");
  note(Act::Resize, slot, static_cast<double>(count));
  engine_->waiting_cores_ -= job.cores, engine_->count_queued(job, -1);
  job.cores = job.cores / job.count * count;
  job.count = count;
  engine_->waiting_cores_ += job.cores, engine_->count_queued(job, +1);
}

void View::reject(Slot slot) {
  if (engine_->jobs_[slot].state != State::Waiting) engine_->refuse("reject", slot, "it is not waiting");
  note(Act::Reject, slot);
  engine_->dequeue(slot);
  engine_->count_queued(engine_->jobs_[slot], -1);
  engine_->jobs_[slot].reason = Reason::ByPolicy;
  engine_->leave(slot, State::Rejected);
}

Job &View::running_job(Slot slot, const char *what) const {
  Job &job = engine_->jobs_[slot];
  if (job.state != State::Running || job.released) engine_->refuse(what, slot, "it is not running");
  return job;
}

void View::kill(Slot slot, Reason reason) {
  const bool suspended = engine_->jobs_[slot].state == State::Suspended;
  Job &job = suspended ? engine_->jobs_[slot] : running_job(slot, "kill");
  note(Act::Kill, slot, 0, 0, 0, static_cast<std::uint8_t>(reason));
  job.reason = reason;
  if (suspended) {
    std::erase(engine_->suspended_, slot);
    job.since = now();  // it has done nothing since it was suspended
  } else {
    engine_->write_piece(job, PieceEnd::Killed, reason);
    engine_->stop(slot);
  }
  engine_->leave(slot, State::Killed);
  engine_->tell(Event::Kind::Completed, slot);
}

void View::requeue(Slot slot, double saved, double cost, Reason reason) {
  Job &job = running_job(slot, "requeue");
  if (!(saved >= 0)) engine_->refuse("requeue", slot, "what is saved of its work cannot be negative");
  if (!(cost >= 0)) engine_->refuse("requeue", slot, "a cost cannot be negative");
  if (saved > job.done(now()) + 1e-9 * job.runtime)
    engine_->refuse("requeue", slot, "it has not done so much as is to be saved");
  note(Act::Requeue, slot, saved, cost, 0, static_cast<std::uint8_t>(reason));
  engine_->write_piece(job, PieceEnd::Requeued, reason);
  engine_->stop(slot);
  job.work = std::max(job.runtime - saved, 0.0) + cost, job.overhead = cost;
  job.start = std::numeric_limits<double>::quiet_NaN();
  job.estimate = job.first_estimate > saved ? job.first_estimate - saved : 1;  // as for jobs that are submitted
  job.corrections = 0;
  engine_->enqueue(slot);
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
}

bool View::resume(Slot slot, const Shares *shares, double cost) {
  Job &job = engine_->jobs_[slot];
  if (job.state != State::Suspended) engine_->refuse("resume", slot, "it is not suspended");
  if (!(cost >= 0)) engine_->refuse("resume", slot, "a cost cannot be negative");
  forget_refusal();
  Shares chosen;
  if (shares) check_nodes(job, slot, *shares, "resume"), chosen = *shares;
  if (shares ? !affords(job, chosen) : !place(slot, chosen)) {
    explain_refusal(job);
    return false;
  }
  if (engine_->gate_ && !engine_->gate_->allows(*this, slot, chosen)) return false;
  note(Act::Resume, slot, cost, 0, 0, false, chosen);
  go_on(slot, chosen, cost);
  return true;
}

void View::go_on(Slot slot, const Shares &shares, double cost) {
  Job &job = engine_->jobs_[slot];
  std::erase(engine_->suspended_, slot);
  job.shares = shares;
  job.work += cost, job.overhead += cost;
  engine_->occupy(slot);
}

bool View::reshape(Slot slot, std::int32_t shape, const Shares *shares, double cost) {
  Job &job = running_job(slot, "reshape");
  if (!job.flexible || !job.flexible->malleable) engine_->refuse("reshape", slot, "it is not malleable");
  if (shape < 0 || static_cast<std::size_t>(shape) >= job.flexible->shapes.size())
    engine_->refuse("reshape", slot, "it has no such shape");
  if (!(cost >= 0)) engine_->refuse("reshape", slot, "a cost cannot be negative");
  const double steps = job.flexible->interval > 0 ? (now() - job.start) / job.flexible->interval : 0;
  if (std::abs(steps - std::round(steps)) > 1e-9) engine_->refuse("reshape", slot, "it is not at a point where it may");
  if (shape == job.shape) return true;
  // Off its nodes for a moment, so that it may keep what it has.
  const Engine::ShapeMarks before = engine_->shape_marks(job);
  const Shares old_shares = job.shares;
  engine_->cluster_.give_back(*job.request, old_shares);
  engine_->settle(job);
  engine_->take_shape(job, shape);
  const auto undo = [&] {
    engine_->restore(job, before);
    engine_->cluster_.take(*job.request, old_shares);
  };
  Shares chosen;
  bool fits = true;
  try {
    if (shares)
      check_nodes(job, slot, *shares, "reshape"), chosen = *shares, fits = affords(job, chosen);
    else
      fits = place(slot, chosen);
  } catch (...) {
    undo();
    throw;
  }
  undo();
  if (!fits) return false;
  note(Act::Reshape, slot, cost, 0, shape, false, chosen);
  move_to(slot, shape, chosen, cost);
  return true;
}

void View::move_to(Slot slot, std::int32_t shape, const Shares &shares, double cost) {
  Job &job = engine_->jobs_[slot];
  const double rate = job.rate;
  engine_->write_piece(job, PieceEnd::Reshaped);
  engine_->settle(job);
  engine_->stop(slot);
  engine_->take_shape(job, shape);
  job.shares = shares;
  job.work += cost, job.overhead += cost;
  engine_->occupy(slot);
  if (rate != 1) job.rate = rate, engine_->move_end(slot);
}

void View::set_rate(Slot slot, double rate) {
  Job &job = running_job(slot, "change the rate of");
  if (!(rate >= 0 && rate < kNever))
    engine_->refuse("change the rate of", slot, "a rate is a number that is not negative");
  if (rate == job.rate) return;
  note(Act::SetRate, slot, rate);
  if (now() > job.since) engine_->write_piece(job, PieceEnd::Slowed);
  job.pieced = true;
  engine_->settle(job);
  job.rate = rate;
  engine_->move_end(slot);
}

// ---- time and nodes ----

void View::wake_at(Time time) {
  if (!(time > engine_->now_)) throw DecisionError("cannot wake the policy at a time that is not in the future");
  note(Act::WakeAt, 0, time);
  if (time < kNever) engine_->set_timer(time, Engine::TimerKind::Wake, kNoSlot);
}

void View::close(int node, NodeMode mode) {
  if (node < 0 || node >= machine().nodes()) engine_->refuse_node("close", node, "there is no such node");
  note(Act::Close, node, 0, 0, static_cast<std::int32_t>(mode));
  if (!cluster().closed(node)) engine_->cluster_.close(node);
  ++engine_->changes_;
  engine_->write_node(node, mode);
  engine_->tell(Event::Kind::Closed, kNoSlot, node);
}

void View::open(int node) {
  if (node < 0 || node >= machine().nodes()) engine_->refuse_node("open", node, "there is no such node");
  if (!cluster().closed(node)) engine_->refuse_node("open", node, "it is open");
  note(Act::Open, node);
  engine_->cluster_.open(node);
  ++engine_->changes_;
  engine_->write_node(node, NodeMode::Up);
  engine_->tell(Event::Kind::Opened, kNoSlot, node);
}

const BudgetBooks *View::books() {
  if (engine_->books_ && now() > -kNever) engine_->books_->pass_time(now(), cluster().state().spending);
  return engine_->books_.get();
}

void View::touch() { ++engine_->changes_; }

// ---- reservations ----

bool View::reserved(Slot slot) const {
  return std::find(reservations_.begin(), reservations_.end(), slot) != reservations_.end();
}

const Plan &View::plan(const Job &job) {
  std::erase_if(reservations_, [&](Slot slot) { return engine_->jobs_[slot].state != State::Waiting; });
  const bool by_nodes = plan_by_nodes_ || !Plan::countable(*this, job);
  if (plan_ && planned_at_ == now() && planned_changes_ == changes() && planned_starts_ == engine_->starts_ &&
      by_nodes == plan_by_nodes_)
    return *plan_;
  plan_by_nodes_ = by_nodes;
  plan_ = by_nodes ? Plan::by_nodes(*this) : Plan::by_count(*this);
  planned_at_ = now(), planned_changes_ = changes(), planned_starts_ = engine_->starts_;
  for (const Slot slot : reservations_) {
    Job &other = annotate(slot);
    other.reserved_start = plan_->earliest(other, other.reserved_shares);
    if (other.reserved_start < kNever)
      plan_->occupy(other, other.reserved_shares, other.reserved_start, other.reserved_start + other.estimate);
  }
  return *plan_;
}

Time View::reserve(Slot slot) {
  Job &job = engine_->jobs_[slot];
  if (job.state != State::Waiting) engine_->refuse("reserve for", slot, "it is not waiting");
  plan(job);
  if (reserved(slot)) return job.reserved_start;
  note(Act::Reserve, slot);
  reservations_.push_back(slot);
  job.reserved_start = plan_->earliest(job, job.reserved_shares);
  if (job.reserved_start < kNever)
    plan_->occupy(job, job.reserved_shares, job.reserved_start, job.reserved_start + job.estimate);
  return job.reserved_start;
}

void View::unreserve(Slot slot) {
  note(Act::Unreserve, slot);
  if (std::erase(reservations_, slot) > 0) plan_.reset();
}

bool View::start_beside_reservations(Slot slot, const Shares *nodes, double priority, Backfilled backfilled) {
  Job &job = engine_->jobs_[slot];
  plan(job);
  const bool own = reserved(slot) && job.reserved_start < kNever;
  const Time reserved_until = job.reserved_start + job.estimate;
  if (own) plan_->vacate(job, job.reserved_shares, job.reserved_start, reserved_until);
  Shares shares;
  bool fits = nodes ? plan_->possible_on(job, *nodes) : plan_->possible_now(job, shares);
  if (fits) {
    // A plan by numbers knows that it fits, not where.
    if (nodes)
      job.shares = *nodes;
    else if (plan_by_nodes_)
      fits = place_beside(*plan_, slot, shares), job.shares = shares;
    else
      fits = place(slot, job.shares);
  }
  fits = fits && has_room(job, job.shares);
  if (fits) fits = begin(slot, priority, backfilled);
  if (fits) {
    plan_->occupy(job, job.shares, now(), now() + job.estimate);
    planned_starts_ = engine_->starts_;
    std::erase(reservations_, slot);
  } else if (own) {
    plan_->occupy(job, job.reserved_shares, job.reserved_start, reserved_until);
  }
  return fits;
}

// ---- doing it once more ----

void View::note(Act act, std::int64_t who, double a, double b, std::int32_t shape, std::uint8_t code,
                const Shares &shares) {
  if (engine_->journal_ && !engine_->past_)
    engine_->journal_->write({act, engine_->phase_, code, shape, engine_->passes_, who, a, b}, shares);
}

void View::redo(const Entry &entry, const Shares &shares) {
  const auto slot = static_cast<Slot>(entry.who);
  const auto node = static_cast<int>(entry.who);
  engine_->phase_ = entry.phase;
  switch (entry.act) {
    case Act::Start:
      if (entry.shape != engine_->jobs_[slot].shape) change_shape(slot, entry.shape);
      engine_->jobs_[slot].shares = shares;
      engine_->begin(slot, entry.a, Backfilled::of(entry.code));
      std::erase(reservations_, slot);
      break;
    case Act::Reject:
      reject(slot);
      break;
    case Act::Kill:
      kill(slot, static_cast<Reason>(entry.code));
      break;
    case Act::Requeue:
      requeue(slot, entry.a, entry.b, static_cast<Reason>(entry.code));
      break;
    case Act::Suspend:
      suspend(slot);
      break;
    case Act::Resume:
      go_on(slot, shares, entry.a);
      break;
    case Act::Reshape:
      move_to(slot, entry.shape, shares, entry.a);
      break;
    case Act::SetRate:
      set_rate(slot, entry.a);
      break;
    case Act::WakeAt:
      wake_at(entry.a);
      break;
    case Act::Close:
      close(node, static_cast<NodeMode>(entry.shape));
      break;
    case Act::Open:
      open(node);
      break;
    case Act::Reserve:
      reservations_.push_back(slot);
      break;
    case Act::Unreserve:
      std::erase(reservations_, slot);
      break;
    case Act::Resize:
      resize(slot, static_cast<std::int64_t>(entry.a));
      break;
  }
  engine_->phase_ = Phase::Before;
}

}  // namespace schedlab
