// How many cores are free when: a step function of time, the last step for ever. Neighbouring steps are never alike.
#pragma once

#include <limits>

#include "shifted_list.hpp"

namespace schedlab {

class Profile {
  struct Step {
    Time time;
    Amount free;
    static std::int64_t tie() { return 0; }
  };
  // Bounds of what is free in a block: they hold, but may be wide.
  struct Bounds {
    Amount least = std::numeric_limits<Amount>::max(), most = std::numeric_limits<Amount>::min();
    void add(const Step &step) { least = std::min(least, step.free), most = std::max(most, step.free); }
    static bool remove(const Step &) { return true; }
  };
  using Steps = ShiftedList<Step, Bounds, 64>;

 public:
  using Position = Steps::Position;

  void assign(Time now, Amount free) {
    steps_.clear();
    steps_.insert(now, {now, free});
    exact_ = is_exact(now);
  }
  // More from then on, which is no earlier than all steps.
  void append(Time time, Amount more) {
    exact_ = exact_ && is_exact(time);
    const Position last = steps_.previous({steps_.block_count(), 0});
    const Amount free = steps_[last].free + more;
    if (time > steps_.time(last))
      steps_.insert(time, {time, free});
    else
      set(last, free);
  }

  void forget_before(Time now) {
    exact_ = exact_ && is_exact(now);
    Position first;
    while (steps_.size() > 1 && steps_.time(steps_.next(first)) <= now) first = steps_.erase(first);
    steps_.set_time(first, now);
  }

  bool exact() const { return exact_; }  // all its times are
  Time now() const { return steps_.time({}); }
  std::size_t size() const { return steps_.size(); }

  bool at_end(Position p) const { return steps_.at_end(p); }
  Position next(Position p) const { return steps_.next(p); }
  Time begin(Position p) const { return steps_.time(p); }
  Time end(Position p) const {
    const Position after = steps_.next(p);
    return steps_.at_end(after) ? kNever : steps_.time(after);
  }
  Amount free(Position p) const { return steps_[p].free; }
  bool first(Position p) const { return steps_.at_begin(p); }
  Position previous(Position p) const { return steps_.previous(p); }

  // The step that holds at this time; before all of them, the first.
  Position at(Time time) const {
    const Position p = steps_.first_not_before(time);
    return steps_.at_begin(p) || (!steps_.at_end(p) && steps_.time(p) == time) ? p : steps_.previous(p);
  }
  // The one that holds just before it.
  Position before(Time time) const {
    const Position p = steps_.first_not_before(time);
    return steps_.at_begin(p) ? p : steps_.previous(p);
  }

  void add(Time from, Time until, Amount cores) {
    if (!(until > from)) return;
    exact_ = exact_ && is_exact(from) && is_exact(until);
    if (until < kNever) cut(until);
    const Position first = cut(from);
    Position p = first;
    for (; !steps_.at_end(p) && steps_.time(p) < until; p = steps_.next(p)) set(p, steps_[p].free + cores);
    join(p), join(first);
  }

  // The first start from this step on, before `latest`, with so many cores free for so long, or until `enough`.
  Time earliest(Position p, Amount cores, Time duration, Time latest = kNever, Time enough = kNever) const {
    for (;;) {
      p = next_with(p, cores, latest);
      if (steps_.at_end(p)) return kNever;
      const Time start = steps_.time(p);
      if (!(start < latest)) return kNever;
      p = next_below(steps_.next(p), cores, std::min(start + duration, enough));
      if (steps_.at_end(p)) return start;
    }
  }
  Time earliest(Amount cores, Time duration) const { return earliest({}, cores, duration); }
  bool possible(Time from, Time duration, Amount cores) const {
    const Position p = at(from);
    return steps_[p].free >= cores && steps_.at_end(next_below(steps_.next(p), cores, from + duration));
  }

  // All that is from this time on comes so much earlier, in place of what was until then. All times are exact.
  void bring_forward(Time from, Time by) {
    cut(from);
    Position p = cut(from - by);
    while (steps_.time(p) < from) p = steps_.erase(p);
    steps_.shift(p, -by);
    join(p);
  }

 private:
  void set(Position p, Amount free) {
    Step &step = steps_.entries(p.block)[p.index];
    step.free = free;
    steps_.summary(p.block).add(step);
  }

  Position cut(Time time) {
    const Position p = at(time);
    return steps_.time(p) >= time ? p : steps_.insert(time, {time, steps_[p].free});
  }

  void join(Position p) {
    if (!steps_.at_end(p) && !steps_.at_begin(p) && steps_[steps_.previous(p)].free == steps_[p].free) steps_.erase(p);
  }

  // From there on; none that begins at `latest` or later is looked for.
  Position next_with(Position p, Amount cores, Time latest) const {
    for (; p.block < steps_.block_count() && steps_.block_begin(p.block) < latest; p = steps_.skip_block(p)) {
      const Step *const steps = steps_.entries(p.block);
      const int size = steps_.block_size(p.block), first = p.index;
      Bounds &bounds = steps_.summary(p.block);
      if (bounds.most < cores) continue;
      Amount most = std::numeric_limits<Amount>::min();
      for (; p.index < size; ++p.index) {
        if (steps[p.index].free >= cores) return p;
        most = std::max(most, steps[p.index].free);
      }
      if (first == 0) bounds.most = most;
    }
    return {steps_.block_count(), 0};
  }

  // From there on, among those that begin before `until`.
  Position next_below(Position p, Amount cores, Time until) const {
    for (; p.block < steps_.block_count(); p = steps_.skip_block(p)) {
      if (!(steps_.block_begin(p.block) < until)) break;
      const Step *const steps = steps_.entries(p.block);
      const int size = steps_.block_size(p.block), first = p.index;
      Bounds &bounds = steps_.summary(p.block);
      if (bounds.least >= cores) continue;
      const Time offset = steps_.offset(p.block);
      Amount least = std::numeric_limits<Amount>::max();
      for (; p.index < size; ++p.index) {
        if (!(steps[p.index].time + offset < until)) return {steps_.block_count(), 0};
        if (steps[p.index].free < cores) return p;
        least = std::min(least, steps[p.index].free);
      }
      if (first == 0) bounds.least = least;
    }
    return {steps_.block_count(), 0};
  }

  mutable Steps steps_;  // its bounds become narrower when they are looked at
  bool exact_ = true;
};

}  // namespace schedlab
