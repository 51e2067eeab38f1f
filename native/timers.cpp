// What is due at a time: releases, cancellations, corrections, points and wake-ups.
#include "engine.hpp"

namespace schedlab {

void Engine::set_timer(Time time, TimerKind kind, Slot slot) {
  timers_.push({time, kind, timer_order_++, slot, slot == kNoSlot ? -1 : jobs_[slot].sequence});
}

// It concerns nobody any more. (Inlined because every correction comes by here.)
[[gnu::always_inline]] inline bool Engine::out_of_date(const Timer &timer) const {
  if (timer.kind == TimerKind::Wake) return false;
  const Job &job = jobs_[timer.slot];
  if (job.sequence != timer.sequence || job.state == State::Gone) return true;
  switch (timer.kind) {
    case TimerKind::Release:
      return !job.waits;
    case TimerKind::Cancel:
      return job.state != State::Waiting && job.state != State::Held;
    case TimerKind::Correct:
      return job.state != State::Running || job.released || job.estimated_end != timer.time;
    default:
      return job.state != State::Running || timer.order != job.flexible->point;
  }
}

// Only timers are left: the clock does not go on for those that concern nobody, or the run would end later than the
// last thing that happened in it.
void Engine::drop_spent_timers() {
  while (!timers_.empty() && out_of_date(timers_.top())) timers_.pop();
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
      tell(Event::Kind::Woken, kNoSlot);
      if (timer.sequence >= 0) woken_.push_back(timer.sequence);
      handled = true;
      continue;
    }
    if (out_of_date(timer)) continue;
    handled = true;
    if (timer.kind == TimerKind::Release) let_go(timer.slot);
    if (timer.kind == TimerKind::Cancel) cancel(timer.slot);
    if (timer.kind == TimerKind::Correct) correct(timer.slot);
    if (timer.kind == TimerKind::Point) tell(Event::Kind::Point, timer.slot), set_point(timer.slot);
  }
  for (const Timer &timer : kept) timers_.push(timer), worked(16);
  return handled;
}

}  // namespace schedlab
