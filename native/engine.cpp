#include "engine.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <limits>

namespace schedlab {

Engine::Engine(Machine machine, Placement placement, std::unique_ptr<Estimator> estimator, Options options,
               std::vector<Window> calendar, Host &host)
    : machine_(std::move(machine)),
      placement_(machine_.nodes() == 1 ? placement.on_one_node() : placement),
      estimator_(std::move(estimator)),
      options_(options),
      calendar_(std::move(calendar)),
      host_(host),
      view_(std::make_shared<View>(*this)),
      cluster_(machine_, placement_.index()),
      now_(-kNever),
      books_(machine_.budget() ? std::make_unique<BudgetBooks>(*machine_.budget()) : nullptr),
      tick_every_(std::clamp((1 << 20) / std::max(machine_.nodes(), 1), 1, 4096)),  // a place may cost a look at each
      rows_(0, {options.repeat_workload, static_cast<std::size_t>(machine_.nodes())}),
      timeline_(0, machine_.resource_names()),
      others_(timeline_.others.size()) {
  note_moves_ = machine_.resources() > 1;
  for (Window &window : calendar_) {
    std::sort(window.nodes.begin(), window.nodes.end());
    if (window.until < kNever) set_timer(window.until, TimerKind::Wake, kNoSlot);
  }
}

Engine::~Engine() { view_->retire(); }

void Engine::add_request(Request request, Reason reason) {
  machine_.prepare(request, options_.exclusive, placement_.kind() == Placement::Kind::Contiguous);
  if (options_.own_amounts) request.largest = std::numeric_limits<Amount>::max();  // whether it fits, it says itself
  cluster_.expect(request);
  if (machine_.capped() && request.exclusive) {
    machine_.stop_counting();
    for (Request &known : requests_) known.countable = false;
  }
  requests_.push_back(std::move(request));
  known_.push_back({&requests_.back(), reason});
}

// ---- the loop ----

// flatten, here and on the few other paths that every job takes: the compiler is too shy to inline what they call, and
// an instant, in which little happens, would go in and out of a dozen functions. What few runs need stays apart.
[[gnu::flatten]] void Engine::run(Decider &decider) {
  const bool observed = decider.observed(), measured = meter_ != nullptr, keyed = key_sources_[0] || key_sources_[1],
             neighbours = watch_neighbours_;  // none of these changes while it runs
  if (measured) meter_->last_decision = Clock::now();
  if (reasons_) reasons_->decider = &decider;
  if (past_) replay_before_the_first_pass();
  while (advance()) {
    ++passes_;
    if (past_) {
      replay_pass();
      if (passes_ == past_passes_) recall(decider);
      continue;
    }
    if (observed) open_pass(decider);
    if (keyed && !without_keys_.empty()) [[unlikely]]
      fill_keys();
    phase_ = Phase::Deciding;
    if (measured)
      decide_measured(decider);
    else
      decider.decide(*view_, events_);
    has_decided();
    if (observed) decider.after(*view_);
    if (neighbours) [[unlikely]]
      ask_about_rates();
    phase_ = Phase::Before;
    conclude();
  }
  finish();
}

void Engine::prepare(bool track_ends, Time half_life) {
  track_ends_ = track_ends;
  if (half_life > 0) usage_ = std::make_unique<Usage>(half_life), note_moves_ = true;
  by_itself_ = placement_.kind() == Placement::Kind::FirstFit && !placement_.by_the_moment() && !gate_ &&
               !decide_work_ && calendar_.empty() && !machine_.budget() && machine_.resources() == 1;
}

bool Engine::more_input() {
  if (cursor_ < input_.size) [[likely]]
    return true;
  if (!input_over_) refill();
  return cursor_ < input_.size;
}

void Engine::refill() {
  input_begin_ += static_cast<std::int64_t>(input_.size);
  cursor_ = 0;
  input_over_ = !host_.refill(input_);
  if (input_over_) input_.size = 0;
}

Time Engine::next_time() { return find_next(); }

[[gnu::always_inline]] inline Time Engine::find_next() {
  const bool more = more_input();
  if (!more && next_sequence_ == ended_ && events_.empty() && !open_ && (coming_.empty() || nobody_comes()))
    return kNever;  // nobody is left to care
  Time next = more ? input_.submit[cursor_] : kNever;
  if (!coming_.empty()) [[unlikely]]
    next = std::min(next, next_coming());
  if (const End *end = next_end()) next = std::min(next, end->end);
  if (!timers_.empty()) {
    if (next == kNever) [[unlikely]]
      drop_spent_timers();
    if (!timers_.empty()) next = std::min(next, timers_.top().time);
  }
  if (next < now_) throw std::invalid_argument("jobs must come in the order of their submission");
  return next;
}

bool Engine::out_of_date(const End &entry) const {
  const Job &job = jobs_[entry.slot];
  return job.state != State::Running || job.start_order != entry.order || job.moves != entry.moves;
}

const Engine::End *Engine::next_end() {
  for (; moved_ends_ > 0 && !ends_.empty() && out_of_date(ends_.top()); --moved_ends_) ends_.pop();
  return ends_.empty() ? nullptr : &ends_.top();
}

bool Engine::advance() {
  for (;;) {
    if (!instant_open_) {
      const Time next = led_ && std::exchange(led_->open, false) ? now_ : find_next();
      if (next > until_) [[unlikely]] {
        now_ = std::max(now_, until_);
        return false;
      }
      if (next == kNever) {
        if (!stays_open()) return false;
        continue;
      }
      now_ = next;
      open_ = false;
      if (books_ && !books_->begun()) books_->pass_time(now_, cluster_.state().spending);  // they begin now
      instant_open_ = true;
      if (!calendar_.empty() && has_calendar_end(now_)) ++changes_;
      if (options_.pass_per_event) {
        begin_instant_by_event();
      } else {
        whole_instant();
        if (reason_for_a_pass()) return true;
        conclude();
      }
    }
    while (next_round()) {
      if (reason_for_a_pass()) {
        count_round();
        return true;
      }
      conclude();
    }
    instant_open_ = false;
    record();
    if (reasons_) [[unlikely]]
      tell_reasons();
    if (--instants_left_ <= 0) [[unlikely]]
      tick();
  }
}

void Engine::lead(Time time) {
  if (!(time >= now_ && time < kNever && time > -kNever) || instant_open_) {
    char text[96];
    std::snprintf(text, sizeof text, "time cannot be led from %.15g s to %.15g s%s", now_, time,
                  instant_open_ ? ": there is more to decide first" : "");
    throw DecisionError(text);
  }
  if (!led_) {
    led_ = std::make_unique<Led>();
    for (const Timer &timer : timers_.entries())
      if (timer.kind == TimerKind::Wake) led_->wakes.push_back(timer.time);
  }
  now_ = until_ = time;
  led_->open = true;
  if (books_ && !books_->begun()) books_->pass_time(now_, cluster_.state().spending);  // they begin now
}

std::vector<Time> Engine::take_wakes() { return led_ ? std::exchange(led_->wakes, {}) : std::vector<Time>(); }

// The end of an instant. A run can be broken off between two times only.
[[gnu::noinline]] void Engine::tick() {
  if (next_time() == now_) return;
  instants_left_ = tick_every_;
  host_.tick(now_, ended_);
}

// The next end of an instant looks at it too: what can be done only there must not wait for thousands of slow passes.
void Engine::look_at_the_clock() {
  steps_left_ = kStepsBetweenLooks;
  instants_left_ = 1;
  host_.tick_within(now_, ended_);
}

void Engine::open_pass(Decider &decider) {
  phase_ = Phase::Before;
  decider.before(*view_, events_);
  if (!without_keys_.empty()) [[unlikely]]
    fill_keys();
  phase_ = Phase::Deciding;
}

void Engine::has_decided() {
  phase_ = Phase::After;
  told_ = events_.size();
  if (!unheard_.empty()) [[unlikely]]
    tell_unheard();
}

void Engine::tell_unheard() {
  events_.insert(events_.end(), unheard_.begin(), unheard_.end());
  unheard_.clear();
}

void Engine::close_pass(Decider &decider) {
  has_decided();
  decider.after(*view_);
  if (watch_neighbours_) ask_about_rates();
  phase_ = Phase::Before;
  if (reasons_) reasons_->stepped = true;
  conclude();
}

// Another pass in the same instant. Jobs that come, leave or are due end some time; what is done and undone does not.
void Engine::count_round() {
  const auto due = static_cast<std::int64_t>(timer_order_) - static_cast<std::int64_t>(timers_.size());
  const std::int64_t progress = next_sequence_ + ended_ + due;
  if (std::exchange(round_time_, now_) != now_ || std::exchange(round_progress_, progress) != progress) {
    rounds_ = 0;
  } else if (++rounds_ > kMostRounds + next_sequence_ - ended_) {
    std::string last;
    for (const Event &event : events_)
      if (event.slot != kNoSlot) last = ", the last time to job " + std::to_string(jobs_[event.slot].id);
    char text[64];
    std::snprintf(text, sizeof text, "%lld passes at %.15g s", static_cast<long long>(rounds_), now_);
    throw DecisionError(text + std::string(" in which no job came or left: something is done and undone for ever") +
                        last + " (held and released, or started and requeued, in every pass?)");
  }
}

// Is there more to be told in this instant? With a pass per event, the next one; and what observers did after a pass.
bool Engine::next_round() { return reason_for_a_pass() || (options_.pass_per_event && next_event()); }

bool Engine::reason_for_a_pass() const {
  return options_.pass_per_event ? reason_besides_corrections() : !events_.empty();
}

// With a pass per event a correction is no reason for one: it is told with the next event that is.
bool Engine::reason_besides_corrections() const {
  return std::any_of(events_.begin(), events_.end(),
                     [](const Event &event) { return event.kind != Event::Kind::Corrected; });
}

// The pass is over, or there was no reason for one.
void Engine::conclude() {
  if (told_ == events_.size())
    events_.clear();
  else
    events_.erase(events_.begin(), events_.begin() + static_cast<std::ptrdiff_t>(told_));
  told_ = 0;
  if (events_.empty()) {
    for (const Slot slot : gone_) jobs_.give_back(slot);
    gone_.clear();
  }
  if (options_.validate) {
    validate();
    worked(static_cast<std::int64_t>(jobs_.size()) + machine_.nodes() * machine_.resources());
  }
}

// One instant, one batch: completions, submissions, timers, then one pass.
[[gnu::flatten]] void Engine::whole_instant() {
  for (const End *end = next_end(); end && end->end <= now_; end = next_end()) {
    const Slot slot = end->slot;
    ends_.pop();
    complete(slot);
  }
  while (more_input() && input_.submit[cursor_] <= now_) submit();
  if (!coming_.empty()) [[unlikely]]
    while (enter_next()) {
    }
  if (!timers_.empty() && timers_.top().time <= now_)
    while (next_timer(now_, false)) {
    }
}

// A pass after every event, except corrections; what ends as believed is free from the beginning of the instant.
void Engine::begin_instant_by_event() {
  ending_.clear();
  ended_here_ = 0;
  for (const End *end = next_end(); end && end->end <= now_; end = next_end()) {
    ending_.push_back(*end);
    ends_.pop();
    const Slot slot = ending_.back().slot;
    if (jobs_[slot].estimated_end <= now_) release(slot);
  }
}

bool Engine::next_event() {
  if (next_timer(now_, true)) return true;
  while (ended_here_ < ending_.size() && out_of_date(ending_[ended_here_])) ++ended_here_;  // stopped in this instant
  if (more_input() && input_.submit[cursor_] <= now_) {
    submit();
  } else if (!coming_.empty() && enter_next()) {
    return true;
  } else if (ended_here_ < ending_.size()) {
    complete(ending_[ended_here_++].slot);
  } else if (const End *end = next_end(); end && end->end <= now_) {  // started and ended in this instant
    const Slot slot = end->slot;
    ends_.pop();
    complete(slot);
  } else {
    return next_timer(now_, false);
  }
  return true;
}

bool Engine::has_calendar_end(Time time) const {
  return std::any_of(calendar_.begin(), calendar_.end(), [&](const Window &window) { return window.until == time; });
}

// Nothing will happen any more, or the run is given up: who is still here, stays as he is.
void Engine::finish() {
  host_.tick(now_, ended_);
  if (reasons_) finish_reasons();
  for (Slot slot = 0; slot < jobs_.size(); ++slot) {
    Job &job = jobs_[slot];
    const State state = job.state;
    if (state == State::Waiting) dequeue(slot), count_queued(job, -1);
    if (state == State::Running && job.released && note_moves_) count_others(job, +1, 0);  // it still has what it had
    if (state == State::Running && job.pieced) write_piece(job, PieceEnd::Unfinished);
    if (state == State::Running && !job.released && books_) settle_books(slot), write_books(slot, false);
    if (state == State::Running && !job.released && (all_places_ || job.granted)) write_places(slot);
    if (state >= State::Held && state < State::Gone) leave(slot, state);
  }
  if (now_ > -kNever) record();
  host_.take(std::move(rows_));
  host_.take(std::move(timeline_));
  if (pieces_) host_.take(std::move(*pieces_));
  if (rates_) rates_->owners = owners_, host_.take(std::move(*rates_));
  if (node_rows_) host_.take(std::move(*node_rows_));
  if (place_rows_) host_.take(std::move(*place_rows_));
  if (predecessor_rows_) host_.take(std::move(*predecessor_rows_));
  if (submitted_rows_) host_.take(std::move(*submitted_rows_));
  if (hold_rows_) host_.take(std::move(*hold_rows_));
  if (meter_) host_.take(std::move(meter_->rows));
}

void Engine::refuse(const char *what, Slot slot, const std::string &why) const {
  char text[256];
  std::snprintf(text, sizeof text, "cannot %s job %lld at %.15g s: ", what, static_cast<long long>(jobs_[slot].id),
                now_);
  throw DecisionError(text + why);
}

void Engine::refuse_node(const char *what, int node, const char *why) const {
  char text[256];
  std::snprintf(text, sizeof text, "cannot %s node %d at %.15g s: %s", what, node, now_, why);
  throw DecisionError(text);
}

void Engine::refuse_waking(const char *whom, Time time) const {
  char text[192];
  std::snprintf(text, sizeof text, "cannot wake %s at %.15g s: it is %.15g s, and a time after that is expected", whom,
                time, now_);
  throw DecisionError(text);
}

// ---- what decisions cost ----

namespace {

// The resident memory of the process in megabytes (10^6 bytes); NaN where the system does not tell.
float resident_memory() {
  long pages = -1;
  if (std::FILE *file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%*d %ld", &pages) != 1) pages = -1;
    std::fclose(file);
  }
  if (pages < 0) return std::numeric_limits<float>::quiet_NaN();
  return static_cast<float>(static_cast<double>(pages) * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6);
}

}  // namespace

void Engine::decide_measured(Decider &decider) {
  constexpr auto kBetweenSamples = std::chrono::milliseconds(20);
  const auto seconds = [](Clock::duration d) { return std::chrono::duration<float>(d).count(); };
  const auto queued = static_cast<std::int32_t>(waiting_count_), running = static_cast<std::int32_t>(running_count_);
  const Clock::time_point begin = Clock::now();
  decider.decide(*view_, events_);
  const Clock::time_point end = Clock::now();

  PassRows &rows = meter_->rows;
  if (rows.room() == 0) {
    const int next = rows.number() + 1;
    host_.take(std::move(rows));
    rows = PassRows(next);
  }
  if (end - meter_->last_sample >= kBetweenSamples) {
    meter_->memory_mb = resident_memory();
    meter_->last_sample = end;
  }
  const std::size_t row = rows.new_row();
  rows.time[row] = now_;
  rows.queued[row] = queued, rows.running[row] = running;
  rows.decide_seconds[row] = seconds(end - begin);
  rows.pass_seconds[row] = seconds(end - meter_->last_decision);
  rows.memory_mb[row] = meter_->memory_mb;
  meter_->last_decision = Clock::now();  // measuring is not measured
}

}  // namespace schedlab
