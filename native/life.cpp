// A job's life, from its submission until it leaves.
#include <algorithm>

#include "engine.hpp"
#include "plan.hpp"

namespace schedlab {

namespace {
// How long it will take for the work that is left.
Time needed_for(const Job &job) {
  if (job.rate == 1) return job.work;
  return job.rate > 0 ? job.work / job.rate : kNever;
}
}  // namespace

void Engine::submit() {
  const Slot slot = jobs_.acquire();
  Job &job = jobs_[slot];
  const std::size_t i = cursor_++;
  job.sequence = next_sequence_++;
  job.id = input_.id[i];
  job.submit = input_.submit[i];
  job.runtime = input_.runtime[i], job.limit = input_.limit[i];
  job.request_number = input_.request[i];
  job.request = known_[static_cast<std::size_t>(job.request_number)].request;
  job.count = input_.count[i], job.cores = job.count * job.request->cores;
  job.user = input_.user[i], job.group = input_.group[i], job.queue = input_.queue[i];
  job.partition = input_.partition[i];
  if (input_.key[0]) job.given_key[0] = input_.key[0][i];
  if (input_.key[1]) job.given_key[1] = input_.key[1][i];
  if (input_.application) job.application = input_.application[i];
  job.make_new();
  if (input_.rank_cores && input_.rank_cores[i] > 0) [[unlikely]]
    job.more().rank_cores = input_.rank_cores[i], job.more().rank_limit = input_.rank_limit[i];
  if (input_.shape_end) read_shapes(job, i);
  if (input_.attachment_end) [[unlikely]]
    read_attachments(job, i);
  if (input_.before_end) [[unlikely]]
    read_predecessors(slot, i);
  if (ids_) [[unlikely]]
    note_id(slot);
  job.first_estimate = estimator_->estimate(job, slot);
  enter(slot, input_.cancel[i]);
}

// It has its sequence and its first estimate: now it is in the system.
void Engine::enter(Slot slot, Time cancel) {
  Job &job = jobs_[slot];
  if (!(job.first_estimate > 0)) job.first_estimate = 1;  // nobody can plan with a job that takes no time
  job.estimate = job.first_estimate;
  job.state = State::Held;
  job.reason = known_[static_cast<std::size_t>(job.request_number)].reason;
  if (job.reason == Reason::None && job.count > job.request->largest) job.reason = Reason::TooLarge;
  if (job.reason == Reason::None && machine_.capped() && !affordable_alone(job)) [[unlikely]]
    job.reason = Reason::OverBudget;
  if (job.reason != Reason::None) {
    leave(slot, State::Rejected);
    return;
  }
  if (cancel < kNever) set_timer(std::max(cancel, now_), TimerKind::Cancel, slot);
  if (job.waits) [[unlikely]]
    hold(slot);
  else
    make_eligible(slot);
}

// Does the budget allow it on an otherwise idle machine?
[[gnu::noinline]] bool Engine::affordable_alone(const Job &job) const {
  if (job.request->countable) return job.cores <= machine_.affordable_cores(machine_.empty().spending);
  Shares shares;
  return placement_.place(machine_, machine_.empty(), *job.request, job.count, job.sequence, shares) &&
         machine_.affords(machine_.empty(), *job.request, shares);
}

// What it carries along.
[[gnu::noinline, gnu::cold]] void Engine::read_attachments(Job &job, std::size_t i) {
  const std::int64_t first = i == 0 ? 0 : input_.attachment_end[i - 1], last = input_.attachment_end[i];
  if (first < last)
    job.more().attachments.assign(input_.attachment_text + first, static_cast<std::size_t>(last - first));
}

void Engine::make_eligible(Slot slot) {
  jobs_[slot].eligible = now_;
  enqueue(slot);
  tell(Event::Kind::Submitted, slot);
}

void Engine::enqueue(Slot slot) {
  Job &job = jobs_[slot];
  job.state = State::Waiting;
  job.previous = waiting_last_;
  job.next = kNoSlot;
  (waiting_last_ == kNoSlot ? waiting_first_ : jobs_[waiting_last_].next) = slot;
  waiting_last_ = slot;
  ++waiting_count_, waiting_cores_ += job.cores;
  if (!job.request->countable || job.request->exclusive) [[unlikely]]
    cores_say_it_all_ = cores_say_it_all_ && Plan::countable(*view_, job);
  count_queued(job, +1);
  if (reasons_) [[unlikely]]
    reasons_->came(slot, job.cores);
}

// At the place that it had: jobs wait in the order in which they became eligible.
void Engine::enqueue_again(Slot slot) {
  enqueue(slot);
  Job &job = jobs_[slot];
  Slot before = job.previous;
  const auto later = [&](const Job &other) {
    return other.eligible != job.eligible ? other.eligible > job.eligible : other.sequence > job.sequence;
  };
  while (before != kNoSlot && later(jobs_[before])) before = jobs_[before].previous;
  if (before == job.previous) return;
  waiting_last_ = job.previous;
  jobs_[waiting_last_].next = kNoSlot;
  Slot &link = before == kNoSlot ? waiting_first_ : jobs_[before].next;
  job.previous = before, job.next = link;
  jobs_[job.next].previous = slot;
  link = slot;
}

void Engine::dequeue(Slot slot) {
  const Job &job = jobs_[slot];
  if (reasons_) [[unlikely]]
    reasons_->went(slot);
  (job.previous == kNoSlot ? waiting_first_ : jobs_[job.previous].next) = job.next;
  (job.next == kNoSlot ? waiting_last_ : jobs_[job.next].previous) = job.previous;
  --waiting_count_, waiting_cores_ -= job.cores;
}

// Few runs have these two: they are kept out of the code that all runs go through.
[[gnu::noinline, gnu::cold]] void Engine::settle_books(Slot slot) {
  books_->before(now_, cluster_.state().spending, jobs_[slot].shares);
}

[[gnu::noinline, gnu::cold]] void Engine::write_books(Slot slot, bool onto) {
  const Job &job = jobs_[slot];
  if (onto)
    books_->begin(slot, job.shares, job.request->cores, job.granted.get());
  else
    books_->end(slot, job.sequence, job.shares, job.request->cores, job.granted.get());
  books_->after(now_, cluster_.state().spending);
}

// A job takes its nodes (from the queue, or from being suspended), or gives them back.
void Engine::note_move(Slot slot, bool onto) {
  const Job &job = jobs_[slot];
  if (track_moves_) moves_.push_back({slot, onto, job.shares});
  if (occupants_) occupants_->move(slot, job.shares, onto);
  if (company_) company_->move(job, onto);
  if (usage_) usage_->move(job, onto, now_);
  if (all_places_ || job.granted) {
    if (slot >= here_since_.size()) here_since_.resize(slot + 1);
    if (onto)
      here_since_[slot] = now_;
    else
      write_places(slot);
  }
  if (machine_.resources() == 1) return;
  if (onto && job.state == State::Waiting) count_others(job, -1, 1);
  count_others(job, onto ? +1 : -1, 0);
}

// Of the resources besides cores: what running jobs have (first = 0), or what waiting ones ask for (1).
void Engine::count_others(const Job &job, int sign, std::size_t first) {
  const Granted *granted = first == 0 ? job.granted.get() : nullptr;
  for (std::size_t r = 1; r < job.request->chunk.size(); ++r)
    others_[2 * (r - 1) + first] +=
        sign * (granted ? granted->total(static_cast<int>(r)) : job.count * job.request->chunk[r]);
}

// From now on it is a job of the cores that it was granted: until it is queued again, or goes on elsewhere.
Amount Engine::take_granted(Job &job) {
  job.cores = job.granted->total(0);
  note_moves_ = true;  // from the first one on
  return cluster_.take(*job.request, job.shares, *job.granted);
}

void Engine::give_back_granted(const Job &job) { cluster_.give_back(*job.request, job.shares, *job.granted); }

// job.shares are chosen, and what is granted on them; now it runs.
[[gnu::flatten]] void Engine::begin(Slot slot, double priority, Backfilled backfilled) {
  Job &job = jobs_[slot];
  dequeue(slot);
  job.key = priority, job.backfilled = backfilled;
  job.start = now_;
  job.used = 0, job.allowance = job.limit;
  occupy(slot);
  if (job.awaited) [[unlikely]]
    tell_start(job);
}

// The same of a job whose shares are not chosen yet, where they can be chosen and taken in one go, and fit.
[[gnu::flatten]] void Engine::begin_at_once(Slot slot, double priority, Backfilled backfilled) {
  Job &job = jobs_[slot];
  cluster_.take_first(job.count, job.shares);
  job.allocated_cores = job.count;
  if (journal_) [[unlikely]]
    view_->note(Act::Start, slot, priority, -1, job.shape, backfilled.code, job.shares, nullptr);
  dequeue(slot);
  job.key = priority, job.backfilled = backfilled;
  job.start = now_;
  job.used = 0, job.allowance = job.limit;
  set_off(slot);
  if (job.awaited) [[unlikely]]
    tell_start(job);
}

// Takes job.shares and works there from now on, at rate 1.
void Engine::occupy(Slot slot) {
  Job &job = jobs_[slot];
  if (books_) [[unlikely]]
    settle_books(slot);
  if (job.granted) [[unlikely]]
    job.allocated_cores = take_granted(job);
  else
    job.allocated_cores = cluster_.take(*job.request, job.shares);
  if (books_) [[unlikely]]
    write_books(slot, true);
  set_off(slot);
}

// It has its nodes.
void Engine::set_off(Slot slot) {
  Job &job = jobs_[slot];
  if (note_moves_) note_move(slot, true);
  job.state = State::Running;
  job.since = now_, job.rate = 1;
  job.start_order = starts_++;
  job.released = false;
  job.moves = 0;
  job.end = true_end(job);
  job.expected_end = job.estimated_end = now_ + (job.estimate - job.used);
  ++running_count_, running_cores_ += job.cores;
  ends_.push({job.end, job.start_order, slot, job.moves});
  job.listed = false;
  if (track_ends_) unlisted_.push_back({job.start_order, slot});
  if (unlisted_.size() > kMostUnlisted) estimated_ends(horizon_);
  if (job.estimated_end < job.end) set_timer(std::max(job.estimated_end, now_), TimerKind::Correct, slot);
  if (job.flexible) set_point(slot);
}

Time Engine::true_end(const Job &job) const {
  const Time needed = needed_for(job);
  return job.since + (options_.kill_at_limit ? std::min(needed, job.allowance) : needed);
}

// Brings what it has done up to date.
void Engine::settle(Job &job) {
  const Time elapsed = now_ - job.since;
  job.overhead = std::max(job.overhead - job.rate * elapsed, 0.0);
  job.work = std::max(job.work - job.rate * elapsed, 0.0);
  job.used += elapsed, job.allowance -= elapsed;
  job.since = now_;
}

// Its rate has changed: it may end at another time.
void Engine::move_end(Slot slot) {
  Job &job = jobs_[slot];
  const Time end = std::max(true_end(job), now_);
  if (end == job.end) return;  // what is in the heap is still right
  job.end = end;
  ++job.moves, ++moved_ends_;
  ends_.push({job.end, job.start_order, slot, job.moves});
  if (job.estimated_end < job.end) set_timer(std::max(job.estimated_end, now_), TimerKind::Correct, slot);
}

void Engine::release(Slot slot) {
  Job &job = jobs_[slot];
  if (books_) [[unlikely]]
    settle_books(slot);
  if (job.granted) [[unlikely]]
    give_back_granted(job);
  else
    cluster_.give_back(*job.request, job.shares);
  if (books_) [[unlikely]]
    write_books(slot, false);
  if (note_moves_) note_move(slot, false);
  if (job.listed) estimated_ends_.erase(EstimatedEnd::of(job, slot));
  job.released = true;
  ++changes_;
}

void Engine::stop(Slot slot) {
  release(slot);
  ++moved_ends_;
  --running_count_, running_cores_ -= jobs_[slot].cores;
}

void Engine::learn(Slot slot) {
  const Job &job = jobs_[slot];
  const Time ran = job.used + (now_ - job.since);
  estimator_->ended(job, slot, ran);
  if (options_.keep_history)
    history_[job.user].push_back({job.id, job.cores, job.submit, job.start, now_, ran, job.limit});
}

void Engine::complete(Slot slot) {
  Job &job = jobs_[slot];
  learn(slot);  // may throw: nothing has changed yet
  if (!job.released) release(slot);
  --running_count_, running_cores_ -= job.cores;
  const bool killed = options_.kill_at_limit && job.since + needed_for(job) > job.end;
  if (job.pieced) write_piece(job, killed ? PieceEnd::Killed : PieceEnd::Completed);
  if (killed && job.runtime <= job.limit) job.reason = Reason::SlowedToLimit;
  leave(slot, killed ? State::Killed : State::Completed);
  tell(Event::Kind::Completed, slot);
}

void Engine::cancel(Slot slot) {
  const bool waited = jobs_[slot].state == State::Waiting;
  if (waited) {
    dequeue(slot);
    count_queued(jobs_[slot], -1);
    view_->drop_reservation(slot);
    tell(Event::Kind::Cancelled, slot);
  }
  leave(slot, State::Cancelled);
}

void Engine::tell(Event::Kind kind, Slot slot, int node) {
  if (phase_ != Phase::Deciding) [[likely]]
    events_.push_back({kind, slot, node});
  else
    tell_later(kind, slot, node);
}

// The decider knows what it has done itself. But who is asked as a part of it may not.
void Engine::tell_later(Event::Kind kind, Slot slot, int node) {
  const bool queue = kind == Event::Kind::Submitted || kind == Event::Kind::Held || kind == Event::Kind::Cancelled;
  if (queue || (kind == Event::Kind::Requeued && view_->native)) unheard_.push_back({kind, slot, node});
}

void Engine::leave(Slot slot, State state) {
  Job &job = jobs_[slot];
  job.state = State::Gone;
  job.end = now_;
  if (job.extra) [[unlikely]]
    write_hold(job);
  if (ids_) [[unlikely]]
    forget_id(slot);
  write(job, state);
  ++ended_;
  gone_.push_back(slot);
  if (job.waits) [[unlikely]]
    job.waits.reset();
  if (job.awaited && state < State::Held) [[unlikely]]
    tell_end(job, state);
}

}  // namespace schedlab
