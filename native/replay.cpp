// Taking up a run that was interrupted: what deciders did is done once more, without asking them.
#include <algorithm>
#include <cstring>

#include "engine.hpp"
#include "plan.hpp"

namespace schedlab {

namespace {

template <class T>
void put(std::string &bytes, const T &value) {
  bytes.append(reinterpret_cast<const char *>(&value), sizeof value);
}

template <class T>
T get(const std::string &bytes, std::size_t &at) {
  if (bytes.size() - at < sizeof(T)) throw std::invalid_argument("the snapshot is cut off");
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  at += sizeof value;
  return value;
}

}  // namespace

// The marks that deciders have left on waiting jobs, and what the decider remembers besides. A plan itself is not among
// it: time has passed when the run goes on, and then it is made anew.
std::string Engine::snapshot(const Decider &decider) const {
  const std::vector<double> memory = decider.memory();  // first: it brings the marks up to date
  std::string bytes;
  put(bytes, waiting_count_);
  for (Slot slot = waiting_first_; slot != kNoSlot; slot = jobs_[slot].next) {
    const Job &job = jobs_[slot];
    put(bytes, slot), put(bytes, job.sequence), put(bytes, job.key), put(bytes, job.scan_key);
    put(bytes, job.reserved_start), put(bytes, job.reserved_shares.size());
    for (const Share &share : job.reserved_shares) put(bytes, share);
  }
  put(bytes, memory.size());
  for (const double value : memory) put(bytes, value);
  return bytes;
}

void Engine::replay(std::string journal, std::int64_t passes, std::string snapshot) {
  past_ = std::make_unique<JournalReader>(std::move(journal));
  past_passes_ = passes;
  past_snapshot_ = std::move(snapshot);
  more_past_ = past_->next();
}

// What observers did before anything happened.
void Engine::replay_before_the_first_pass() {
  for (; more_past_ && past_->entry.pass < 0; more_past_ = past_->next()) view_->redo(*past_);
}

// What observers did before the decider, what it did, what they did after it: in the order in which it was written
// down.
void Engine::replay_pass() {
  for (; more_past_ && past_->entry.pass == passes_; more_past_ = past_->next()) {
    if (past_->entry.phase == Phase::After && told_ == 0) has_decided();
    view_->redo(*past_);
    worked(64 + static_cast<std::int64_t>(past_->shares.size()));
  }
  if (told_ == 0) has_decided();
  if (!without_keys_.empty()) fill_keys();
  phase_ = Phase::Before;
  moves_.clear(), woken_.clear();
  if (occupants_) occupants_->take_changed();  // what models said of them has been done again
  conclude();
}

void Engine::recall(Decider &decider) {
  std::size_t at = 0;
  const auto waiting = get<std::int64_t>(past_snapshot_, at);
  bool same = waiting == waiting_count_;
  for (std::int64_t i = 0; same && i < waiting; ++i) {
    const auto slot = get<Slot>(past_snapshot_, at);
    const auto sequence = get<std::int64_t>(past_snapshot_, at);
    same = slot < jobs_.size() && jobs_[slot].sequence == sequence && jobs_[slot].state == State::Waiting;
    if (!same) break;
    Job &job = jobs_[slot];
    job.key = get<double>(past_snapshot_, at), job.scan_key = get<double>(past_snapshot_, at);
    job.reserved_start = get<Time>(past_snapshot_, at);
    job.reserved_shares.resize(get<std::size_t>(past_snapshot_, at));
    for (Share &share : job.reserved_shares) share = get<Share>(past_snapshot_, at);
  }
  if (!same || more_past_)
    throw InvariantError("the run took another course than before: its checkpoint does not belong to it");
  for (Slot slot = 0; slot < jobs_.size(); ++slot)  // whoever decides finds its place again without what was held
    if (jobs_[slot].extra) jobs_[slot].extra->queued_since = kNever;
  std::vector<double> memory(get<std::size_t>(past_snapshot_, at));
  for (double &value : memory) value = get<double>(past_snapshot_, at);
  past_.reset();
  if (reasons_) reasons_->known_until = now_;
  decider.recall(*view_, memory);
}

void View::note(Act act, std::int64_t who, double a, double b, std::int32_t shape, std::uint8_t code,
                const Shares &shares, std::string_view extra) {
  if (engine_->journal_ && !engine_->past_)
    engine_->journal_->write({act, engine_->phase_, code, shape, engine_->passes_, who, a, b}, shares, extra);
}

void View::note(Act act, std::int64_t who, double a, double b, std::int32_t shape, std::uint8_t code,
                const Shares &shares, const Granted *granted) {
  note(act, who, a, b, shape, code, shares, granted && engine_->journal_ ? granted->packed() : std::string());
}

void View::redo(const JournalReader &past) {
  const Entry &entry = past.entry;
  const Shares &shares = past.shares;
  const auto slot = static_cast<Slot>(entry.who);
  const auto node = static_cast<int>(entry.who);
  const auto granted = [&] { return Granted::unpacked(past.extra, machine().resources()); };
  engine_->phase_ = entry.phase;
  switch (entry.act) {
    case Act::Start:
      if (entry.shape != engine_->jobs_[slot].shape) change_shape(slot, entry.shape);
      engine_->jobs_[slot].shares = shares;
      if (!past.extra.empty()) engine_->jobs_[slot].granted = granted();
      engine_->set_whole(engine_->jobs_[slot], entry.b);
      engine_->begin(slot, entry.a, Backfilled::of(entry.code));
      std::erase(reservations_, slot);
      break;
    case Act::Reject:
      reject(slot);
      break;
    case Act::Kill:
      kill(slot, static_cast<Reason>(entry.code));
      break;
    case Act::Complete:
      complete(slot);
      break;
    case Act::Requeue:
      requeue(slot, entry.a, entry.b, static_cast<Reason>(entry.code));
      break;
    case Act::Suspend:
      suspend(slot);
      break;
    case Act::Resume:
      go_on(slot, {shares, granted()}, entry.a, entry.b);
      break;
    case Act::Reshape:
      move_to(slot, entry.shape, {shares, granted()}, entry.a, entry.b);
      break;
    case Act::SetRate:
      set_rate(slot, entry.a, past.extra);
      break;
    case Act::WakeAt:
      wake_at(entry.a, entry.who);
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
    case Act::Submit:
      submit_again(past.extra);
      break;
    case Act::Withdraw:
      if (entry.who < 0)
        withdraw_coming(-1 - entry.who);
      else
        withdraw(slot);
      break;
    case Act::Hold:
      hold(slot);
      break;
    case Act::Release:
      release(slot);
      break;
    case Act::KnowRequest:
      engine_->host_.know_request(past.extra);
      break;
    case Act::KnowName:
      engine_->host_.know_name(entry.who, past.extra);
      break;
    case Act::Waits:
    case Act::Explain:
    case Act::Refused:
      redo_why(past);
      break;
  }
  engine_->phase_ = Phase::Before;
}

}  // namespace schedlab
