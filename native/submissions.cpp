// Jobs that come while the simulation runs, and what becomes of jobs before they start: withdrawn, held, released.
#include "submissions.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "engine.hpp"
#include "order.hpp"
#include "plan.hpp"

namespace schedlab {

namespace {

std::string text(double value) {
  char written[32];
  std::snprintf(written, sizeof written, "%.15g", value);
  return written;
}

}  // namespace

// ---- entering ----

void Engine::describe(Job &job, const Submission &submission) const {
  job.id = submission.id;
  job.submit = submission.at;
  job.runtime = submission.runtime, job.limit = submission.limit;
  job.request_number = submission.request;
  job.request = known_[static_cast<std::size_t>(job.request_number)].request;
  job.count = submission.count, job.cores = job.count * job.request->cores;
  job.user = submission.user, job.group = submission.group, job.queue = submission.queue;
  job.partition = submission.partition, job.application = submission.application;
  job.state = State::Coming;
  job.make_new();
}

Slot Engine::new_job(const Submission &submission, Baggage &&baggage) {
  const Slot slot = jobs_.acquire();
  Job &job = jobs_[slot];
  describe(job, submission);
  if (!baggage.empty()) {
    Extra &extra = job.more();
    extra.attachments = std::move(baggage.attachments);
    extra.before = std::move(baggage.before), extra.any = baggage.any;
  }
  return slot;
}

// Its time has come: the next number, an estimate, and then it is a job like any other.
void Engine::enter_submitted(Slot slot, Time called, Time cancel) {
  Job &job = jobs_[slot];
  job.sequence = next_sequence_;
  try {
    job.first_estimate = estimator_->estimate(job, slot);
  } catch (...) {
    discard(slot);
    throw;
  }
  ++next_sequence_, ++submitted_;
  write_submitted(job, called, cancel);
  if (job.extra && !job.extra->before.empty()) follow_submitted(slot);
  if (options_.follow_dependencies)
    if (const std::int64_t last = host_.last_referrer(job.id); last > log_position()) await(slot, last);
  if (ids_) {
    ids_->live.emplace(job.id, slot);
    enter_expected(slot);
  }
  if (key_sources_[0] || key_sources_[1]) without_keys_.emplace_back(slot, job.sequence);
  enter(slot, cancel);
}

// As if it had never been there.
void Engine::discard(Slot slot) {
  Job &job = jobs_[slot];
  job.state = State::Gone;
  job.sequence = -1;
  --announced_;
  if (job.extra) refers_no_more(job.extra->before);
  job.extra.reset();
  jobs_.give_back(slot);
}

void Engine::refers_no_more(std::span<const Predecessor> before) {
  expect_no_more(before);
  for (const Predecessor &predecessor : before) forget_if_done(predecessor.job, log_position());
}

Time Engine::next_coming() {
  const auto withdrawn = [this](const Coming &next) {
    return next.source >= 0 && tickets_[next.source].sequence == Announced::kWithdrawn;
  };
  for (; withdrawn_ > 0 && !coming_.empty() && withdrawn(coming_.top()); --withdrawn_) {
    tickets_.let_go(coming_.top().source);
    coming_.pop();
  }
  return coming_.empty() ? kNever : coming_.top().at;
}

// Only jobs that were withdrawn are left of those that were to come.
bool Engine::nobody_comes() { return next_coming() == kNever; }

bool Engine::enter_next() {
  if (next_coming() > now_) return false;
  const Coming next = coming_.top();
  coming_.pop();
  if (next.source >= 0) {
    Announced &one = tickets_[next.source];
    const Time called = one.called, cancel = one.job.cancel;
    one.slot = new_job(one.job, one.baggage ? std::move(*one.baggage) : Baggage());
    one.sequence = next_sequence_;
    const Slot slot = one.slot;
    tickets_.let_go(next.source);
    enter_submitted(slot, called, cancel);
    return true;
  }
  const auto number = static_cast<std::size_t>(-1 - next.source);
  Parcel &parcel = *parcels_[number];
  const std::size_t i = parcel.next++;
  const Submission job = parcel.jobs[i];
  const Slot slot = new_job(job, parcel.baggage.empty() ? Baggage() : std::move(parcel.baggage[i]));
  const Time called = parcel.called;
  if (parcel.next == parcel.jobs.size())
    parcels_[number].reset();
  else
    coming_.push({parcel.jobs[parcel.next].at, next.order + 1, next.source});
  enter_submitted(slot, called, job.cancel);
  return true;
}

// The places in the queue of jobs that did not come with them, as the host computes them of those that do: before a job
// waits for anybody, at its submission.
void Engine::fill_keys() {
  std::vector<Slot> slots;
  for (const auto &[slot, sequence] : without_keys_)
    if (jobs_[slot].sequence == sequence && jobs_[slot].state != State::Gone) slots.push_back(slot);
  without_keys_.clear();
  if (slots.empty()) return;
  std::vector<Time> eligible;
  for (const Slot slot : slots) eligible.push_back(std::exchange(jobs_[slot].eligible, jobs_[slot].submit));
  std::vector<double> keys(slots.size());
  for (std::size_t k = 0; k < 2; ++k) {
    if (!key_sources_[k]) continue;
    key_sources_[k]->keys(*view_, slots, keys.data());
    for (std::size_t i = 0; i < slots.size(); ++i)
      jobs_[slots[i]].given_key[k] = std::isnan(keys[i]) ? kNever : keys[i];
  }
  for (std::size_t i = 0; i < slots.size(); ++i) jobs_[slots[i]].eligible = eligible[i];
}

// Nothing is left to happen. In a run that is taken up again it is known what was said then.
bool Engine::stays_open() {
  if (open_ || past_) {
    if (past_ && !open_) return open_ = true;
    throw InvariantError("the run took another course than before: its checkpoint does not belong to it");
  }
  std::string who;
  {
    const Question asking(*this, "more_may_come");
    who = host_.more_may_come();
  }
  if (who.empty()) return false;
  open_ = true;
  if (next_time() < kNever) return true;
  throw DecisionError(who + " says at " + text(now_) +
                      " s that more jobs may come, but nothing will happen any more that could bring them: ask for a "
                      "pass with view.wake_at, or submit them for later");
}

// ---- their ids ----

std::int64_t Engine::take_id(std::int64_t wanted) {
  if (wanted < 0) {
    while (ids_ && (ids_->chosen.contains(next_own_id_) || ids_->live.contains(next_own_id_))) ++next_own_id_;
    return next_own_id_++;
  }
  taken_ids();
  if (ids_->live.contains(wanted) || (wanted >= kFirstOwnId && wanted < next_own_id_) ||
      !ids_->chosen.insert(wanted).second)
    refuse_submission("there is a job " + std::to_string(wanted) + " already: leave the id out, or choose another");
  return wanted;
}

TakenIds &Engine::taken_ids() {
  if (!ids_) {
    ids_ = std::make_unique<TakenIds>();
    for (Slot slot = 0; slot < jobs_.size(); ++slot)
      if (const Job &job = jobs_[slot]; job.state != State::Gone && job.state != State::Coming)
        ids_->live.emplace(job.id, slot);
  }
  return *ids_;
}

void Engine::note_id(Slot slot) {
  const Job &job = jobs_[slot];
  if (ids_->chosen.contains(job.id))
    throw DecisionError("job " + std::to_string(job.id) + " of the workload comes at " + text(now_) +
                        " s, but its id was given to a job that was submitted during the run: leave the ids of such "
                        "jobs out, or choose others");
  ids_->live.emplace(job.id, slot);
  enter_expected(slot);
}

// Of two with one id, the first one is meant.
void Engine::forget_id(Slot slot) {
  const auto known = ids_->live.find(jobs_[slot].id);
  if (known != ids_->live.end() && known->second == slot) ids_->live.erase(known);
}

// ---- what is written down ----

void Engine::write_submitted(const Job &job, Time called, Time cancel) {
  if (!submitted_rows_) submitted_rows_.emplace(0, !rows_.content.workload);
  if (submitted_rows_->room() == 0) {
    const int next = submitted_rows_->number() + 1;
    host_.take(std::move(*submitted_rows_));
    submitted_rows_.emplace(next, !rows_.content.workload);
  }
  SubmittedRows &rows = *submitted_rows_;
  const std::size_t row = rows.new_row();
  rows.sequence[row] = job.sequence, rows.id[row] = job.id, rows.called[row] = called;
  if (!rows.whole) return;
  rows.count[row] = job.count, rows.request[row] = job.request_number;
  rows.user[row] = job.user, rows.group[row] = job.group, rows.queue[row] = job.queue;
  rows.partition[row] = job.partition;
  rows.submit[row] = job.submit, rows.runtime[row] = job.runtime, rows.limit[row] = job.limit;
  rows.cancel[row] = cancel;
}

void Engine::write_hold(Job &job) {
  if (job.extra->held_since == kNever) return;
  if (!hold_rows_) hold_rows_.emplace(0);
  if (hold_rows_->room() == 0) {
    const int next = hold_rows_->number() + 1;
    host_.take(std::move(*hold_rows_));
    hold_rows_.emplace(next);
  }
  const std::size_t row = hold_rows_->new_row();
  hold_rows_->sequence[row] = job.sequence, hold_rows_->id[row] = job.id;
  hold_rows_->eligible[row] = job.eligible;
  hold_rows_->begin[row] = job.extra->held_since, hold_rows_->end[row] = now_;
  job.extra->held_since = kNever;
}

void Engine::refuse_submission(const std::string &why) const {
  throw DecisionError("cannot submit a job at " + text(now_) + " s: " + why);
}

// ---- what deciders and observers do ----

namespace {

// In the journal: how many, the fixed fields of each, then what they carry along.
std::string written(std::span<const Submission> jobs, std::span<const Baggage> baggage, bool parcel) {
  std::string bytes(1, parcel ? '\1' : '\0');
  const auto put = [&](const void *from, std::size_t size) { bytes.append(static_cast<const char *>(from), size); };
  const std::uint64_t sizes[2] = {jobs.size(), baggage.size()};
  put(sizes, sizeof sizes);
  put(jobs.data(), jobs.size_bytes());
  for (const Baggage &one : baggage) {
    const std::uint64_t lengths[2] = {one.attachments.size(), one.before.size()};
    put(lengths, sizeof lengths), put(&one.any, sizeof one.any);
    bytes.append(one.attachments);
    for (const Predecessor &predecessor : one.before)
      put(&predecessor.job, sizeof predecessor.job), put(&predecessor.condition, sizeof predecessor.condition),
          put(&predecessor.delay, sizeof predecessor.delay);
  }
  return bytes;
}

}  // namespace

void View::submit_again(const std::string &bytes) {
  std::size_t at = 1;
  const auto get = [&](void *to, std::size_t size) {
    if (bytes.size() - at < size) throw std::invalid_argument("the journal is cut off");
    std::memcpy(to, bytes.data() + at, size);
    at += size;
  };
  std::uint64_t sizes[2];
  get(sizes, sizeof sizes);
  std::vector<Submission> jobs(sizes[0]);
  get(jobs.data(), jobs.size() * sizeof(Submission));
  std::vector<Baggage> baggage(sizes[1]);
  for (Baggage &one : baggage) {
    std::uint64_t lengths[2];
    get(lengths, sizeof lengths), get(&one.any, sizeof one.any);
    one.attachments.resize(lengths[0]);
    get(one.attachments.data(), lengths[0]);
    one.before.resize(lengths[1]);
    for (Predecessor &predecessor : one.before)
      get(&predecessor.job, sizeof predecessor.job), get(&predecessor.condition, sizeof predecessor.condition),
          get(&predecessor.delay, sizeof predecessor.delay);
  }
  if (bytes[0])
    submit(std::move(jobs), std::move(baggage));
  else
    submit(jobs[0], baggage.empty() ? Baggage() : std::move(baggage[0]));
}

void View::check_submission(const Submission &job) const {
  const auto require = [&](bool good, const char *what, double value, const char *expected) {
    if (!good) engine_->refuse_submission(std::string("its ") + what + " is " + text(value) + ", expected " + expected);
  };
  if (!(job.at >= now() && job.at < kNever) || job.at == -kNever) {
    if (now() == -kNever) engine_->refuse_submission("nothing has happened yet: say when it is to be submitted, at=…");
    require(false, "submission", job.at, "a time that is not in the past");
  }
  require(job.runtime >= 0, "runtime", job.runtime, "a duration");
  require(job.limit >= 0, "limit", job.limit, "a duration");
  require(!std::isnan(job.cancel), "cancellation", job.cancel, "a time");
  require(job.count >= 1, "count", static_cast<double>(job.count), "at least 1 chunk");
  if (job.request < 0 || static_cast<std::size_t>(job.request) >= engine_->requests_.size())
    engine_->refuse_submission("there is no request " + std::to_string(job.request) + ", only " +
                               std::to_string(engine_->requests_.size()) + ": give a schedlab.Request");
}

void View::check_baggage(const Baggage &baggage) const {
  for (const Predecessor &predecessor : baggage.before)
    if (!(predecessor.delay >= 0 && predecessor.delay < kNever))
      engine_->refuse_submission("its delay after job " + std::to_string(predecessor.job) + " is " +
                                 text(predecessor.delay) + ", expected seconds");
}

Submitted View::submit(const Submission &given, Baggage baggage) {
  check_submission(given);
  check_baggage(baggage);
  Submission job = given;
  job.id = engine_->take_id(given.id);
  last_job = job.id;
  if (engine_->journal_)
    note(Act::Submit, 0, 0, 0, 0, 0, {}, written({&given, 1}, {&baggage, baggage.empty() ? std::size_t{0} : 1}, false));
  engine_->expect(baggage.before);
  ++engine_->announced_;
  if (job.at <= now()) {
    const Slot slot = engine_->new_job(job, std::move(baggage));
    engine_->enter_submitted(slot, now(), job.cancel);
    return {job.id, slot};
  }
  const std::int64_t ticket = engine_->tickets_.give(job, now(), std::move(baggage));
  engine_->coming_.push({job.at, engine_->submissions_++, ticket});
  return {job.id, kNoSlot, ticket};
}

Tickets &View::tickets() const { return engine_->tickets_; }

// As a job that has not entered yet looks: good until the next one is looked at.
const Job &View::look_ahead(const Announced &one) const {
  auto &job = engine_->looked_at_;
  if (!job) job = std::make_unique<Job>();
  job->sequence = -1;
  engine_->describe(*job, one.job);
  job->first_estimate = job->estimate = std::numeric_limits<double>::quiet_NaN();
  if (one.baggage) job->more().attachments = one.baggage->attachments;
  return *job;
}

std::vector<std::int64_t> View::submit(std::vector<Submission> jobs, std::vector<Baggage> baggage) {
  std::vector<std::int64_t> ids;
  if (jobs.empty()) return ids;
  for (const Submission &job : jobs) check_submission(job);
  for (const Baggage &one : baggage) check_baggage(one);
  ids.reserve(jobs.size());
  const std::int64_t next_own_id = engine_->next_own_id_;
  try {
    for (const Submission &job : jobs) ids.push_back(engine_->take_id(job.id));
  } catch (const DecisionError &) {
    for (std::size_t i = 0; i < ids.size(); ++i)
      if (jobs[i].id >= 0) engine_->ids_->chosen.erase(jobs[i].id);
    engine_->next_own_id_ = next_own_id;
    throw;
  }
  if (engine_->journal_) note(Act::Submit, 0, 0, 0, 0, 0, {}, written(jobs, baggage, true));
  for (std::size_t i = 0; i < ids.size(); ++i) jobs[i].id = ids[i];
  for (const Baggage &one : baggage) engine_->expect(one.before);
  const auto earlier = [](const Submission &a, const Submission &b) { return a.at < b.at; };
  if (!std::is_sorted(jobs.begin(), jobs.end(), earlier)) {
    std::vector<std::size_t> order(jobs.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return jobs[a].at < jobs[b].at; });
    std::vector<Submission> sorted;
    std::vector<Baggage> bags;
    for (const std::size_t i : order) {
      sorted.push_back(jobs[i]);
      if (!baggage.empty()) bags.push_back(std::move(baggage[i]));
    }
    jobs = std::move(sorted), baggage = std::move(bags);
  }
  auto &parcels = engine_->parcels_;
  auto place = std::find(parcels.begin(), parcels.end(), nullptr);
  if (place == parcels.end()) place = parcels.insert(place, nullptr);
  const std::uint64_t order = engine_->submissions_;
  engine_->submissions_ += jobs.size(), engine_->announced_ += static_cast<std::int64_t>(jobs.size());
  const Time first = jobs[0].at;
  *place = std::make_unique<Parcel>(std::move(jobs), std::move(baggage), now());
  engine_->coming_.push({first, order, -1 - (place - parcels.begin())});
  if (first <= now())
    while (engine_->enter_next()) {
    }
  return ids;
}

std::int64_t View::submitted() const { return engine_->submitted_; }
std::int64_t View::announced() const { return engine_->announced_; }

std::vector<Slot> View::held() const {
  std::vector<Slot> found;
  for (Slot slot = 0; slot < engine_->jobs_.size(); ++slot)
    if (job(slot).state == State::Held) found.push_back(slot);
  std::sort(found.begin(), found.end(), [&](Slot a, Slot b) { return job(a).sequence < job(b).sequence; });
  return found;
}

const char *View::asking() const { return engine_->asking_; }

void View::withdraw(Slot slot) {
  Job &job = engine_->jobs_[slot];
  if (job.state != State::Waiting && job.state != State::Held)
    engine_->refuse("withdraw", slot, "it neither waits nor is held");
  note(Act::Withdraw, slot);
  job.reason = Reason::Withdrawn;
  engine_->cancel(slot);
}

// In the journal, tickets are negative.
void View::withdraw_coming(std::int64_t ticket) {
  note(Act::Withdraw, -1 - ticket);
  Announced &one = engine_->tickets_[ticket];
  one.sequence = Announced::kWithdrawn;
  ++engine_->withdrawn_, --engine_->announced_;
  if (const auto baggage = std::move(one.baggage)) engine_->refers_no_more(baggage->before);
}

void View::hold(Slot slot) {
  Job &job = engine_->jobs_[slot];
  if (job.state != State::Waiting) engine_->refuse("hold", slot, "it is not waiting");
  note(Act::Hold, slot);
  engine_->dequeue(slot);
  engine_->count_queued(job, -1);
  job.state = State::Held;
  Extra &extra = job.more();
  extra.held_since = now();
  if (extra.queued_since == kNever) extra.queued_since = job.eligible;
  drop_reservation(slot);
  if (engine_->reasons_) engine_->reasons_->held.push_back(slot);
  engine_->tell(Event::Kind::Held, slot);
}

void View::release(Slot slot) {
  Job &job = engine_->jobs_[slot];
  if (job.state != State::Held) engine_->refuse("release", slot, "it is not held");
  if (!job.extra || job.extra->held_since == kNever)
    engine_->refuse("release", slot, "no decision holds it: it waits for another job");
  note(Act::Release, slot);
  engine_->write_hold(job);
  engine_->make_eligible(slot);
}

}  // namespace schedlab
