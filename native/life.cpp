// A job's life, from its submission until it leaves.
#include <algorithm>

#include "engine.hpp"
#include "plan.hpp"

namespace schedlab {

namespace {
EstimatedEnd entry(const Job &job, Slot slot) {
  return {job.estimated_end, job.start_order, static_cast<std::int32_t>(job.allocated_cores), slot};
}

const Shares kNowhere;

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

// The other shapes that it may have.
void Engine::read_shapes(Job &job, std::size_t i) {
  const auto first = static_cast<std::size_t>(i == 0 ? 0 : input_.shape_end[i - 1]),
             last = static_cast<std::size_t>(input_.shape_end[i]);
  if (first == last) return;
  job.flexible = std::make_unique<Flexible>();
  job.flexible->shapes.push_back({job.request, job.request_number, job.count, job.runtime, job.limit});
  for (std::size_t k = first; k < last; ++k) {
    const std::int32_t request = input_.shape_request[k];
    job.flexible->shapes.push_back({known_[static_cast<std::size_t>(request)].request, request, input_.shape_count[k],
                                    input_.shape_runtime[k], input_.shape_limit[k]});
  }
  job.flexible->malleable = input_.malleable[i];
  job.flexible->interval = input_.interval[i];
}

// What it carries along.
[[gnu::noinline, gnu::cold]] void Engine::read_attachments(Job &job, std::size_t i) {
  const std::int64_t first = i == 0 ? 0 : input_.attachment_end[i - 1], last = input_.attachment_end[i];
  if (first < last)
    job.more().attachments.assign(input_.attachment_text + first, static_cast<std::size_t>(last - first));
}

// From now on it is the job that it would be if it had been submitted so; what it has done counts in proportion.
void Engine::take_shape(Job &job, std::int32_t shape) {
  const Shape &next = job.flexible->shapes[static_cast<std::size_t>(shape)];
  const double whole = job.whole();
  job.overhead = whole > 0 ? job.overhead * (next.runtime / whole) : 0;
  job.work = whole > 0 ? job.work * (next.runtime / whole) : next.runtime;
  if (job.pace) job.pace->whole = -1;
  if (job.limit > 0 && job.limit < kNever && next.limit < kNever) {
    const double scale = next.limit / job.limit;
    job.estimate *= scale, job.first_estimate *= scale;
    job.used *= scale, job.allowance *= scale;
  } else {
    job.estimate = job.first_estimate = next.limit;
    job.allowance = next.limit - job.used;
  }
  job.request = next.request, job.request_number = next.request_number;
  job.count = next.count, job.cores = next.count * next.request->cores;
  job.runtime = next.runtime, job.limit = next.limit;
  job.shape = shape;
}

Engine::ShapeMarks Engine::shape_marks(const Job &job) const {
  return {job.request,   job.request_number, job.count,
          job.cores,     job.runtime,        job.limit,
          job.work,      job.overhead,       job.pace ? job.pace->whole : -1,
          job.estimate,  job.first_estimate, job.used,
          job.allowance, job.since,          job.shape};
}

void Engine::restore(Job &job, const ShapeMarks &m) {
  job.request = m.request, job.request_number = m.request_number, job.count = m.count, job.cores = m.cores;
  job.runtime = m.runtime, job.limit = m.limit, job.work = m.work, job.overhead = m.overhead;
  if (job.pace) job.pace->whole = m.whole;
  job.estimate = m.estimate, job.first_estimate = m.first_estimate;
  job.used = m.used, job.allowance = m.allowance, job.since = m.since, job.shape = m.shape;
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

// When a malleable job may change its shape next: every so many seconds from its start on.
void Engine::set_point(Slot slot) {
  Job &job = jobs_[slot];
  const Time interval = job.flexible->interval;
  if (!job.flexible->malleable || !(interval > 0)) return;
  const double passed = std::floor((now_ - job.start) / interval + 1e-9);
  job.flexible->point = timer_order_;
  set_timer(job.start + (passed + 1) * interval, TimerKind::Point, slot);
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
  if (job.listed) estimated_ends_.erase(entry(job, slot));
  job.released = true;
  ++changes_;
}

// Many jobs start and end while nobody asks, and most end long before they are believed to: they are put in order only
// when somebody asks, and looks so far ahead. Looking further takes a look at all others: where that is many for each
// time that somebody asks, it is done for farther ahead than was asked for.
const EstimatedEnds &Engine::estimated_ends(Time until) {
  ++asked_;
  const bool further = until > horizon_;
  if (further || later_.size() > 2 * static_cast<std::size_t>(running_count_) + kMostUnlisted) {
    stretch_ = later_.size() > kWorthALook * asked_ ? std::min(2 * stretch_, kFarthest) : std::max(stretch_ / 2, 1.0);
    horizon_ = further ? now_ + stretch_ * (until - now_) : until;
    asked_ = 0;
    std::erase_if(later_, [this](const Started &who) { return !stays_unlisted(who); });
  } else if (stretch_ == 1) {
    horizon_ = until;
  }
  for (const Started &who : unlisted_)
    if (stays_unlisted(who)) later_.push_back(who);
  unlisted_.clear();
  return estimated_ends_;
}

// False: it has left, or has been put in order by now.
bool Engine::stays_unlisted(const Started &who) {
  Job &job = jobs_[who.slot];
  if (job.state != State::Running || job.released || job.listed || job.start_order != who.order) return false;
  if (job.estimated_end > horizon_) return true;
  estimated_ends_.insert(entry(job, who.slot));
  job.listed = true;
  return false;
}

void Engine::believe_end(Slot slot, Time end) {
  Job &job = jobs_[slot];
  if (job.listed) estimated_ends_.erase(entry(job, slot));
  job.estimated_end = end;
  job.listed = job.listed || (track_ends_ && end <= horizon_);
  if (job.listed) estimated_ends_.insert(entry(job, slot));
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

// When the work that it was believed to be will be done, at the rate that it has; its limit ends it before that.
[[gnu::noinline, gnu::cold]] void Engine::believe(Slot slot) {
  Job &job = jobs_[slot];
  if (job.end == now_) return;  // it is about to leave
  const double believed = std::max(job.pace->believed, 0.0);
  Time left = job.rate == 1 ? believed : job.rate > 0 ? believed / job.rate : kNever;
  if (options_.kill_at_limit) left = std::min(left, job.allowance);
  const Time end = std::max(job.since + left, now_);
  if (end == job.estimated_end) return;
  believe_end(slot, end);
  if (job.estimated_end < job.end) set_timer(job.estimated_end, TimerKind::Correct, slot);
  ++changes_;
  tell(Event::Kind::Corrected, slot);
}

// It may stand still for ever, or nobody will ever say that it is done; a world that leads may do so at any time, but
// then it may be late: as many steps as it takes, and from now on where there are no more.
Time Engine::corrected(Job &job) const {
  if (job.end == kNever && !(led_ && job.rate > 0)) return kNever;
  Time estimate = estimator_->correct(job);
  const auto past = [&] { return !(job.since + (estimate - job.used) > now_); };
  while (led_ && past()) {
    if (job.corrections > Estimator::kCorrections) return kNever;  // so late that nothing can be added to the time
    job.estimate = ++job.corrections < Estimator::kCorrections ? estimate : job.used + (now_ - job.since);
    estimate = estimator_->correct(job);
  }
  return estimate;
}

void Engine::correct(Slot slot) {
  Job &job = jobs_[slot];
  const Time before = job.estimate;
  if (options_.follow_rates && job.pace && job.pace->changed) [[unlikely]] {
    job.estimate = corrected(job);
    ++job.corrections;
    job.pace->believed = job.rate * (now_ - job.since) + (job.estimate - before);
    believe(slot);
    return;
  }
  job.estimate = corrected(job);
  ++job.corrections;
  believe_end(slot, job.since + (job.estimate - job.used));
  if (job.estimated_end < job.end) set_timer(job.estimated_end, TimerKind::Correct, slot);
  ++changes_;
  tell(Event::Kind::Corrected, slot);
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
  if (kind == Event::Kind::Submitted || kind == Event::Kind::Held || kind == Event::Kind::Cancelled)
    unheard_.push_back({kind, slot, node});
}

// The stretch of its life that ends now.
void Engine::write_piece(Job &job, PieceEnd how, Reason reason) {
  job.pieced = true;
  const auto nodes = static_cast<std::size_t>(machine_.nodes());
  if (!pieces_) pieces_.emplace(0, nodes);
  if (!pieces_->has_room(job.shares)) {
    const int next = pieces_->number() + 1;
    host_.take(std::move(*pieces_));
    pieces_.emplace(next, nodes);
  }
  const std::size_t row = pieces_->new_row();
  Pace &pace = pace_of(job);
  const double work = pace.changed ? pace.work : job.work;
  const double done = work < kNever ? work - job.remaining(now_) : job.done(now_);
  pieces_->sequence[row] = job.sequence, pieces_->id[row] = job.id;
  pieces_->cores[row] = job.cores, pieces_->count[row] = job.count, pieces_->request[row] = job.request_number;
  pieces_->begin[row] = pace.changed ? pace.begin : job.since, pieces_->end[row] = now_;
  pieces_->work[row] = work, pieces_->done[row] = how == PieceEnd::Completed && reason == Reason::None ? work : done;
  pieces_->whole[row] = job.whole(), pieces_->expected_end[row] = job.expected_end;
  pieces_->how[row] = static_cast<std::uint8_t>(how), pieces_->reason[row] = static_cast<std::uint8_t>(reason);
  pieces_->allocated[row] = pieces_->allocations.add(job.shares);
  ++pace.stays, pace.changed = false;
  if (how == PieceEnd::Requeued || how == PieceEnd::Suspended) pace.factors.clear();  // its next stay begins at rate 1
}

void Engine::write_node(int node, NodeMode mode) {
  modes_.resize(static_cast<std::size_t>(machine_.nodes()), NodeMode::Up);
  modes_[static_cast<std::size_t>(node)] = mode;
  if (books_) books_->before(now_, cluster_.state().spending, node);
  cluster_.set_mode(node, mode);
  if (books_) books_->after(now_, cluster_.state().spending);
  ++node_changes_;
  if (!node_rows_) node_rows_.emplace(0);
  if (node_rows_->room() == 0) {
    const int next = node_rows_->number() + 1;
    host_.take(std::move(*node_rows_));
    node_rows_.emplace(next);
  }
  const std::size_t row = node_rows_->new_row();
  node_rows_->time[row] = now_, node_rows_->node[row] = node, node_rows_->mode[row] = static_cast<std::uint8_t>(mode);
}

void Engine::hand_over_rows() {
  const int next = rows_.number() + 1;
  host_.take(std::move(rows_));
  rows_ = JobRows(next, rows_.content);
}

// The row of a job that leaves now.
void Engine::write(const Job &job, State state) {
  if (!rows_.has_room(job.shares)) hand_over_rows();
  const std::size_t row = rows_.new_row();
  const bool started = !std::isnan(job.start);
  rows_.sequence[row] = job.sequence, rows_.cores[row] = job.cores;
  rows_.eligible[row] = job.eligible, rows_.start[row] = job.start, rows_.end[row] = job.end;
  rows_.estimate[row] = job.first_estimate;
  rows_.priority[row] = started ? job.key : job.start;
  rows_.state[row] = static_cast<std::uint8_t>(state), rows_.reason[row] = static_cast<std::uint8_t>(job.reason);
  rows_.backfilled[row] = started ? job.backfilled.code : 0;
  rows_.allocated[row] = rows_.allocations.add(started ? job.shares : kNowhere);
  if (rows_.content.applications) [[unlikely]]
    rows_.application[row] = job.application;
  if (!rows_.content.workload) return;
  rows_.id[row] = job.id, rows_.count[row] = job.count, rows_.request[row] = job.request_number;
  rows_.user[row] = job.user, rows_.group[row] = job.group, rows_.queue[row] = job.queue;
  rows_.partition[row] = job.partition;
  rows_.submit[row] = job.submit, rows_.runtime[row] = job.runtime, rows_.limit[row] = job.limit;
}

void Engine::leave(Slot slot, State state) {
  Job &job = jobs_[slot];
  job.state = State::Gone;
  job.end = now_;
  if (job.extra) [[unlikely]]
    write_hold(job);
  if (ids_) [[unlikely]]
    ids_->live.erase(job.id);
  write(job, state);
  ++ended_;
  gone_.push_back(slot);
  if (job.waits) [[unlikely]]
    job.waits.reset();
  if (job.awaited && state < State::Held) [[unlikely]]
    tell_end(job, state);
}

void Engine::set_timer(Time time, TimerKind kind, Slot slot) {
  timers_.push({time, kind, timer_order_++, slot, slot == kNoSlot ? -1 : jobs_[slot].sequence});
}

}  // namespace schedlab
