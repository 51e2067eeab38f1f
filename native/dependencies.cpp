// Jobs that wait for others. Few jobs have predecessors: all of this is apart from the path that every job takes.
#include <algorithm>

#include "engine.hpp"

namespace schedlab {

// A job of the log is being submitted: whom does it wait for, and will later ones refer to it?
void Engine::read_predecessors(Slot slot, std::size_t i) {
  const auto first = static_cast<std::size_t>(i == 0 ? 0 : input_.before_end[i - 1]),
             last = static_cast<std::size_t>(input_.before_end[i]);
  const std::int64_t position = input_begin_ + static_cast<std::int64_t>(i);
  if (first < last) {
    std::vector<Predecessor> &before = before_;
    before.clear();
    for (std::size_t k = first; k < last; ++k)
      before.push_back(
          {input_.before_job[k], static_cast<Condition>(input_.before_condition[k]), input_.before_delay[k]});
    follow(slot, before, input_.before_any[i], position);
  }
  if (input_.last_referrer[i] > position) await(slot, input_.last_referrer[i]);
}

// From now on it is known what becomes of this job, until the last one has referred to it. Of several jobs with the
// same id the first is meant.
void Engine::await(Slot slot, std::int64_t last_referrer) {
  jobs_[slot].awaited = awaited_.try_emplace(jobs_[slot].id, Awaited{last_referrer}).second;
}

// Those that are not known have no say. What is not decided yet, or lies ahead, makes the job wait.
void Engine::follow(Slot slot, std::span<const Predecessor> before, bool any, std::int64_t position) {
  Job &job = jobs_[slot];
  auto waits = std::make_unique<Waits>(any);
  waits->open.reserve(before.size());
  bool known = false, done = false;
  for (const Predecessor &predecessor : before) {
    const auto found = awaited_.find(predecessor.job);
    write_predecessor(job, predecessor, any, found != awaited_.end());
    if (found == awaited_.end()) continue;
    known = true;
    Awaited &awaited = found->second;
    done = done || awaited.left();
    if (const Time since = awaited.since(predecessor.condition); std::isnan(since)) {
      followers_.add(awaited.followers, {slot, job.sequence, predecessor.condition, predecessor.delay});
      waits->open.push_back(predecessor);
    } else {
      waits->decide(since, predecessor.delay);
    }
  }
  if (done)
    for (const Predecessor &predecessor : before) forget_if_done(predecessor.job, position);
  if (known) job.waits = std::move(waits);
}

// Nobody will refer to it any more, and what became of it is known.
void Engine::forget_if_done(std::int64_t id, std::int64_t position) {
  const auto found = awaited_.find(id);
  if (found != awaited_.end() && found->second.last_referrer <= position && found->second.left() &&
      !expected_.contains(id)) {
    followers_.forget(found->second.followers);
    awaited_.erase(found);
  }
}

// Somebody has submitted a job that refers to these, and that has not entered yet.
void Engine::expect(std::span<const Predecessor> before) {
  if (before.empty()) return;
  const TakenIds &ids = taken_ids();
  for (const Predecessor &predecessor : before) {
    ++expected_[predecessor.job];
    const auto found = ids.live.find(predecessor.job);
    if (found == ids.live.end() || awaited_.contains(predecessor.job)) continue;
    await(found->second, -1);
    awaited_.at(predecessor.job).started = jobs_[found->second].first_start();
  }
}

void Engine::expect_no_more(std::span<const Predecessor> before) {
  for (const Predecessor &predecessor : before)
    if (const auto found = expected_.find(predecessor.job); --found->second == 0) expected_.erase(found);
}

void Engine::follow_submitted(Slot slot) {
  const std::vector<Predecessor> before = std::exchange(jobs_[slot].extra->before, {});
  expect_no_more(before);
  follow(slot, before, jobs_[slot].extra->any, log_position());
}

// Do jobs that are coming refer to this one, which enters now?
void Engine::enter_expected(Slot slot) {
  if (!jobs_[slot].awaited && expected_.contains(jobs_[slot].id)) await(slot, -1);
}

// A job with predecessors has been submitted.
void Engine::hold(Slot slot) {
  const Waits &waits = *jobs_[slot].waits;
  if (waits.hopeless()) {
    dismiss(slot);
  } else if (waits.settled() && waits.release <= now_) {
    let_go(slot);
  } else {
    if (waits.settled()) set_timer(waits.release, TimerKind::Release, slot);
    if (reasons_) reasons_->held.push_back(slot);
  }
}

void Engine::let_go(Slot slot) {
  jobs_[slot].waits.reset();
  make_eligible(slot);
}

// Its condition can never hold.
void Engine::dismiss(Slot slot) {
  jobs_[slot].reason = Reason::NeverSatisfied;
  leave(slot, State::Cancelled);
}

void Engine::tell_start(const Job &job) {
  Awaited &awaited = awaited_.at(job.id);
  if (awaited.started == awaited.started) return;  // it was requeued meanwhile
  awaited.started = now_;
  tell_followers(job.id, awaited);
}

void Engine::tell_end(const Job &job, State state) {
  Awaited &awaited = awaited_.at(job.id);
  awaited.ended = now_, awaited.completed = state == State::Completed;
  tell_followers(job.id, awaited);
  forget_if_done(job.id, log_position());
  if (dismissing_) return;
  // One after the other, not one within the other: chains may be long.
  dismissing_ = true;
  for (std::size_t k = 0; k < hopeless_.size(); ++k)
    if (jobs_[hopeless_[k]].waits) dismiss(hopeless_[k]);
  hopeless_.clear();
  dismissing_ = false;
}

// Who waited for what has just happened to this job?
void Engine::tell_followers(std::int64_t id, Awaited &awaited) {
  followers_.remove_if(awaited.followers, [&](const Follower &follower) {
    const Job &job = jobs_[follower.slot];
    if (job.sequence != follower.sequence || !job.waits) return true;
    const Time since = awaited.since(follower.condition);
    if (std::isnan(since)) return false;
    Waits &waits = *job.waits;
    const bool was_hopeless = waits.hopeless();
    const Time release = waits.release;
    const auto same = [&](const Predecessor &open) {
      return open.job == id && open.condition == follower.condition && open.delay == follower.delay;
    };
    waits.open.erase(std::find_if(waits.open.begin(), waits.open.end(), same));
    waits.decide(since, follower.delay);
    if (waits.hopeless() && !was_hopeless) hopeless_.push_back(follower.slot);
    if (waits.settled() && !waits.hopeless() && (!waits.any || waits.release < release))
      set_timer(waits.release, TimerKind::Release, follower.slot);
    return true;
  });
}

void Engine::write_predecessor(const Job &job, const Predecessor &predecessor, bool any, bool known) {
  if (!predecessor_rows_) predecessor_rows_.emplace(0);
  if (predecessor_rows_->room() == 0) {
    const int next = predecessor_rows_->number() + 1;
    host_.take(std::move(*predecessor_rows_));
    predecessor_rows_.emplace(next);
  }
  PredecessorRows &rows = *predecessor_rows_;
  const std::size_t row = rows.new_row();
  rows.sequence[row] = job.sequence, rows.id[row] = job.id, rows.predecessor[row] = predecessor.job;
  rows.condition[row] = static_cast<std::uint8_t>(predecessor.condition), rows.delay[row] = predecessor.delay;
  rows.any[row] = any, rows.known[row] = known;
}

}  // namespace schedlab
