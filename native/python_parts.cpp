#include "python_parts.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdio>
#include <string>

#include "job_view.hpp"

namespace nb = nanobind;

namespace schedlab {

namespace {

std::vector<std::pair<int, int>> pairs(const Shares &shares) {
  std::vector<std::pair<int, int>> nodes;
  for (const Share &share : shares) nodes.emplace_back(share.node, share.chunks);
  return nodes;
}

// Beyond it, times of day are no longer exact: an end in infinity would be as good as none.
constexpr double kLongestEstimate = 1e12;

// The number that somebody answered with; not a number if it is something else.
double number_in(const nb::object &answer) {
  const double number = PyFloat_AsDouble(answer.ptr());  // of anything that is a number; a text is none
  if (PyErr_Occurred() == nullptr) return number;
  PyErr_Clear();
  return std::numeric_limits<double>::quiet_NaN();
}

[[noreturn]] void refuse_answer(const View &view, const Job &job, const std::string &who, const nb::object &answer,
                                const char *expected) {
  const nb::object shown = nb::steal(PyObject_ASCII(answer.ptr()));
  const std::string value = shown.is_valid() ? nb::cast<std::string>(shown) : "what cannot be shown";
  PyErr_Clear();
  char when[32];
  std::snprintf(when, sizeof when, "%.15g", view.now());
  throw DecisionError(who + " says " + value.substr(0, 60) + " for job " + std::to_string(job.id) + " at " + when +
                      " s; expected " + expected);
}

}  // namespace

void HostedDecider::before(View &view, std::span<const Event> events) {
  if (view.anybody_woken() && !woken_.is_none()) {
    nb::gil_scoped_acquire held;
    woken_(nb::cast(view_), view.take_woken());
    events = view.events();
  }
  if (before_.is_none()) return;
  nb::gil_scoped_acquire held;
  std::size_t told = events.size();
  before_(nb::cast(view_), event_list(view_, events));
  while (!entered_.is_none() && view_->events().size() > told) {
    const auto added = view_->events().subspan(told);
    told += added.size();
    entered_(nb::cast(view_), event_list(view_, added));
  }
}

void HostedDecider::decide(View &view, std::span<const Event> events) {
  if (decide_.is_none()) {
    native_->decide(view, events);
    return;
  }
  nb::gil_scoped_acquire held;
  decide_(nb::cast(view_), event_list(view_, events));
}

void HostedDecider::after(View &) {
  if (after_.is_none()) return;
  nb::gil_scoped_acquire held;
  after_(nb::cast(view_));
}

void HostedDecider::recall(View &view, std::span<const double> memory) {
  if (decide_.is_none()) {
    native_->recall(view, memory);
  } else if (!recall_.is_none()) {
    nb::gil_scoped_acquire held;
    recall_(nb::cast(view_));
  }
}

bool PythonGate::allows(View &, Slot slot, const Shares &shares) {
  nb::gil_scoped_acquire held;
  return nb::cast<bool>(nb::bool_(allows_(nb::cast(view_), JobView(view_, slot), pairs(shares))));
}

double PythonExecution::work(View &, Slot slot, const Shares &shares, double work) {
  nb::gil_scoped_acquire held;
  view_->last_job = view_->job(slot).id;
  const nb::object answer = work_(nb::cast(view_), JobView(view_, slot), pairs(shares));
  if (answer.is_none()) return work;
  const double seconds = number_in(answer);
  if (seconds >= 0 && seconds <= kLongestEstimate) return seconds;
  refuse_answer(*view_, view_->job(slot), "execution model " + name(), answer,
                "seconds of work, from 0 to 1e12, or None");
}

double PythonExecution::factor(View &, Slot slot) {
  nb::gil_scoped_acquire held;
  view_->last_job = view_->job(slot).id;
  std::vector<JobView> others;
  for (const Slot other : view_->neighbours(slot)) others.emplace_back(view_, other);
  const nb::object answer = rate_(nb::cast(view_), JobView(view_, slot), others);
  const double factor = number_in(answer);
  if (factor >= 0 && factor <= kFastest) return factor;
  refuse_answer(*view_, view_->job(slot), "execution model " + name(), answer, "a factor of its rate, from 0 to 1e9");
}

Time PythonEstimator::estimate(const Job &job, Slot slot) {
  nb::gil_scoped_acquire held;
  view_->last_job = job.id;
  const nb::object answer = estimate_(JobView(view_, slot));
  const double seconds = number_in(answer);
  if (seconds >= 0 && (seconds <= kLongestEstimate || seconds == job.limit)) return seconds;
  refuse_answer(*view_, job, "estimator " + name_, answer, "seconds, from 0 to 1e12");
}

void PythonEstimator::ended(const Job &job, Slot slot, Time runtime) {
  if (ended_.is_none()) return;
  nb::gil_scoped_acquire held;
  view_->last_job = job.id;
  ended_(JobView(view_, slot), runtime);
}

void PythonKeys::keys(const View &view, std::span<const Slot> slots, double *keys) {
  nb::gil_scoped_acquire held;
  const nb::object jobs = nb::cast(JobsView(view_, {slots.begin(), slots.end()}));
  nb::object answer = dynamic_ ? order_(jobs, view.now()) : order_(jobs);
  using Keys = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
  Keys array;
  if (!nb::try_cast(answer, array, false)) {
    answer = nb::module_::import_("numpy").attr("ascontiguousarray")(answer, "float64");
    array = nb::cast<Keys>(answer);
  }
  if (array.ndim() != 1 || array.shape(0) != slots.size())
    throw DecisionError("an order has to return one key for each job");
  std::copy_n(array.data(), slots.size(), keys);
}

bool read_nodes(nb::handle answer, Shares &shares) {
  if (answer.is_none()) return false;
  for (nb::handle one : answer) {
    if (nb::isinstance<nb::tuple>(one) || nb::isinstance<nb::list>(one)) {
      const auto [node, chunks] = nb::cast<std::pair<int, int>>(one);
      if (chunks < 1) throw DecisionError("a placement gave a node no chunks");
      shares.push_back({node, chunks});
    } else {
      shares.push_back({nb::cast<std::int32_t>(nb::int_(one)), 0});
    }
    if ((shares.back().chunks == 0) != (shares[0].chunks == 0))
      throw DecisionError("a placement has to give nodes, or (node, chunks) pairs, not both");
  }
  return !shares.empty();
}

}  // namespace schedlab
