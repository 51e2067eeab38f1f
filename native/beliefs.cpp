// When running jobs are believed to end: kept in order for those who plan, and corrected when it was wrong.
#include <algorithm>

#include "engine.hpp"

namespace schedlab {

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
  estimated_ends_.insert(EstimatedEnd::of(job, who.slot));
  job.listed = true;
  return false;
}

void Engine::believe_end(Slot slot, Time end) {
  Job &job = jobs_[slot];
  if (job.listed) estimated_ends_.erase(EstimatedEnd::of(job, slot));
  job.estimated_end = end;
  job.listed = job.listed || (track_ends_ && end <= horizon_);
  if (job.listed) estimated_ends_.insert(EstimatedEnd::of(job, slot));
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

}  // namespace schedlab
