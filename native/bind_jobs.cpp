// Binds jobs as policies, orders, placements and estimators see them.
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>

#include "arrays.hpp"
#include "bind_view.hpp"
#include "python_parts.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace schedlab {

namespace {

const char *state_name(const JobView &job) {
  switch (job.facts().state) {
    case State::Waiting:
      return "waiting";
    case State::Running:
      return "running";
    case State::Suspended:
      return "suspended";
    case State::Held:
      return "held";
    case State::Coming:
      return "coming";
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
    case Event::Kind::Requeued:
      return "requeued";
    case Event::Kind::Point:
      return "point";
    case Event::Kind::Closed:
      return "closed";
    case Event::Kind::Opened:
      return "opened";
    case Event::Kind::Woken:
      return "woken";
    case Event::Kind::Held:
      return "held";
  }
  return "";
}

// The columns that both one job and several have.
template <class Read>
nb::object gather(const View &view, const std::vector<Slot> &slots, Read read) {
  std::vector<decltype(read(view.job(0)))> values;
  values.reserve(slots.size());
  for (const Slot slot : slots) values.push_back(read(view.job(slot)));
  return to_array(std::move(values));
}

nb::object gather(const View &view, const std::vector<Slot> &slots, const char *name) {
  const auto is = [name](const char *other) { return std::strcmp(name, other) == 0; };
  if (is("id")) return gather(view, slots, [](const Job &j) { return j.id; });
  if (is("sequence")) return gather(view, slots, [](const Job &j) { return j.sequence; });
  if (is("submit")) return gather(view, slots, [](const Job &j) { return j.submit; });
  if (is("eligible")) return gather(view, slots, [](const Job &j) { return j.eligible; });
  if (is("wait")) return gather(view, slots, [now = view.now()](const Job &j) { return now - j.eligible; });
  if (is("limit")) return gather(view, slots, [](const Job &j) { return j.limit; });
  if (is("estimate")) return gather(view, slots, [](const Job &j) { return j.estimate; });
  if (is("count")) return gather(view, slots, [](const Job &j) { return j.count; });
  if (is("cores")) return gather(view, slots, [](const Job &j) { return j.cores; });
  if (is("request")) return gather(view, slots, [](const Job &j) { return j.request_number; });
  if (is("user")) return gather(view, slots, [](const Job &j) { return j.user; });
  if (is("group")) return gather(view, slots, [](const Job &j) { return j.group; });
  if (is("queue")) return gather(view, slots, [](const Job &j) { return j.queue; });
  if (is("partition")) return gather(view, slots, [](const Job &j) { return j.partition; });
  if (is("start")) return gather(view, slots, [](const Job &j) { return j.start; });
  if (is("estimated_end")) return gather(view, slots, [](const Job &j) { return j.estimated_end; });
  throw nb::attribute_error(name);
}

std::vector<std::pair<int, int>> nodes_of(const JobView &job) {
  std::vector<std::pair<int, int>> nodes;
  if (job.facts().state == State::Running || job.facts().state == State::Gone)
    for (const Share &share : job.facts().shares) nodes.emplace_back(share.node, share.chunks);
  return nodes;
}

double wait_of(const JobView &job) {
  const Time eligible = job.facts().eligible;  // says so if the run is over
  return live(job.view()).now() - eligible;
}

// It is the truth, and a policy has to do without.
void not_for_policies(const JobView &job) {
  if (live(job.view()).owner == kPolicy)
    throw nb::attribute_error("a policy cannot know what is left of a job: it knows its estimate and what it has done");
}
double remaining_of(const JobView &job) {
  not_for_policies(job);
  return job.facts().remaining(live(job.view()).now());
}
double total_work_of(const JobView &job) {
  not_for_policies(job);
  return job.coming() ? job.facts().whole() : live(job.view()).total_work(job.slot());
}

std::optional<std::string> application_of(const JobView &job) {
  const std::int32_t number = job.facts().application;
  const Pairs *pairs = live(job.view()).pairs();
  if (number < 0 || !pairs) return std::nullopt;
  return pairs->names[static_cast<std::size_t>(number)];
}

// (cores, limit, estimate) of each of its shapes; the first is the one that it was submitted with.
nb::list shapes_of(const JobView &job) {
  nb::list shapes;
  const Job &facts = job.facts();
  if (!facts.flexible) {
    shapes.append(nb::make_tuple(facts.cores, facts.limit, facts.estimate));
    return shapes;
  }
  const double factor = facts.limit > 0 ? facts.estimate / facts.limit : 1;
  for (const Shape &shape : facts.flexible->shapes)
    shapes.append(nb::make_tuple(shape.count * shape.request->cores, shape.limit, factor * shape.limit));
  return shapes;
}

nb::object attachments_of(const JobView &job) {
  const Job &facts = job.facts();
  if (!facts.extra || facts.extra->attachments.empty()) return nb::dict();
  return nb::module_::import_("json").attr("loads")(facts.extra->attachments);
}

// Goes through jobs without an exception at the end, which would cost more than the jobs.
struct JobsIterator {
  nb::object owner;  // keeps the jobs alive
  const JobsView *jobs;
  std::ptrdiff_t next = 0;
};

PyObject *next_job(PyObject *self) noexcept {
  auto *iterator = nb::inst_ptr<JobsIterator>(self);
  if (iterator->next == static_cast<std::ptrdiff_t>(iterator->jobs->size())) return nullptr;
  try {
    return nb::cast(iterator->jobs->at(iterator->next++)).release().ptr();
  } catch (const DecisionError &error) {
    const nb::object type = nb::module_::import_("schedlab._core").attr("DecisionError");
    PyErr_SetString(type.ptr(), error.what());
    return nullptr;
  } catch (const std::exception &error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
    return nullptr;
  }
}

PyObject *itself(PyObject *self) noexcept { return Py_NewRef(self); }

PyType_Slot kIteratorSlots[] = {
    {Py_tp_iter, reinterpret_cast<void *>(itself)}, {Py_tp_iternext, reinterpret_cast<void *>(next_job)}, {0, nullptr}};

}  // namespace

JobView JobsView::at(std::ptrdiff_t i) const {
  const auto size = static_cast<std::ptrdiff_t>(slots_.size());
  if (i < 0) i += size;
  if (i < 0 || i >= size) throw nb::index_error();
  alive(static_cast<std::size_t>(i));
  return {view_, slots_[static_cast<std::size_t>(i)]};
}

void JobsView::alive(std::size_t i) const {
  if (view_->over()) throw DecisionError("the simulation is over: its jobs cannot be looked at any more");
  if (view_->job(slots_[i]).sequence != sequences_[i]) throw DecisionError("the job left the system some time ago");
}

nb::object JobsView::column(const char *name) {
  if (columns_.contains(name)) return columns_[name];
  if (view_->over()) throw DecisionError("the simulation is over: its jobs cannot be looked at any more");
  for (std::size_t i = 0; i < slots_.size(); ++i) alive(i);
  nb::object array = gather(*view_, slots_, name);
  columns_[name] = array;
  return array;
}

std::vector<JobView> JobsView::sorted(nb::object by, bool reverse) {
  std::vector<double> keys(slots_.size());
  if (PyCallable_Check(by.ptr())) {
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = nb::cast<double>(by(at(static_cast<std::ptrdiff_t>(i))));
  } else {
    nb::object array = nb::isinstance<nb::str>(by) ? column(nb::cast<const char *>(by)) : by;
    array = nb::module_::import_("numpy").attr("ascontiguousarray")(array, "float64");
    const auto given = nb::cast<nb::ndarray<const double, nb::ndim<1>, nb::c_contig>>(array);
    if (given.shape(0) != keys.size()) throw nb::value_error("as many keys as there are jobs are needed");
    std::copy_n(given.data(), keys.size(), keys.begin());
  }
  std::vector<std::size_t> order(keys.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return reverse ? keys[a] > keys[b] : keys[a] < keys[b]; });
  std::vector<JobView> jobs;
  for (const std::size_t i : order) jobs.push_back(at(static_cast<std::ptrdiff_t>(i)));
  return jobs;
}

JobsView waiting_jobs(const std::shared_ptr<View> &view) {
  std::vector<Slot> slots;
  slots.reserve(view->waiting());
  for (Slot slot = view->first_waiting(); slot != kNoSlot; slot = view->job(slot).next) slots.push_back(slot);
  return {view, std::move(slots)};
}

JobsView running_jobs(const std::shared_ptr<View> &view) {
  std::vector<Slot> slots;
  const EstimatedEnds &ends = view->estimated_ends();
  for (EstimatedEnds::Position p; !ends.at_end(p); p = ends.next(p)) slots.push_back(ends[p].slot);
  return {view, std::move(slots)};
}

nb::list event_list(const std::shared_ptr<View> &view, std::span<const Event> events) {
  nb::list told;
  for (const Event &event : events) {
    nb::object about = nb::none();
    if (event.slot != kNoSlot)
      about = nb::cast(JobView(view, event.slot));
    else if (event.node >= 0)
      about = nb::cast(event.node);
    told.append(nb::make_tuple(event_name(event.kind), about));
  }
  return told;
}

}  // namespace schedlab

void bind_jobs(nb::module_ &module) {
  using namespace schedlab;

  nb::class_<JobView>(module, "Job", nb::pooled(), "A job as a policy may know it.")
      .def_prop_ro("id", &JobView::id)
      .def_prop_ro("sequence", [](const JobView &j) { return j.sequence(); })
      .def_prop_ro("state", &state_name, "waiting, running, suspended, held, gone, or coming: submitted for later")
      .def_prop_ro("submit", [](const JobView &j) { return j.facts().submit; })
      .def_prop_ro("eligible", [](const JobView &j) { return j.facts().eligible; })
      .def_prop_ro("wait", &wait_of)
      .def_prop_ro("limit", [](const JobView &j) { return j.facts().limit; })
      .def_prop_ro("estimate", [](const JobView &j) { return j.facts().estimate; })
      .def_prop_ro("count", [](const JobView &j) { return j.facts().count; })
      .def_prop_ro("cores", [](const JobView &j) { return j.facts().cores; })
      .def_prop_ro("request", [](const JobView &j) { return j.facts().request_number; })
      .def_prop_ro("user", [](const JobView &j) { return j.facts().user; })
      .def_prop_ro("group", [](const JobView &j) { return j.facts().group; })
      .def_prop_ro("queue", [](const JobView &j) { return j.facts().queue; })
      .def_prop_ro("partition", [](const JobView &j) { return j.facts().partition; })
      .def_prop_ro(
          "spread", [](const JobView &j) { return j.facts().request->spread; },
          "whether it has a part of every socket of its nodes, beside others")
      .def_prop_ro("application", &application_of, "by its name in the heatmap; None if it has none")
      .def_prop_ro(
          "start", [](const JobView &j) { return j.facts().start; }, "NaN if it has not started")
      .def_prop_ro("estimated_end", [](const JobView &j) { return j.facts().estimated_end; })
      .def_prop_ro(
          "rate",
          [](const JobView &j) {
            const State state = j.facts().state;
            return state == State::Running || state == State::Gone ? j.facts().rate : 1.0;
          },
          "how fast it works; 1 is as in the workload")
      .def_prop_ro(
          "factors", [](const JobView &j) { return live(j.view()).factors(j.facts()); },
          nb::sig("def factors(self) -> dict[str, float]"),
          "of its rate, by who has set them; factors that are 1 are left out")
      .def_prop_ro(
          "done", [](const JobView &j) { return j.facts().done(live(j.view()).now()); },
          "seconds of its work that it has done so far, at whatever rates and in however many attempts; of a requeued "
          "one, what was saved")
      .def_prop_ro("remaining", &remaining_of,
                   "seconds of work that are left to do, with what it costs to begin again; not told to policies")
      .def_prop_ro(
          "total_work", &total_work_of,
          "seconds of work of the whole job: its run time, unless an execution model has said otherwise of the "
          "nodes where it runs; not told to policies")
      .def_prop_ro("shapes", &shapes_of, nb::sig("def shapes(self) -> list[tuple[int, float, float]]"),
                   "(cores, limit, estimate) of each shape it may have; the first is the one it was submitted with")
      .def_prop_ro(
          "shape", [](const JobView &j) { return j.facts().shape; }, "which of its shapes it has")
      .def_prop_ro(
          "malleable", [](const JobView &j) { return j.facts().flexible && j.facts().flexible->malleable; },
          "whether it may change its shape while it runs")
      .def_prop_ro(
          "waits_for",
          [](const JobView &j) {
            std::vector<std::int64_t> ids;
            if (j.facts().waits)
              for (const Predecessor &predecessor : j.facts().waits->open) ids.push_back(predecessor.job);
            return ids;
          },
          "ids of the predecessors of a held job of which it is not known yet what becomes of them")
      .def_prop_ro(
          "nodes", &nodes_of,
          "(node, chunks) of a running job; of one that was granted amounts, as many chunks as they hold, and at "
          "least 1")
      .def_prop_ro(
          "granted", [](const JobView &j) { return grant_list(j.facts(), live(j.view()).machine()); },
          nb::sig("def granted(self) -> list[tuple[int, dict[str, int | list[int]]]]"),
          "(node, {resource: amount, or the devices}) of a job that was granted amounts; empty if it has chunks of its "
          "request")
      .def_prop_ro("attachments", &attachments_of, nb::sig("def attachments(self) -> dict[str, typing.Any]"),
                   "what it carries along, for deciders and observers that ask for it (`wants_attachments`); a copy")
      .def("__eq__", [](const JobView &a, const JobView &b) { return a == b; })
      .def("__eq__", [](const JobView &, nb::handle) { return false; })
      .def("__hash__", [](const JobView &j) { return j.hash(); })
      .def("__repr__", [](const JobView &j) { return "<Job " + std::to_string(j.id()) + " " + state_name(j) + ">"; });

  nb::class_<JobsIterator>(module, "_JobsIterator", nb::type_slots(kIteratorSlots));
  auto jobs =
      nb::class_<JobsView>(module, "Jobs", "Some jobs: a sequence of them, and their columns as arrays.")
          .def("__len__", &JobsView::size)
          .def("__getitem__", &JobsView::at, "index"_a)
          .def(
              "__iter__",
              [](nb::handle_t<JobsView> self) { return JobsIterator{nb::borrow(self), nb::inst_ptr<JobsView>(self)}; },
              nb::sig("def __iter__(self) -> collections.abc.Iterator[Job]"))
          .def_prop_ro(
              "head", [](const JobsView &jobs) { return jobs.size() ? nb::cast(jobs.at(0)) : nb::none(); },
              "the first one; None if there is none", nb::sig("def head(self) -> Job | None"))
          .def("sorted", &JobsView::sorted, "by"_a, "reverse"_a = false,
               "The jobs by a column (its name), an array of keys or a function of a job; smallest first.");
  for (const char *name : {"id", "sequence", "submit", "eligible", "wait", "limit", "estimate", "count", "cores",
                           "request", "user", "group", "queue", "partition", "start", "estimated_end"})
    jobs.def_prop_ro(
        name, [name](JobsView &jobs) { return jobs.column(name); },
        nb::sig(("def " + std::string(name) + "(self) -> numpy.typing.NDArray[typing.Any]").c_str()));
}
