#include "plan.hpp"

namespace schedlab {

namespace {

// Free cores as a step function: free_[i] from times_[i] until times_[i + 1], the last one for ever.
class CountPlan final : public Plan {
 public:
  explicit CountPlan(const View &view) : view_(view) { reset(); }

  void reset() override {
    times_.assign(1, view_.now());
    free_.assign(1, view_.cluster().usable_cores());
    const EstimatedEnds &ends = view_.estimated_ends();
    for (EstimatedEnds::Position p; !ends.at_end(p); p = ends.next(p)) {
      if (ends[p].end > times_.back()) times_.push_back(ends[p].end), free_.push_back(free_.back());
      free_.back() += ends[p].cores;
    }
    looked_at(ends.size());
    widest_until_ = -kNever;
  }

  void advance(Time now) override {
    const std::size_t current = find(now);
    times_.erase(times_.begin(), times_.begin() + static_cast<std::ptrdiff_t>(current));
    free_.erase(free_.begin(), free_.begin() + static_cast<std::ptrdiff_t>(current));
    times_[0] = now;
  }

  Time earliest(const Job &job, const Chance &, Shares &) const override {
    const Amount cores = needed(job);
    for (std::size_t i = 0;;) {
      while (free_[i] < cores)
        if (++i == free_.size()) return looked_at(i), kNever;
      const std::size_t blocked = first_below(cores, i, times_[i] + job.estimate);
      if (blocked == free_.size()) return looked_at(i), times_[i];
      i = blocked;
    }
  }

  Time now() const override { return times_[0]; }

  bool possible(const Job &job, Time from, Time duration, Shares &) const override {
    return possible(from, duration, needed(job));
  }
  bool possible_on(const Job &job, const Shares &shares) const override {
    return possible(now(), job.estimate, job.granted ? granted(job, shares) : needed(job));
  }

  void occupy(const Job &job, const Shares &, Time from, Time until) override { add(from, until, -amount(job)); }
  void vacate(const Job &job, const Shares &, Time from, Time until) override { add(from, until, amount(job)); }

  bool may_move(Amount cores, Time freed_until) override {
    if (widest_until_ != freed_until) {
      widest_ = 0;
      for (std::size_t i = 0; i < times_.size() && times_[i] < freed_until; ++i) widest_ = std::max(widest_, free_[i]);
      widest_until_ = freed_until;
    }
    return cores <= widest_;
  }

  // A new start needs a moment before `freed_until` with enough cores, and then enough until the job's own reservation
  // begins (from there on its own cores serve it).
  std::optional<Chance> chance(const Job &job, Time freed_until) override {
    const Amount cores = needed(job);
    if (!may_move(cores, freed_until)) return std::nullopt;
    const Time latest = std::min(freed_until, job.reserved_start);
    for (std::size_t i = 0; i < times_.size() && times_[i] < latest;) {
      if (free_[i] < cores) {
        ++i;
        continue;
      }
      const std::size_t blocked = first_below(cores, i, std::min(times_[i] + job.estimate, job.reserved_start));
      if (blocked == free_.size()) return looked_at(i), Chance{times_[i], latest, job.reserved_start};
      i = blocked;
    }
    looked_at(times_.size());
    return std::nullopt;
  }

 private:
  void looked_at(std::size_t steps) const { view_.worked(static_cast<std::int64_t>(steps)); }

  bool possible(Time from, Time duration, Amount cores) const {
    const std::size_t i = find(from);
    return free_[i] >= cores && first_below(cores, i, from + duration) == free_.size();
  }

  // Exclusive jobs take whole nodes; by count only where all nodes are alike.
  Amount needed(const Job &job) const {
    if (!job.request->exclusive) return job.cores;
    const Amount node = view_.machine().total(0, 0);
    return (job.cores + node - 1) / node * node;
  }
  Amount granted(const Job &job, const Shares &shares) const {
    return job.request->exclusive ? static_cast<Amount>(shares.size()) * view_.machine().total(0, 0)
                                  : job.granted->total(0);
  }
  Amount amount(const Job &job) const { return std::isnan(job.start) ? needed(job) : job.allocated_cores; }

  std::size_t find(Time time) const {
    const auto after = std::upper_bound(times_.begin(), times_.end(), time);
    return after == times_.begin() ? 0 : static_cast<std::size_t>(after - times_.begin()) - 1;
  }

  // The first step after i that begins before `until` and has fewer cores free; size() if there is none.
  std::size_t first_below(Amount cores, std::size_t i, Time until) const {
    for (++i; i < times_.size() && times_[i] < until; ++i)
      if (free_[i] < cores) return i;
    return free_.size();
  }

  std::size_t cut(Time time) {
    const std::size_t i = find(time);
    if (times_[i] >= time) return i;
    times_.insert(times_.begin() + static_cast<std::ptrdiff_t>(i) + 1, time);
    free_.insert(free_.begin() + static_cast<std::ptrdiff_t>(i) + 1, free_[i]);
    return i + 1;
  }

  void join(std::size_t i) {
    if (i == 0 || i >= free_.size() || free_[i] != free_[i - 1]) return;
    times_.erase(times_.begin() + static_cast<std::ptrdiff_t>(i));
    free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(i));
  }

  void add(Time from, Time until, Amount cores) {
    if (!(until > from)) return;
    const std::size_t first = cut(from), last = until < kNever ? cut(until) : free_.size();
    for (std::size_t i = first; i < last; ++i) free_[i] += cores;
    looked_at(last - first);
    join(last), join(first);
    widest_until_ = -kNever;
  }

  const View &view_;
  std::vector<Time> times_;
  std::vector<Amount> free_;
  Amount widest_ = 0;  // most cores free at any time before widest_until_
  Time widest_until_ = -kNever;
};

}  // namespace

std::unique_ptr<Plan> Plan::by_count(const View &view) { return std::make_unique<CountPlan>(view); }

bool Plan::countable(const View &view, const Job &job) {
  return job.request->countable && (!job.request->exclusive || view.machine().uniform()) && !view.has_calendar();
}

}  // namespace schedlab
