#include <algorithm>

#include "plan.hpp"

namespace schedlab {

namespace {

// The state of every node as a step function of time.
class NodePlan final : public Plan {
 public:
  explicit NodePlan(const View &view) : view_(view) { reset(); }

  void reset() override {
    steps_.assign(1, {view_.now(), view_.cluster().unoccupied()});
    open_what_the_calendar_closes(steps_[0].state);
    const EstimatedEnds &ends = view_.estimated_ends();
    for (EstimatedEnds::Position p; !ends.at_end(p); p = ends.next(p)) {
      const Job &job = view_.job(ends[p].slot);
      occupy(job, job.shares, view_.now(), ends[p].end);
    }
  }

  void advance(Time now) override {
    const std::size_t current = find(now);
    steps_.erase(steps_.begin(), steps_.begin() + static_cast<std::ptrdiff_t>(current));
    steps_[0].time = now;
  }

  Time now() const override { return steps_[0].time; }

  Time earliest(const Job &job, Shares &shares) const override {
    if (view_.has_calendar()) return earliest_by_calendar(job, shares);
    for (const Step &step : steps_)
      if (possible(job, step.time, job.estimate, shares)) return step.time;
    return kNever;
  }

  // Places the job on what is free from then on for so long.
  bool possible(const Job &job, Time from, Time duration, Shares &shares) const override {
    const NodeState lowest = lowest_between(job, from, from + duration);
    return view_.placement().place(view_.machine(), lowest, *job.request, job.count, job.sequence, shares) &&
           affords(job, shares, from, from + duration);
  }

  bool possible_on(const Job &job, const Shares &shares) const override {
    const NodeState lowest = lowest_between(job, now(), now() + job.estimate);
    return affords(job, shares, now(), now() + job.estimate) &&
           view_.machine().has_room(lowest, *job.request, shares, job.granted.get());
  }

  void occupy(const Job &job, const Shares &shares, Time from, Time until) override {
    add(job, shares, from, until, -1);
  }
  void vacate(const Job &job, const Shares &shares, Time from, Time until) override {
    add(job, shares, from, until, +1);
  }

  bool may_move(Amount, Time) override { return true; }
  bool may_move(const Job &, Time) override { return true; }

 private:
  struct Step {
    Time time;
    NodeState state;
  };

  // So many steps, with all their nodes.
  void looked_at(int steps) const { view_.worked(static_cast<std::int64_t>(steps) * view_.machine().nodes()); }

  // The calendar says until when nobody may be there: a node that is closed for that time is planned with.
  void open_what_the_calendar_closes(NodeState &state) const {
    if (!view_.has_calendar() || view_.cluster().closed_nodes() == 0) return;
    const auto stride = static_cast<std::size_t>(view_.machine().resources());
    for (int node = 0; node < view_.machine().nodes(); ++node) {
      if (!view_.opens_after_window(node)) continue;
      const std::size_t first = static_cast<std::size_t>(node) * stride;
      for (std::size_t k = 0; k < stride; ++k) state.free[first + k] = view_.machine().empty().free[first + k];
      state.jobs[static_cast<std::size_t>(node)] = 0;
    }
  }

  // Nodes may also become available when something on the calendar is over.
  Time earliest_by_calendar(const Job &job, Shares &shares) const {
    std::vector<Time> times;
    for (const Step &step : steps_) times.push_back(step.time);
    for (const Window &window : view_.calendar())
      if (window.until > now() && window.until < kNever) times.push_back(window.until);
    std::sort(times.begin(), times.end());
    for (const Time time : times)
      if (possible(job, time, job.estimate, shares)) return time;
    return kNever;
  }

  // The least that is there for the job on each node between these times.
  NodeState lowest_between(const Job &job, Time from, Time until) const {
    std::size_t i = find(from);
    NodeState lowest = steps_[i].state;
    looked_at(1);
    for (++i; i < steps_.size() && steps_[i].time < until; ++i) {
      const NodeState &state = steps_[i].state;
      for (std::size_t k = 0; k < lowest.free.size(); ++k) lowest.free[k] = std::min(lowest.free[k], state.free[k]);
      for (std::size_t k = 0; k < lowest.jobs.size(); ++k) lowest.jobs[k] = std::max(lowest.jobs[k], state.jobs[k]);
      looked_at(1);
    }
    view_.restrict(lowest, job, from, until);
    return lowest;
  }

  // Does the machine's budget allow it there at every moment?
  bool affords(const Job &job, const Shares &shares, Time from, Time until) const {
    if (!view_.machine().capped()) return true;
    std::size_t i = find(from);
    bool good = view_.machine().affords(steps_[i].state, *job.request, shares, job.granted.get());
    for (++i; good && i < steps_.size() && steps_[i].time < until; ++i)
      good = view_.machine().affords(steps_[i].state, *job.request, shares, job.granted.get());
    return good;
  }

  std::size_t find(Time time) const {
    const auto after =
        std::upper_bound(steps_.begin(), steps_.end(), time, [](Time t, const Step &step) { return t < step.time; });
    return after == steps_.begin() ? 0 : static_cast<std::size_t>(after - steps_.begin()) - 1;
  }

  std::size_t cut(Time time) {
    const std::size_t i = find(time);
    if (steps_[i].time >= time) return i;
    steps_.insert(steps_.begin() + static_cast<std::ptrdiff_t>(i) + 1, {time, steps_[i].state});
    view_.worked(static_cast<std::int64_t>(steps_.size() - i));
    return i + 1;
  }

  void join(std::size_t i) {
    if (i == 0 || i >= steps_.size()) return;
    const NodeState &a = steps_[i - 1].state, &b = steps_[i].state;
    if (a.free == b.free && a.jobs == b.jobs && (!view_.machine().capped() || a.spending == b.spending))
      steps_.erase(steps_.begin() + static_cast<std::ptrdiff_t>(i));
  }

  void add(const Job &job, const Shares &shares, Time from, Time until, int sign) {
    if (!(until > from)) return;
    const std::size_t first = cut(from), last = until < kNever ? cut(until) : steps_.size();
    for (std::size_t i = first; i < last; ++i)
      view_.machine().apply(steps_[i].state, *job.request, shares, sign, job.granted.get());
    view_.worked(static_cast<std::int64_t>((last - first) * (1 + shares.size())));
    join(last), join(first);
  }

  const View &view_;
  std::vector<Step> steps_;
};

}  // namespace

std::unique_ptr<Plan> Plan::by_nodes(const View &view) { return std::make_unique<NodePlan>(view); }

}  // namespace schedlab
