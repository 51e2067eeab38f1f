#include "engine.hpp"

#include <algorithm>
#include <cstdio>

namespace schedlab {

namespace {
EstimatedEnd entry(const Job &job, Slot slot) {
  return {job.estimated_end, job.start_order, static_cast<std::int32_t>(job.allocated_cores), slot};
}
}  // namespace

Engine::Engine(Machine machine, Placement placement, std::unique_ptr<Estimator> estimator, Options options, Host &host)
    : machine_(std::move(machine)),
      placement_(machine_.nodes() == 1 ? Placement("first-fit", 0) : placement),
      estimator_(std::move(estimator)),
      options_(options),
      host_(host),
      cluster_(machine_, placement_.index()),
      now_(-kNever),
      rows_(0, {options.repeat_workload, options.follow_dependencies, static_cast<std::size_t>(machine_.nodes())}) {}

void Engine::add_shape(Shape shape, Reason reason) {
  machine_.prepare(shape, options_.exclusive, placement_.kind() == Placement::Kind::Contiguous);
  cluster_.expect(shape);
  shapes_.push_back(std::move(shape));
  shape_reasons_.push_back(reason);
}

// ---- the loop ----

void Engine::run(Decider &decider) {
  track_ends_ = decider.needs_estimated_ends();
  constexpr unsigned kTick = 4096;
  for (unsigned rounds = 1;; ++rounds) {
    const Time next = next_time();
    if (next == kNever) break;
    now_ = next;
    if (options_.pass_per_event)
      instant_by_event(decider);
    else
      instant(decider);
    record();
    if (rounds % kTick == 0) host_.tick(now_, ended_);
  }
  finish();
}

bool Engine::more_input() {
  if (cursor_ == input_.size && !input_over_) {
    cursor_ = 0;
    input_over_ = !host_.refill(input_);
    if (input_over_) input_.size = 0;
  }
  return cursor_ < input_.size;
}

Time Engine::next_time() {
  Time next = more_input() ? input_.submit[cursor_] : kNever;
  if (const End *end = next_end()) next = std::min(next, end->end);
  if (!timers_.empty()) next = std::min(next, timers_.top().time);
  if (next < now_) throw std::invalid_argument("jobs must come in the order of their submission");
  return next;
}

bool Engine::out_of_date(const End &entry) const {
  const Job &job = jobs_[entry.slot];
  return job.state != State::Running || job.start_order != entry.order || job.end != entry.end;
}

const Engine::End *Engine::next_end() {
  for (; moved_ends_ > 0 && !ends_.empty() && out_of_date(ends_.top()); --moved_ends_) ends_.pop();
  return ends_.empty() ? nullptr : &ends_.top();
}

// One instant, one batch: completions, submissions, timers, then one pass.
void Engine::instant(Decider &decider) {
  for (const End *end = next_end(); end && end->end <= now_; end = next_end()) {
    const Slot slot = end->slot;
    ends_.pop();
    complete(slot);
  }
  while (more_input() && input_.submit[cursor_] <= now_) submit();
  while (next_timer(now_, false)) {
  }
  ask(decider);
}

// A pass after every event, except corrections; what ends as believed is free from the beginning of the instant.
void Engine::instant_by_event(Decider &decider) {
  ending_.clear();
  for (const End *end = next_end(); end && end->end <= now_; end = next_end()) {
    ending_.push_back(end->slot);
    ends_.pop();
    if (jobs_[ending_.back()].estimated_end <= now_) release(ending_.back());
  }
  for (std::size_t ended = 0;;) {
    if (next_timer(now_, true)) continue;
    if (more_input() && input_.submit[cursor_] <= now_) {
      submit();
    } else if (ended < ending_.size()) {
      complete(ending_[ended++]);
    } else if (const End *end = next_end(); end && end->end <= now_) {  // started and ended in this instant
      const Slot slot = end->slot;
      ends_.pop();
      complete(slot);
    } else if (!next_timer(now_, false)) {
      return;
    }
    ask(decider);
  }
}

void Engine::ask(Decider &decider) {
  // With a pass per event a correction is no reason for one: it is told with the next event that is.
  const bool reason = options_.pass_per_event
                          ? std::any_of(events_.begin(), events_.end(),
                                        [](const Event &event) { return event.kind != Event::Kind::Corrected; })
                          : !events_.empty();
  if (reason) {
    decider.decide(view_, events_);
    events_.clear();
  }
  for (const Slot slot : gone_) jobs_.give_back(slot);
  gone_.clear();
  if (options_.validate) validate();
}

// Handles the next timer that is due, if any. Out-of-date ones are dropped on the way.
bool Engine::next_timer(Time at_most, bool corrections_only) {
  std::vector<Timer> kept;
  bool handled = false;
  while (!handled && !timers_.empty() && timers_.top().time <= at_most) {
    const Timer timer = timers_.top();
    timers_.pop();
    if (corrections_only && timer.kind != TimerKind::Correct) {
      kept.push_back(timer);
      continue;
    }
    if (timer.kind == TimerKind::Wake) {
      events_.push_back({Event::Kind::Woken, kNoSlot});
      handled = true;
      continue;
    }
    const Job &job = jobs_[timer.slot];
    if (job.sequence != timer.sequence || job.state == State::Gone) continue;
    if (timer.kind == TimerKind::Release) make_eligible(timer.slot), handled = true;
    if (timer.kind == TimerKind::Cancel && (job.state == State::Waiting || job.state == State::Held))
      cancel(timer.slot), handled = true;
    if (timer.kind == TimerKind::Correct && job.state == State::Running && job.estimated_end == timer.time)
      correct(timer.slot), handled = true;
  }
  for (const Timer &timer : kept) timers_.push(timer);
  return handled;
}

void Engine::record() {
  const auto running = static_cast<std::int32_t>(running_count_), queued = static_cast<std::int32_t>(waiting_count_);
  std::size_t row = timeline_.rows();
  if (row > 0) {
    const std::size_t last = row - 1;
    if (timeline_.running[last] == running && timeline_.queued[last] == queued &&
        timeline_.used_cores[last] == running_cores_ && timeline_.queued_cores[last] == waiting_cores_)
      return;
    if (timeline_.time[last] == now_) row = last;  // another round of the same instant
  }
  if (row == timeline_.rows()) {
    if (timeline_.room() == 0) {
      const int next = timeline_.number() + 1;
      host_.take(std::move(timeline_));
      timeline_ = TimelineRows(next);
    }
    row = timeline_.new_row();
  }
  timeline_.time[row] = now_;
  timeline_.running[row] = running, timeline_.queued[row] = queued;
  timeline_.used_cores[row] = running_cores_, timeline_.queued_cores[row] = waiting_cores_;
}

// Nothing will happen any more: who is still here, waits for ever.
void Engine::finish() {
  for (Slot slot = 0; slot < jobs_.size(); ++slot) {
    const State state = jobs_[slot].state;
    if (state == State::Waiting) dequeue(slot);
    if (state == State::Waiting || state == State::Held) leave(slot, state, now_);
  }
  if (timeline_.rows() > 0) record();
  host_.tick(now_, ended_);
  host_.take(std::move(rows_));
  host_.take(std::move(timeline_));
}

// ---- a job's life ----

void Engine::submit() {
  const Slot slot = jobs_.acquire();
  Job &job = jobs_[slot];
  const std::size_t i = cursor_++;
  job.sequence = next_sequence_++;
  job.id = input_.id[i];
  job.submit = input_.submit[i];
  job.runtime = input_.runtime[i], job.limit = input_.limit[i];
  job.request = input_.request[i];
  job.shape = &shapes_[static_cast<std::size_t>(job.request)];
  job.count = input_.count[i], job.cores = job.count * job.shape->cores;
  job.user = input_.user[i], job.group = input_.group[i], job.queue = input_.queue[i];
  job.partition = input_.partition[i];
  job.after = input_.after[i], job.think = input_.think[i];
  job.eligible = job.start = job.key = std::numeric_limits<double>::quiet_NaN();
  job.backfilled = job.released = job.listed = false;
  job.corrections = 0;
  job.reserved_start = kNever;
  job.shares.clear();
  job.first_estimate = estimator_->estimate(job);
  if (!(job.first_estimate > 0)) job.first_estimate = 1;  // nobody can plan with a job that takes no time
  job.estimate = job.first_estimate;
  job.state = State::Held;
  job.reason = shape_reasons_[static_cast<std::size_t>(job.request)];
  if (options_.follow_dependencies) ends_by_id_.emplace(job.id, kNever);

  if (job.reason == Reason::None && job.count > job.shape->largest) job.reason = Reason::TooLarge;
  if (job.reason != Reason::None) {
    leave(slot, State::Rejected, now_);
    return;
  }
  if (input_.cancel[i] < kNever) set_timer(std::max(input_.cancel[i], now_), TimerKind::Cancel, slot);
  if (!hold(slot)) make_eligible(slot);
}

// Does it have to wait for another job's end? Then it is held until that and its think time have passed.
bool Engine::hold(Slot slot) {
  const Job &job = jobs_[slot];
  if (!options_.follow_dependencies || job.after < 0 || job.after == job.id) return false;
  const auto found = ends_by_id_.find(job.after);
  if (found == ends_by_id_.end()) return false;
  if (found->second == kNever) {
    held_by_[job.after].emplace_back(slot, job.sequence);
    return true;
  }
  const Time release = found->second + job.think;
  if (release <= now_) return false;
  set_timer(release, TimerKind::Release, slot);
  return true;
}

void Engine::make_eligible(Slot slot) {
  jobs_[slot].eligible = now_;
  enqueue(slot);
  events_.push_back({Event::Kind::Submitted, slot});
}

void Engine::enqueue(Slot slot) {
  Job &job = jobs_[slot];
  job.state = State::Waiting;
  job.previous = waiting_last_;
  job.next = kNoSlot;
  (waiting_last_ == kNoSlot ? waiting_first_ : jobs_[waiting_last_].next) = slot;
  waiting_last_ = slot;
  ++waiting_count_, waiting_cores_ += job.cores;
}

void Engine::dequeue(Slot slot) {
  const Job &job = jobs_[slot];
  (job.previous == kNoSlot ? waiting_first_ : jobs_[job.previous].next) = job.next;
  (job.next == kNoSlot ? waiting_last_ : jobs_[job.next].previous) = job.previous;
  --waiting_count_, waiting_cores_ -= job.cores;
}

// The resources are taken (job.shares); now it runs.
void Engine::begin(Slot slot, double priority, bool backfilled) {
  Job &job = jobs_[slot];
  dequeue(slot);
  job.allocated_cores = cluster_.take(*job.shape, job.shares);
  job.state = State::Running;
  job.key = priority, job.backfilled = backfilled;
  job.start = job.since = now_;
  job.work = job.runtime, job.rate = 1;
  job.start_order = starts_++;
  job.released = false;
  job.end = true_end(job);
  job.estimated_end = now_ + job.estimate;
  ++running_count_, running_cores_ += job.cores;
  ends_.push({job.end, job.start_order, slot});
  job.listed = false;
  if (track_ends_) unlisted_.push_back({job.start_order, slot});
  if (unlisted_.size() > kMostUnlisted) estimated_ends();
  if (job.estimated_end < job.end) set_timer(job.estimated_end, TimerKind::Correct, slot);
}

Time Engine::true_end(const Job &job) const {
  const Time done = job.rate > 0 ? job.since + job.work / job.rate : kNever;
  return options_.kill_at_limit ? std::min(done, job.start + job.limit) : done;
}

void Engine::release(Slot slot) {
  Job &job = jobs_[slot];
  cluster_.give_back(*job.shape, job.shares);
  if (job.listed) estimated_ends_.erase(entry(job, slot));
  job.released = true;
  ++changes_;
}

// Many jobs start and end while nobody asks: they are put in order only when somebody does.
const EstimatedEnds &Engine::estimated_ends() {
  for (const auto &[order, slot] : unlisted_) {
    Job &job = jobs_[slot];
    if (job.state != State::Running || job.released || job.start_order != order) continue;
    estimated_ends_.insert(entry(job, slot));
    job.listed = true;
  }
  unlisted_.clear();
  return estimated_ends_;
}

void Engine::stop(Slot slot) {
  release(slot);
  ++moved_ends_;
  --running_count_, running_cores_ -= jobs_[slot].cores;
}

void Engine::complete(Slot slot) {
  Job &job = jobs_[slot];
  if (!job.released) release(slot);
  --running_count_, running_cores_ -= job.cores;
  estimator_->ended(job, now_ - job.start);
  const bool killed = options_.kill_at_limit && job.since + job.work / job.rate > job.end;
  leave(slot, killed ? State::Killed : State::Completed, now_);
  events_.push_back({Event::Kind::Completed, slot});
}

void Engine::correct(Slot slot) {
  Job &job = jobs_[slot];
  if (job.listed) estimated_ends_.erase(entry(job, slot));
  job.estimate = estimator_->correct(job);
  ++job.corrections;
  job.estimated_end = job.start + job.estimate;
  if (job.listed) estimated_ends_.insert(entry(job, slot));
  if (job.estimated_end < job.end) set_timer(job.estimated_end, TimerKind::Correct, slot);
  ++changes_;
  events_.push_back({Event::Kind::Corrected, slot});
}

void Engine::cancel(Slot slot) {
  const bool waited = jobs_[slot].state == State::Waiting;
  if (waited) {
    dequeue(slot);
    events_.push_back({Event::Kind::Cancelled, slot});
  }
  leave(slot, State::Cancelled, now_);
}

// The row of a job that leaves now.
void Engine::write(const Job &job, State state) {
  if (!rows_.has_room(job.shares)) {
    const int next = rows_.number() + 1;
    host_.take(std::move(rows_));
    rows_ = JobRows(next, rows_.content);
  }
  const std::size_t row = rows_.new_row();
  const bool started = !std::isnan(job.start);
  rows_.sequence[row] = job.sequence, rows_.cores[row] = job.cores;
  rows_.eligible[row] = job.eligible, rows_.start[row] = job.start, rows_.end[row] = job.end;
  rows_.estimate[row] = job.first_estimate;
  rows_.priority[row] = started ? job.key : job.start;
  rows_.state[row] = static_cast<std::uint8_t>(state), rows_.reason[row] = static_cast<std::uint8_t>(job.reason);
  rows_.backfilled[row] = started && job.backfilled;
  if (started)
    for (const Share &share : job.shares) {
      const std::size_t place = rows_.allocations.new_row();
      rows_.allocations.node[place] = share.node, rows_.allocations.chunks[place] = share.chunks;
    }
  rows_.allocated[row] = static_cast<std::int32_t>(rows_.allocations.rows());
  if (!rows_.content.workload) return;
  rows_.id[row] = job.id, rows_.count[row] = job.count, rows_.request[row] = job.request;
  rows_.user[row] = job.user, rows_.group[row] = job.group, rows_.queue[row] = job.queue;
  rows_.partition[row] = job.partition;
  rows_.submit[row] = job.submit, rows_.runtime[row] = job.runtime, rows_.limit[row] = job.limit;
  if (rows_.content.dependencies) rows_.after[row] = job.after, rows_.think[row] = job.think;
}

void Engine::leave(Slot slot, State state, Time end) {
  Job &job = jobs_[slot];
  job.state = State::Gone;
  job.end = end;
  write(job, state);
  ++ended_;
  gone_.push_back(slot);
  if (options_.follow_dependencies) {
    ends_by_id_[job.id] = end;
    if (const auto held = held_by_.find(job.id); held != held_by_.end()) {
      for (const auto &[next, sequence] : held->second)
        if (jobs_[next].sequence == sequence && jobs_[next].state == State::Held)
          set_timer(end + jobs_[next].think, TimerKind::Release, next);
      held_by_.erase(held);
    }
  }
}

void Engine::set_timer(Time time, TimerKind kind, Slot slot) {
  timers_.push({time, kind, timer_order_++, slot, slot == kNoSlot ? -1 : jobs_[slot].sequence});
}

void Engine::set_rate(Slot slot, double rate) {
  Job &job = jobs_[slot];
  if (job.state != State::Running || job.released) refuse("change the rate of", slot, "it is not running");
  if (!(rate >= 0)) refuse("change the rate of", slot, "a rate cannot be negative");
  job.work -= job.rate * (now_ - job.since);
  job.since = now_, job.rate = rate;
  job.end = std::max(true_end(job), now_);
  ++moved_ends_;
  ends_.push({job.end, job.start_order, slot});
  if (job.estimated_end < job.end) set_timer(std::max(job.estimated_end, now_), TimerKind::Correct, slot);
}

void Engine::refuse(const char *what, Slot slot, const char *why) const {
  char text[256];
  std::snprintf(text, sizeof text, "cannot %s job %lld at %.15g s: %s", what, static_cast<long long>(jobs_[slot].id),
                now_, why);
  throw DecisionError(text);
}

// ---- invariants ----

void Engine::validate() const {
  const auto require = [this](bool good, const char *what) {
    if (!good) throw InvariantError(std::string(what) + " at " + std::to_string(now_) + " s");
  };
  NodeState fresh = machine_.empty();
  std::int64_t running = 0, waiting = 0;
  std::size_t tracked = 0;
  for (Slot slot = 0; slot < jobs_.size(); ++slot) {
    const Job &job = jobs_[slot];
    waiting += job.state == State::Waiting;
    if (job.state != State::Running) continue;
    ++running;
    std::int64_t chunks = 0;
    for (const Share &share : job.shares) chunks += share.chunks;
    require(chunks == job.count, "a running job has not the chunks it asked for");
    if (job.released) continue;
    tracked += job.listed;
    machine_.apply(fresh, *job.shape, job.shares, -1);
    require(job.end >= now_ && (job.estimated_end > now_ || job.end == now_ || job.estimated_end == now_),
            "a running job should have ended");
  }
  require(fresh.free == cluster_.state().free && fresh.jobs == cluster_.state().jobs, "free resources do not add up");
  Amount free_cores = 0;
  for (int node = 0; node < machine_.nodes(); ++node)
    for (int r = 0; r < machine_.resources(); ++r) {
      const Amount free = fresh.free[static_cast<std::size_t>(node * machine_.resources() + r)];
      require(free >= 0 && free <= machine_.total(node, r), "a node is over-full");
      if (r == 0) free_cores += free;
    }
  require(free_cores == cluster_.free_cores(), "the number of free cores is wrong");
  require(running == running_count_ && waiting == waiting_count_, "jobs are miscounted");
  require(estimated_ends_.size() == tracked, "the estimated ends are not those of the running jobs");
  std::size_t listed = 0;
  for (Slot slot = waiting_first_; slot != kNoSlot; slot = jobs_[slot].next) ++listed;
  require(static_cast<std::int64_t>(listed) == waiting_count_, "the list of waiting jobs is broken");
}

}  // namespace schedlab
