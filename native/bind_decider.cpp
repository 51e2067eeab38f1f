// Binds the decider protocol: what a policy written in Python sees and may do. It is the same View that native policies
// get.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "python_decider.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace schedlab {

namespace {

// A job as a policy may know it: its runtime is not here.
class JobView {
 public:
  JobView(const View &view, Slot slot) : view_(&view), slot_(slot), sequence_(view.job(slot).sequence) {}

  Slot slot() const { return facts(), slot_; }
  const Job &facts() const {
    const Job &job = view_->job(slot_);
    if (job.sequence != sequence_) throw DecisionError("the job left the system some time ago");
    return job;
  }

 private:
  const View *view_;
  Slot slot_;
  std::int64_t sequence_;  // the slot may serve another job by now
};

const char *state_name(const JobView &job) {
  switch (job.facts().state) {
    case State::Waiting:
      return "waiting";
    case State::Running:
      return "running";
    case State::Held:
      return "held";
    default:
      return "gone";
  }
}

const char *event_name(Event::Kind kind) {
  switch (kind) {
    case Event::Kind::Completed:
      return "completed";
    case Event::Kind::Submitted:
      return "submitted";
    case Event::Kind::Cancelled:
      return "cancelled";
    case Event::Kind::Corrected:
      return "corrected";
    case Event::Kind::Woken:
      return "woken";
  }
  return "";
}

std::vector<JobView> waiting(const View &view) {
  std::vector<JobView> jobs;
  for (Slot slot = view.first_waiting(); slot != kNoSlot; slot = view.job(slot).next) jobs.emplace_back(view, slot);
  return jobs;
}

std::vector<JobView> running(const View &view) {
  std::vector<JobView> jobs;
  const EstimatedEnds &ends = view.estimated_ends();
  for (EstimatedEnds::Position p; !ends.at_end(p); p = ends.next(p)) jobs.emplace_back(view, ends[p].slot);
  return jobs;
}

bool start(View &view, const JobView &job, const std::optional<std::vector<std::pair<int, int>>> &nodes) {
  if (!nodes) return view.start(job.slot());
  Shares shares;
  for (const auto &[node, chunks] : *nodes) shares.push_back({node, chunks});
  view.start_on(job.slot(), shares);
  return true;
}

}  // namespace

void PythonDecider::decide(View &view, std::span<const Event> events) {
  nb::gil_scoped_acquire held;
  nb::list told;
  for (const Event &event : events)
    told.append(nb::make_tuple(event_name(event.kind),
                               event.slot == kNoSlot ? nb::none() : nb::cast(JobView(view, event.slot))));
  decide_(nb::cast(&view, nb::rv_policy::reference), told);
}

}  // namespace schedlab

void bind_decider(nb::module_ &module) {
  using namespace schedlab;

  nb::class_<JobView>(module, "Job", "A job as a policy may know it.")
      .def_prop_ro("id", [](const JobView &j) { return j.facts().id; })
      .def_prop_ro("sequence", [](const JobView &j) { return j.facts().sequence; })
      .def_prop_ro("state", &state_name)
      .def_prop_ro("submit", [](const JobView &j) { return j.facts().submit; })
      .def_prop_ro("eligible", [](const JobView &j) { return j.facts().eligible; })
      .def_prop_ro("limit", [](const JobView &j) { return j.facts().limit; })
      .def_prop_ro("estimate", [](const JobView &j) { return j.facts().estimate; })
      .def_prop_ro("count", [](const JobView &j) { return j.facts().count; })
      .def_prop_ro("cores", [](const JobView &j) { return j.facts().cores; })
      .def_prop_ro("user", [](const JobView &j) { return j.facts().user; })
      .def_prop_ro("group", [](const JobView &j) { return j.facts().group; })
      .def_prop_ro("queue", [](const JobView &j) { return j.facts().queue; })
      .def_prop_ro(
          "start", [](const JobView &j) { return j.facts().start; }, "NaN if it has not started")
      .def_prop_ro("estimated_end", [](const JobView &j) { return j.facts().start + j.facts().estimate; })
      .def_prop_ro(
          "nodes",
          [](const JobView &j) {
            std::vector<std::pair<int, int>> nodes;
            for (const Share &share : j.facts().shares) nodes.emplace_back(share.node, share.chunks);
            return nodes;
          },
          "(node, chunks) of a running job")
      .def("__repr__",
           [](const JobView &j) { return "<Job " + std::to_string(j.facts().id) + " " + state_name(j) + ">"; });

  nb::class_<View>(module, "View", "What a policy sees, and how it decides. Decisions take effect at once.")
      .def_prop_ro("now", &View::now)
      .def_prop_ro("waiting", &waiting, "waiting jobs in the order in which they became eligible")
      .def_prop_ro("running", &running, "running jobs, soonest estimated end first")
      .def_prop_ro("free_cores", [](const View &view) { return view.cluster().free_cores(); })
      .def_prop_ro(
          "free",
          [](const View &view) {
            std::vector<Amount> cores;
            for (int node = 0; node < view.machine().nodes(); ++node)
              cores.push_back(view.cluster().state().free[static_cast<std::size_t>(node * view.machine().resources())]);
            return cores;
          },
          "free cores of each node")
      .def(
          "fits",
          [](const View &view, const JobView &job) {
            Shares shares;
            return view.place(job.slot(), shares);
          },
          "job"_a, "Would it start now?")
      .def("start", &start, "job"_a, "nodes"_a.none() = nb::none(),
           "Start a waiting job where the placement puts it, or on `nodes` [(node, chunks), …]. False if it does not "
           "fit.")
      .def(
          "reject", [](View &view, const JobView &job) { view.reject(job.slot()); }, "job"_a)
      .def(
          "kill", [](View &view, const JobView &job) { view.kill(job.slot()); }, "job"_a)
      .def(
          "requeue", [](View &view, const JobView &job) { view.requeue(job.slot()); }, "job"_a,
          "Back to the queue; what it has done is lost.")
      .def(
          "set_rate", [](View &view, const JobView &job, double rate) { view.set_rate(job.slot(), rate); }, "job"_a,
          "rate"_a, "How fast a running job works from now on; 1 is as in the workload, 0 stands still.")
      .def("wake_at", &View::wake_at, "time"_a);
}
