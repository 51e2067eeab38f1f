#include "compression.hpp"
#include "plan.hpp"

namespace schedlab {

namespace {

// Free cores, as a step function of time.
class CountPlan final : public Plan {
 public:
  explicit CountPlan(const View &view) : view_(view) { reset(); }

  void reset() override {
    Profile &free = counted_.free;
    free.assign(view_.now(), view_.cluster().usable_cores());
    const EstimatedEnds &ends = view_.estimated_ends();
    for (EstimatedEnds::Position p; !ends.at_end(p) && ends[p].end < kNever; p = ends.next(p))
      free.append(ends[p].end, ends[p].cores);
    counted_.freed.clear();
    view_.worked(static_cast<std::int64_t>(ends.size()));
  }

  void advance(Time now) override { counted_.free.forget_before(now); }

  Time earliest(const Job &job, const Chance &, Shares &) const override {
    view_.worked(static_cast<std::int64_t>(counted_.free.size() / 4));
    return counted_.free.earliest(needed(job), job.estimate);
  }

  Time now() const override { return counted_.free.now(); }

  bool possible(const Job &job, Time from, Time duration, Shares &) const override {
    return counted_.free.possible(from, duration, needed(job));
  }
  bool possible_on(const Job &job, const Shares &shares) const override {
    return counted_.free.possible(now(), job.estimate, job.granted ? granted(job, shares) : needed(job));
  }

  void occupy(const Job &job, const Shares &, Time from, Time until) override { add(from, until, -amount(job)); }
  void vacate(const Job &job, const Shares &, Time from, Time until) override { add(from, until, amount(job)); }
  void freed(const Shares &, Time from, Time until) override { counted_.freed.push_back({from, until}); }

  Counted *counted() override { return &counted_; }

  // Exclusive jobs take whole nodes; by count only where all nodes are alike.
  Amount needed(const Job &job) const override {
    if (!job.request->exclusive) return job.cores;
    const Amount node = view_.machine().total(0, 0);
    return (job.cores + node - 1) / node * node;
  }

 private:
  Amount granted(const Job &job, const Shares &shares) const {
    return job.request->exclusive ? static_cast<Amount>(shares.size()) * view_.machine().total(0, 0)
                                  : job.granted->total(0);
  }
  Amount amount(const Job &job) const { return std::isnan(job.start) ? needed(job) : job.allocated_cores; }

  void add(Time from, Time until, Amount cores) {
    counted_.free.add(from, until, cores);
    view_.worked(16);
  }

  const View &view_;
  Counted counted_;
};

}  // namespace

std::unique_ptr<Plan> Plan::by_count(const View &view) { return std::make_unique<CountPlan>(view); }

bool Plan::countable(const View &view, const Job &job) {
  return job.request->countable && (!job.request->exclusive || view.machine().uniform()) && !view.has_calendar();
}

}  // namespace schedlab
