// Binds what deciders and observers in Python do to bring jobs, and to keep them from the queue.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "arrays.hpp"
#include "bind_view.hpp"
#include "engine.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace schedlab {

namespace {

// Requests are known to the host by objects, to the core by numbers.
std::int32_t request_number(nb::handle_t<View> view, nb::handle request) {
  if (PyLong_Check(request.ptr())) return nb::cast<std::int32_t>(request);
  if (!request.is_none()) return nb::cast<std::int32_t>(view.attr("_request_number")(request));
  std::int32_t &one_core = nb::inst_ptr<View>(view)->one_core;
  if (one_core < 0) one_core = nb::cast<std::int32_t>(view.attr("_request_number")(request));
  return one_core;
}

std::string as_json(nb::handle attachments) {
  if (attachments.is_none() || PyObject_Length(attachments.ptr()) == 0) return {};
  return nb::cast<std::string>(nb::getattr(nb::module_::import_("schedlab.model.attachments"), "as_json")(attachments));
}

void give_name(nb::handle view, std::int64_t id, nb::handle name) {
  nb::cast<ViewPtr>(view)->note_name(id, nb::cast<std::string>(name));
  view.attr("_know_name")(id, name);
}

// Of `predecessors=`: jobs, ids and schedlab.Predecessor with either.
std::vector<Predecessor> predecessors_of(nb::handle given) {
  std::vector<Predecessor> before;
  if (given.is_none() || (PyTuple_Check(given.ptr()) && PyTuple_GET_SIZE(given.ptr()) == 0)) return before;
  const nb::object plain = nb::module_::import_("schedlab.model.predecessors").attr("plain");
  for (nb::handle each : plain(given)) {
    const nb::tuple one = nb::cast<nb::tuple>(each);
    before.push_back(
        {nb::cast<std::int64_t>(one[0]), static_cast<Condition>(nb::cast<int>(one[1])), nb::cast<double>(one[2])});
  }
  return before;
}

JobView submit(nb::handle_t<View> self, double runtime, std::int64_t count, nb::handle request,
               std::optional<double> limit, std::optional<double> at, std::int32_t user, std::int32_t group,
               std::int32_t queue, std::int32_t partition, std::optional<double> cancel, nb::handle attachments,
               nb::handle name, std::optional<std::int64_t> id, nb::handle predecessors, bool any) {
  View &view = acting(*nb::inst_ptr<View>(self));
  if (id && *id < 0) throw DecisionError("an id is a number that is not negative");
  const std::int32_t number = request_number(self, request);
  const Submitted submitted =
      view.submit({at.value_or(view.now()), runtime, limit.value_or(runtime), cancel.value_or(kNever), id.value_or(-1),
                   count, number, user, group, queue, partition},
                  {as_json(attachments), predecessors_of(predecessors), any});
  if (!name.is_none()) give_name(self, submitted.id, name);
  return {view.shared_from_this(), submitted};
}

// A column of as many values, from an array or one value for all.
template <class T>
std::vector<T> column(const char *name, nb::handle given, std::size_t size, const char *dtype) {
  const nb::object array = nb::module_::import_("numpy").attr("ascontiguousarray")(given, dtype);
  const auto values = nb::cast<nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>>(array);
  const std::size_t found = values.shape(0);
  if (found == size) return std::vector<T>(values.data(), values.data() + size);
  if (found == 1) return std::vector<T>(size, values.data()[0]);
  throw DecisionError("cannot submit " + std::to_string(size) + " jobs: the column " + name + " has " +
                      std::to_string(found) + " values");
}

nb::object submit_many(nb::handle_t<View> self, nb::handle runtime, nb::handle count, nb::handle request,
                       nb::handle limit, nb::handle at, nb::handle user, nb::handle group, nb::handle queue,
                       nb::handle partition, nb::handle cancel, nb::handle attachments, nb::handle name, nb::handle id,
                       nb::handle predecessors, nb::handle any) {
  const ViewPtr view = nb::cast<ViewPtr>(self);
  acting(view);
  const std::size_t size = nb::len(runtime);
  const auto runtimes = column<double>("runtime", runtime, size, "float64");
  const auto limits = limit.is_none() ? runtimes : column<double>("limit", limit, size, "float64");
  const auto counts = column<std::int64_t>("count", count, size, "int64");
  const auto times = at.is_none() ? std::vector<double>(size, view->now()) : column<double>("at", at, size, "float64");
  const auto cancels =
      cancel.is_none() ? std::vector<double>(size, kNever) : column<double>("cancel", cancel, size, "float64");
  const auto ids = id.is_none() ? std::vector<std::int64_t>(size, -1) : column<std::int64_t>("id", id, size, "int64");
  const bool numbers = !request.is_none() && (PyLong_Check(request.ptr()) || PySequence_Check(request.ptr()));
  const auto requests = numbers ? column<std::int32_t>("request", request, size, "int32")
                                : std::vector<std::int32_t>(size, request_number(self, request));
  const auto users = column<std::int32_t>("user", user, size, "int32"),
             groups = column<std::int32_t>("group", group, size, "int32"),
             queues = column<std::int32_t>("queue", queue, size, "int32"),
             partitions = column<std::int32_t>("partition", partition, size, "int32");
  for (const nb::handle texts : {attachments, name, predecessors})
    if (!texts.is_none() && nb::len(texts) != size)
      throw DecisionError("cannot submit " + std::to_string(size) +
                          " jobs: attachments, names or predecessors are given for " + std::to_string(nb::len(texts)));
  std::vector<Submission> jobs;
  jobs.reserve(size);
  for (std::size_t i = 0; i < size; ++i)
    jobs.push_back({times[i], runtimes[i], limits[i], cancels[i], ids[i], counts[i], requests[i], users[i], groups[i],
                    queues[i], partitions[i]});
  std::vector<Baggage> baggage(attachments.is_none() && predecessors.is_none() ? 0 : size);
  if (!attachments.is_none())
    for (std::size_t i = 0; i < size; ++i) baggage[i].attachments = as_json(nb::object(attachments[i]));
  if (!predecessors.is_none()) {
    const auto suffices = column<bool>("any", any, size, "bool");
    for (std::size_t i = 0; i < size; ++i)
      baggage[i].before = predecessors_of(nb::object(predecessors[i])), baggage[i].any = suffices[i];
  }
  std::vector<std::int64_t> given = view->submit(std::move(jobs), std::move(baggage));
  if (!name.is_none()) {
    std::size_t i = 0;
    for (nb::handle one : name) {
      if (!one.is_none()) give_name(self, given[i], one);
      ++i;
    }
  }
  return to_array(std::move(given));
}

}  // namespace

void bind_submit(nb::class_<View> &view) {
  view.def(
          "submit", &submit, "runtime"_a, "count"_a = 1, "request"_a.none() = nb::none(), "limit"_a.none() = nb::none(),
          "at"_a.none() = nb::none(), "user"_a = -1, "group"_a = -1, "queue"_a = -1, "partition"_a = -1, nb::kw_only(),
          "cancel"_a.none() = nb::none(), "attachments"_a.none() = nb::none(), "name"_a.none() = nb::none(),
          "id"_a.none() = nb::none(), "predecessors"_a.none() = nb::none(), "any"_a = false,
          nb::sig("def submit(self, runtime: float, count: int = 1, request: schedlab.model.request.Request | int | "
                  "None = None, limit: float "
                  "| None = None, at: float | None = None, user: int = -1, group: int = -1, queue: int = -1, "
                  "partition: int = -1, *, cancel: float | None = None, attachments: "
                  "collections.abc.Mapping[str, typing.Any] | None = None, name: str | None = None, id: int | None = "
                  "None, predecessors: collections.abc.Iterable[Job | int | "
                  "schedlab.model.predecessors.Predecessor] | None = None, any: bool = False) -> Job"),
          "A job that is not of the workload: it enters now, or at a later time `at`. `request` is what each of its "
          "`count` chunks asks for, or the number of a request that is known (`request_number`); None is one core. The "
          "limit is the runtime if none is given; `cancel` is when it leaves if it still waits. Without an `id` it "
          "gets one from 10**12 on. `predecessors` are jobs that it waits for, their ids, or schedlab.Predecessor with "
          "a condition and a delay; all of them, or `any`.")
      .def(
          "submit_many", &submit_many, "runtime"_a, "count"_a = 1, "request"_a.none() = nb::none(),
          "limit"_a.none() = nb::none(), "at"_a.none() = nb::none(), "user"_a = -1, "group"_a = -1, "queue"_a = -1,
          "partition"_a = -1, nb::kw_only(), "cancel"_a.none() = nb::none(), "attachments"_a.none() = nb::none(),
          "name"_a.none() = nb::none(), "id"_a.none() = nb::none(), "predecessors"_a.none() = nb::none(),
          "any"_a = false,
          nb::sig("def submit_many(self, runtime: numpy.typing.ArrayLike, count: numpy.typing.ArrayLike = 1, request: "
                  "schedlab.model.request.Request | numpy.typing.ArrayLike | None = None, limit: "
                  "numpy.typing.ArrayLike | None = None, at: "
                  "numpy.typing.ArrayLike | None = None, user: numpy.typing.ArrayLike = -1, group: "
                  "numpy.typing.ArrayLike = -1, queue: numpy.typing.ArrayLike = -1, partition: "
                  "numpy.typing.ArrayLike = -1, *, cancel: numpy.typing.ArrayLike | None = None, attachments: "
                  "collections.abc.Sequence[collections.abc.Mapping[str, typing.Any] | None] | None = None, name: "
                  "collections.abc.Sequence[str | None] | None = None, id: numpy.typing.ArrayLike | None = None, "
                  "predecessors: collections.abc.Sequence[collections.abc.Iterable[Job | int | "
                  "schedlab.model.predecessors.Predecessor] | None] | None = None, any: numpy.typing.ArrayLike = "
                  "False) -> numpy.typing.NDArray[numpy.int64]"),
          "Many jobs as columns, one number standing for a column of it; returns their ids. They enter in the order of "
          "`at`, ties as given.")
      .def(
          "request_number", [](nb::handle_t<View> self, nb::handle request) { return request_number(self, request); },
          "request"_a.none(),
          nb::sig("def request_number(self, request: schedlab.model.request.Request | None) -> int"),
          "The number of a request, for `submit`: looked up once instead of at every job. None is one core.")
      .def_prop_ro(
          "submitted", [](const ViewPtr &view) { return live(view).submitted(); },
          "how many jobs that are not of the workload have entered")
      .def_prop_ro(
          "announced", [](const ViewPtr &view) { return live(view).announced(); },
          "how many have been submitted, also for later")
      .def(
          "withdraw",
          [](const ViewPtr &view, const JobView &job) {
            acting(view);
            if (!job.coming()) return view->withdraw(subject(view, job));
            view->last_job = job.id();
            view->withdraw_coming(job.ticket());
          },
          "job"_a, "A job that waits or is held leaves, cancelled; one that has not entered yet never will.")
      .def(
          "hold", [](const ViewPtr &view, const JobView &job) { view->hold(subject(view, job)); }, "job"_a,
          "A waiting job waits no more, until it is released.")
      .def(
          "release", [](const ViewPtr &view, const JobView &job) { view->release(subject(view, job)); }, "job"_a,
          "A held job waits from now on, as if it were submitted now.");
}

}  // namespace schedlab
