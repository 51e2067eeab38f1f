// Why jobs wait: asked at the end of each instant in which the decider was asked, and told in rows.
#include "reasons.hpp"

#include <algorithm>
#include <cstring>

#include "blame.hpp"
#include "engine.hpp"

namespace schedlab {

namespace {

constexpr std::string_view kWords[] = {
    "not enough free",
    "would delay job",
    "behind job",
    "dependency",
    "held",
    "limit",
    "partition or features",
    "closed nodes",
    "budget",
    "calendar",
    "gate",
    "not started by the policy",
    "own words",
};

}  // namespace

std::optional<WaitReason> wait_reason(std::string_view word) {
  const auto found = std::find(std::begin(kWords), std::end(kWords), word);
  if (found == std::end(kWords)) return std::nullopt;
  return static_cast<WaitReason>(found - std::begin(kWords));
}

Reasons::Reasons(Host &host) : record(host), blame(std::make_unique<Blame>()) {}
Reasons::~Reasons() = default;

// ---- rows ----

std::int32_t WaitRecord::number_of(const std::string &text) {
  const auto [at, fresh] = numbers_.emplace(text, static_cast<std::int32_t>(rows_.texts_so_far.size()));
  if (fresh) rows_.texts_so_far.push_back(text);
  return at->second;
}

bool WaitRecord::has(Slot slot, const Job &job, const Waited &waited) const {
  return slot < by_slot_.size() && by_slot_[slot].sequence == job.sequence && by_slot_[slot].waited == waited;
}

void WaitRecord::set(Slot slot, const Job &job, Time now, const Waited &waited) {
  if (slot >= by_slot_.size()) by_slot_.resize(slot + 1);
  Open &open = by_slot_[slot];
  if (open.sequence != job.sequence) {
    open = {job.sequence, job.id, waited, now, std::nullopt};
  } else if (!(open.waited == waited)) {
    if (open.since < now) {
      if (open.before) write(open, open.before->first, open.before->second, open.since);
      open.before.emplace(open.waited, open.since);
    }
    open.waited = waited, open.since = now;
    if (open.before && open.before->first == waited) open.since = open.before->second, open.before.reset();
  }
}

void WaitRecord::close(Slot slot, std::int64_t waits, Time now) {
  if (slot >= by_slot_.size() || by_slot_[slot].sequence < 0 || by_slot_[slot].sequence == waits) return;
  end(by_slot_[slot], now);
  by_slot_[slot].sequence = -1;
}

void WaitRecord::finish(Time now) {
  std::erase_if(by_slot_, [](const Open &open) { return open.sequence < 0; });
  std::sort(by_slot_.begin(), by_slot_.end(), [](const Open &a, const Open &b) { return a.sequence < b.sequence; });
  for (const Open &open : by_slot_) end(open, now);
  by_slot_.clear();
  host_.take(std::move(rows_));
}

void WaitRecord::end(const Open &open, Time now) {
  if (open.before) write(open, open.before->first, open.before->second, open.since);
  if (open.since < now) write(open, open.waited, open.since, now);
}

void WaitRecord::write(const Open &open, const Waited &waited, Time from, Time until) {
  if (rows_.room() == 0) {
    ReasonRows next(rows_.number() + 1);
    next.texts_so_far = rows_.texts_so_far;
    host_.take(std::move(rows_));
    rows_ = std::move(next);
  }
  const std::size_t row = rows_.new_row();
  rows_.sequence[row] = open.sequence, rows_.id[row] = open.id;
  rows_.from[row] = from, rows_.until[row] = until;
  rows_.why[row] = static_cast<std::uint8_t>(waited.reason);
  rows_.who[row] = waited.who, rows_.words[row] = waited.words;
}

// ---- who is to be asked ----

void ByCores::add(Slot slot, Amount cores) {
  if (slot >= places_.size()) places_.resize(slot + 1);
  std::vector<Slot> &same = slots_[cores];
  places_[slot] = {cores, same.size()};
  same.push_back(slot);
}

void ByCores::remove(Slot slot) {
  const Place place = places_[slot];
  const auto found = slots_.find(place.cores);
  std::vector<Slot> &same = found->second;
  same[place.index] = same.back();
  places_[same.back()].index = place.index;
  same.pop_back();
  if (same.empty()) slots_.erase(found);
}

void ByCores::collect(Amount most, std::vector<Slot> &found) const {
  for (const auto &[cores, same] : slots_) {
    if (cores > most) return;
    found.insert(found.end(), same.begin(), same.end());
  }
}

void Reasons::came(Slot slot, Amount cores) {
  waiting.add(slot, cores);
  fresh.push_back(slot);
}

void Reasons::went(Slot slot) {
  waiting.remove(slot);
  left.push_back(slot);
}

// `first`: all others wait for this job. In the order of the jobs, so that it does not matter how they were found.
std::vector<Slot> Engine::who_may_wait_for_something_else(const Decider *asked, Slot first) {
  Reasons &reasons = *reasons_;
  const std::int64_t sequence = first == kNoSlot ? -1 : jobs_[first].sequence;
  const Amount free = cluster_.free_cores();
  const bool closed = cluster_.closed_nodes() > 0;
  const bool all = std::exchange(reasons.ask_all, false) || asked != reasons.last_asked ||
                   sequence != reasons.last_first || (first == kNoSlot && (closed || reasons.some_were_closed));
  std::vector<Slot> found;
  if (all) {
    for (Slot slot = waiting_first_; slot != kNoSlot; slot = jobs_[slot].next) found.push_back(slot);
  } else {
    std::copy_if(reasons.fresh.begin(), reasons.fresh.end(), std::back_inserter(found),
                 [&](Slot slot) { return jobs_[slot].state == State::Waiting; });
    if (first != kNoSlot)
      found.push_back(first);
    else  // who asks for more than that had to wait for room, and still has to
      reasons.waiting.collect(std::max(free, reasons.last_free), found);
  }
  const auto earlier = [&](Slot a, Slot b) { return jobs_[a].sequence < jobs_[b].sequence; };
  if (!std::is_sorted(found.begin(), found.end(), earlier)) std::sort(found.begin(), found.end(), earlier);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  reasons.fresh.clear();
  reasons.last_asked = asked, reasons.last_first = sequence;
  reasons.last_free = free, reasons.some_were_closed = closed;
  return found;
}

// ---- the end of an instant ----

void Engine::give_reasons() { reasons_ = std::make_unique<Reasons>(host_); }

void Engine::tell_reasons() {
  Reasons &reasons = *reasons_;
  const auto close = [&](Slot slot) {
    const Job &job = jobs_[slot];
    const bool waits = job.state == State::Waiting || job.state == State::Held;
    reasons.record.close(slot, waits ? job.sequence : -1, now_);
  };
  std::for_each(reasons.left.begin(), reasons.left.end(), close);
  std::for_each(reasons.held.begin(), reasons.held.end(), close);
  reasons.left.clear();
  tell_why_held();
  const bool asked = passes_ != reasons.last_pass || std::exchange(reasons.stepped, false);
  reasons.last_pass = passes_;
  if (past_ || now_ <= reasons.known_until) {
    for (const auto &[slot, waited] : reasons.past) reasons.record.set(slot, jobs_[slot], now_, waited);
    reasons.past.clear();
    reasons.fresh.clear();
    reasons.ask_all = true;
  } else if (asked) {
    ask_why();
  }
}

// By a decision; or until others have started or ended, or until some time after that.
void Engine::tell_why_held() {
  std::erase_if(reasons_->held, [&](Slot slot) {
    const Job &job = jobs_[slot];
    if (job.state != State::Held) return true;
    if (job.extra && job.extra->held_since < kNever) {
      reasons_->record.set(slot, job, now_, {WaitReason::Held});
      return false;
    }
    const bool settled = !job.waits || job.waits->settled();
    reasons_->record.set(slot, job, now_, {WaitReason::Dependency, settled ? -1 : job.waits->open.front().job});
    return false;
  });
}

void Engine::ask_why() {
  Reasons &reasons = *reasons_;
  ++reasons.instant;
  const std::shared_ptr<Decider> native = reasons.native.lock();
  Decider *asked = reasons.decider && reasons.decider->explains() ? reasons.decider : native.get();
  const Slot first = asked ? asked->all_wait_for(*view_) : kNoSlot;
  bool reviewed = first != kNoSlot;
  const auto why_now = [&](Slot slot) -> Why {
    if (first == kNoSlot)  // everybody who decides lets a job wait that does not fit
      if (const auto obstacle = view_->obstacle(slot)) return {*obstacle};
    if (!asked) return view_->why(slot);
    if (!std::exchange(reviewed, true)) asked->review(*view_);
    return asked->why(*view_, slot);
  };
  for (const Slot slot : who_may_wait_for_something_else(asked, first)) {
    worked(64);
    const Job &job = jobs_[slot];
    Waited waited;
    if (const auto said = reasons.said.find(slot);
        said != reasons.said.end() && said->second.sequence == job.sequence) {
      waited = said->second.waited;
    } else {
      const Why why = why_now(slot);
      waited = {why.reason, why.who == kNoSlot ? -1 : jobs_[why.who].id};
      if (why.reason == WaitReason::Gate) waited.words = reasons.gated.at(slot).waited.words;
    }
    if (reasons.record.has(slot, job, waited)) continue;
    view_->note_why(slot, waited);
    reasons.record.set(slot, job, now_, waited);
  }
}

void Engine::finish_reasons() { reasons_->record.finish(now_); }

// ---- in the journal ----

namespace {

void put(std::string &bytes, const Waited &waited, const WaitRecord &record) {
  bytes.append(reinterpret_cast<const char *>(&waited.who), sizeof waited.who);
  bytes.push_back(waited.words >= 0);
  if (waited.words >= 0) bytes += record.text(waited.words);
}

Waited get(std::uint8_t reason, std::string_view bytes, WaitRecord &record) {
  Waited waited{static_cast<WaitReason>(reason)};
  if (bytes.size() <= sizeof waited.who) throw std::invalid_argument("the journal is cut off");
  std::memcpy(&waited.who, bytes.data(), sizeof waited.who);
  if (bytes[sizeof waited.who]) waited.words = record.number_of(std::string(bytes.substr(sizeof waited.who + 1)));
  return waited;
}

}  // namespace

void View::note_why(Slot slot, const Waited &waited) {
  if (!engine_->journal_) return;
  std::string extra;
  put(extra, waited, engine_->reasons_->record);
  const Phase phase = std::exchange(engine_->phase_, Phase::After);
  note(Act::Waits, slot, 0, 0, 0, static_cast<std::uint8_t>(waited.reason), {}, extra);
  engine_->phase_ = phase;
}

void View::redo_why(const JournalReader &past) {
  Reasons &reasons = *engine_->reasons_;
  const auto slot = static_cast<Slot>(past.entry.who);
  const Waited waited = get(past.entry.code, past.extra, reasons.record);
  const std::int64_t sequence = engine_->jobs_[slot].sequence;
  if (past.entry.act == Act::Waits)
    reasons.past.push_back({slot, waited});
  else if (past.entry.act == Act::Refused)
    reasons.gated[slot] = {sequence, waited};
  else if (past.entry.shape == 0)
    reasons.said[slot] = {sequence, waited};
  else
    reasons.said.erase(slot);
}

// ---- what deciders and observers say ----

bool View::gives_reasons() const { return engine_->reasons_ != nullptr; }

void View::explain(Slot slot, const std::string &why, std::int64_t who) {
  const Job &job = engine_->jobs_[slot];
  if (job.state != State::Waiting && job.state != State::Held)
    engine_->refuse("explain the waiting of", slot, "it does not wait");
  const std::optional<WaitReason> known = wait_reason(why);
  if ((known == WaitReason::WouldDelay || known == WaitReason::Behind) && who < 0)
    engine_->refuse("explain the waiting of", slot, "'" + why + "' has to say which job is in the way (who)");
  if (!engine_->reasons_) return;
  Reasons &reasons = *engine_->reasons_;
  Waited waited{WaitReason::OwnWords, who};
  if (known && *known != WaitReason::Gate && *known != WaitReason::OwnWords)
    waited.reason = *known;
  else if (!why.empty())
    waited.words = reasons.record.number_of(why);
  if (engine_->journal_) {
    std::string extra;
    put(extra, waited, reasons.record);
    note(Act::Explain, slot, 0, 0, why.empty(), static_cast<std::uint8_t>(waited.reason), {}, extra);
  }
  if (why.empty())
    reasons.said.erase(slot);
  else
    reasons.said[slot] = {job.sequence, waited};
  reasons.fresh.push_back(slot);
}

void View::explained_by(const std::shared_ptr<Decider> &native) {
  if (engine_->reasons_) engine_->reasons_->native = native;
}

// An observer has not allowed a start.
void View::note_gate(Slot slot) {
  Reasons &reasons = *engine_->reasons_;
  const Waited waited{WaitReason::Gate, -1, reasons.record.number_of(refuser.empty() ? "an observer" : refuser)};
  const std::int64_t sequence = engine_->jobs_[slot].sequence;
  if (const auto known = reasons.gated.find(slot);
      known != reasons.gated.end() && known->second.sequence == sequence && known->second.waited == waited)
    return;
  reasons.gated[slot] = {sequence, waited};
  if (!engine_->journal_) return;
  std::string extra;
  put(extra, waited, reasons.record);
  note(Act::Refused, slot, 0, 0, 0, static_cast<std::uint8_t>(waited.reason), {}, extra);
}

// ---- what the engine can tell ----

std::optional<WaitReason> View::obstacle(Slot slot) const {
  Reasons &reasons = *engine_->reasons_;
  if (slot >= reasons.obstacles.size()) reasons.obstacles.resize(engine_->jobs_.size());
  Reasons::Obstacle &known = reasons.obstacles[slot];
  if (known.instant != reasons.instant) {
    const auto found = find_obstacle(engine_->jobs_[slot]);
    known = {reasons.instant, static_cast<std::int16_t>(found ? static_cast<int>(*found) : -1)};
  }
  if (known.reason < 0) return std::nullopt;
  return static_cast<WaitReason>(known.reason);
}

// What has to be left out of account, one after the other, until the job fits: the last of it is the obstacle.
std::optional<WaitReason> View::find_obstacle(const Job &job) const {
  const LiveCluster &cluster = this->cluster();
  if (cluster.closed_nodes() == 0 && job.cores > cluster.free_cores()) return WaitReason::NotEnoughFree;
  const bool kept_off = restricted(job);
  if (job.request->countable && !job.request->exclusive && !kept_off && cluster.closed_nodes() == 0) {
    if (job.cores <= cluster.usable_cores()) return std::nullopt;
    return job.cores <= cluster.free_cores() ? WaitReason::OverBudget : WaitReason::NotEnoughFree;
  }
  const auto fits = [&](const NodeState &state, const Request &request, Shares &shares) {
    worked(machine().nodes());
    shares.clear();
    return placement().place(machine(), state, request, job.count, job.sequence, shares);
  };
  Shares shares;
  NodeState allowed;
  if (kept_off) {
    allowed = cluster.state();
    restrict(allowed, job, now(), believed_end(job));
  }
  if (fits(kept_off ? allowed : cluster.state(), *job.request, shares)) {
    if (machine().affords(cluster.state(), *job.request, shares)) return std::nullopt;
    return WaitReason::OverBudget;
  }
  if (kept_off && fits(cluster.state(), *job.request, shares)) return WaitReason::Calendar;
  const bool some_closed = cluster.closed_nodes() > 0;
  const NodeState opened = some_closed ? cluster.opened() : NodeState();
  const NodeState &open = some_closed ? opened : cluster.state();
  if (some_closed && fits(open, *job.request, shares)) return WaitReason::ClosedNodes;
  const std::vector<bool> &groups = job.request->groups;
  if (std::find(groups.begin(), groups.end(), false) == groups.end()) return WaitReason::NotEnoughFree;
  auto &anywhere = engine_->reasons_->anywhere;
  auto wider = anywhere.find(job.request_number);
  if (wider == anywhere.end()) {
    Request request = *job.request;
    request.groups.assign(groups.size(), true);
    request.ranges.clear(), request.largest = 0;
    machine().prepare(request, false, placement().kind() == Placement::Kind::Contiguous);
    request.countable = false;
    wider = anywhere.emplace(job.request_number, std::move(request)).first;
  }
  return fits(open, wider->second, shares) ? WaitReason::Partition : WaitReason::NotEnoughFree;
}

Why View::otherwise(Slot slot, WaitReason reason) const {
  const auto &gated = engine_->reasons_->gated;
  const auto found = gated.find(slot);
  const bool refused = found != gated.end() && found->second.sequence == engine_->jobs_[slot].sequence;
  return {refused ? WaitReason::Gate : reason};
}

Why View::why(Slot slot) {
  if (const auto found = obstacle(slot)) return {*found};
  if (const Slot delayed = delayed_reservation(slot); delayed != kNoSlot) return {WaitReason::WouldDelay, delayed};
  return otherwise(slot, WaitReason::NotStarted);
}

// Of the jobs that hold a reservation by `reserve`, the first that it would delay.
Slot View::delayed_reservation(Slot slot) {
  if (reservations_.empty()) return kNoSlot;
  std::vector<Reservation> reservations;
  for (const Slot other : reservations_) reservations.push_back({other});
  if (std::exchange(engine_->reasons_->blamed, engine_->reasons_->instant) != engine_->reasons_->instant)
    engine_->reasons_->blame->look(*this, plans_by_nodes(), reservations);
  return engine_->reasons_->blame->of(slot);
}

Why Decider::why(View &view, Slot slot) { return view.why(slot); }

}  // namespace schedlab
