// Binds what an agent that learns to schedule sees: numbers between 0 and 1, filled in one go.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <tuple>

#include "engine.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace schedlab {

namespace {

using Rows = nb::ndarray<float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Row = nb::ndarray<float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
constexpr std::size_t kJobFeatures = 7, kMachineFeatures = 4;

float within(double share) { return static_cast<float>(std::min(share, 1.0)); }

// How many jobs wait, and whether one of them could start: any one, or (`all` not set) one of those that have a row.
std::tuple<std::size_t, bool> observe(const std::shared_ptr<View> &view, Rows jobs, Row machine,
                                      const std::vector<double> &horizons, double longest, bool counting, bool all) {
  if (view->over()) throw DecisionError("the simulation is over");
  if (jobs.shape(1) != kJobFeatures || machine.shape(0) != kMachineFeatures + horizons.size())
    throw nb::value_error("the arrays have other shapes than an observation");
  const std::size_t rows = jobs.shape(0);
  const double cores = static_cast<double>(view->machine().cores()), log_cores = std::log1p(cores);
  const double scale = std::log1p(longest);
  const Amount free = view->cluster().free_cores();
  const Time now = view->now();
  std::fill_n(jobs.data(), rows * kJobFeatures, 0.0f);
  std::size_t waiting = 0;
  double demand = 0;
  bool choice = false;
  Shares shares;
  for (Slot slot = view->first_waiting(); slot != kNoSlot; slot = view->job(slot).next, ++waiting) {
    const Job &job = view->job(slot);
    demand += static_cast<double>(job.cores);
    if (waiting >= rows && (!all || choice)) continue;
    const bool fits = job.cores <= free && (counting || view->place(slot, shares));
    choice = choice || fits;
    if (waiting >= rows) continue;
    const double wait = now - job.eligible, size = static_cast<double>(job.cores);
    float *row = jobs.data() + waiting * kJobFeatures;
    row[0] = static_cast<float>(size / cores);
    row[1] = within(std::log1p(size) / log_cores);
    row[2] = within(std::log1p(job.estimate) / scale);
    row[3] = within(std::log1p(wait) / scale);
    row[4] = static_cast<float>(wait / (wait + job.estimate));
    row[5] = fits;
    row[6] = 1;
  }
  const double queued = static_cast<double>(waiting), seen = static_cast<double>(std::min(waiting, rows));
  machine.data()[0] = static_cast<float>(static_cast<double>(free) / cores);
  machine.data()[1] = waiting ? static_cast<float>(queued / (queued + static_cast<double>(rows))) : 0;
  machine.data()[2] = waiting ? static_cast<float>(1 - seen / queued) : 0;
  machine.data()[3] = waiting ? static_cast<float>(demand / (demand + cores)) : 0;
  const EstimatedEnds &ends = view->estimated_ends();
  double freed = static_cast<double>(free);
  EstimatedEnds::Position p;
  for (std::size_t i = 0; i < horizons.size(); ++i) {
    for (; !ends.at_end(p) && ends[p].end <= now + horizons[i]; p = ends.next(p))
      freed += static_cast<double>(view->job(ends[p].slot).cores);
    machine.data()[kMachineFeatures + i] = within(freed / cores);
  }
  return {waiting, choice};
}

}  // namespace

}  // namespace schedlab

void bind_learn(nb::module_ &module) {
  module.def("observe", &schedlab::observe, "view"_a, "jobs"_a, "machine"_a, "horizons"_a, "longest"_a, "counting"_a,
             "all"_a,
             "Fills what an agent sees of waiting jobs and the machine (schedlab.learn.observation). How many jobs "
             "wait, and whether one of them could start: any, or one of those with a row.");
}
