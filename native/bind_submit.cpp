// Binds what deciders and observers in Python do to bring jobs, and to keep them from the queue.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>

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
  View &view = *nb::inst_ptr<View>(self);
  if (view.failure) std::rethrow_exception(std::exchange(view.failure, nullptr));
  acting(view);
  if (id && *id < 0) throw DecisionError("an id is a number that is not negative");
  const std::int32_t number = request_number(self, request);
  const Submitted submitted =
      view.submit({at.value_or(view.now()), runtime, limit.value_or(runtime), cancel.value_or(kNever), id.value_or(-1),
                   count, number, user, group, queue, partition},
                  {as_json(attachments), predecessors_of(predecessors), any});
  if (!name.is_none()) give_name(self, submitted.id, name);
  return {view.shared_from_this(), submitted};
}

// ---- the short way of `submit` ----

// The arguments that may be given by position.
constexpr std::array kNames = {"runtime", "count", "request", "limit", "at", "user", "group", "queue", "partition"};
enum Argument { kRuntime, kCount, kRequest, kLimit, kAt, kUser, kGroup, kQueue, kPartition };
using Arguments = std::array<PyObject *, kNames.size()>;  // null where none is given

bool find_arguments(PyObject *const *given, std::size_t by_position, PyObject *names, Arguments &found) {
  static const Arguments known = [] {
    Arguments interned;
    std::transform(kNames.begin(), kNames.end(), interned.begin(), PyUnicode_InternFromString);
    return interned;
  }();
  if (by_position > found.size()) return false;
  std::copy_n(given, by_position, found.begin());
  for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); ++i) {
    const auto name = std::find(known.begin(), known.end(), PyTuple_GET_ITEM(names, i));
    if (name == known.end() || found[static_cast<std::size_t>(name - known.begin())]) return false;
    found[static_cast<std::size_t>(name - known.begin())] = given[by_position + static_cast<std::size_t>(i)];
  }
  return true;
}

// Plain numbers; `value` stays what it is where none is given.
template <class T>
bool read(PyObject *given, T &value) {
  if (!given) return true;
  if (!PyLong_CheckExact(given)) return false;
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(given, &overflow);
  value = static_cast<T>(number);
  return overflow == 0 && value == number;
}
template <>
bool read(PyObject *given, double &value) {
  if (!given || given == Py_None) return true;
  if (PyFloat_Check(given)) return value = PyFloat_AS_DOUBLE(given), true;
  std::int64_t number = 0;
  if (!read(given, number)) return false;
  return value = static_cast<double>(number), true;
}

// With sixteen arguments, nanobind takes longer for a call than the submission does. Most have only numbers: these are
// read here. False where that is not so.
bool read_numbers(const View &view, const Arguments &given, Submission &job) {
  if (!given[kRuntime] || given[kRuntime] == Py_None || !read(given[kRuntime], job.runtime)) return false;
  job.at = view.over() ? 0 : view.now(), job.limit = job.runtime, job.cancel = kNever;
  job.id = -1, job.count = 1, job.request = -1;
  job.user = job.group = job.queue = job.partition = -1;
  const bool one_core = !given[kRequest] || given[kRequest] == Py_None;
  return read(given[kCount], job.count) && (one_core || read(given[kRequest], job.request)) &&
         read(given[kLimit], job.limit) && read(given[kAt], job.at) && read(given[kUser], job.user) &&
         read(given[kGroup], job.group) && read(given[kQueue], job.queue) && read(given[kPartition], job.partition);
}

PyObject *submit_shortly(PyObject *self, PyObject *const *given, Py_ssize_t by_position, PyObject *names) {
  const nb::handle_t<View> handle(self);
  View &view = *nb::inst_ptr<View>(handle);
  Arguments found{};
  Submission job;
  if (find_arguments(given, static_cast<std::size_t>(by_position), names, found) && read_numbers(view, found, job)) {
    try {
      acting(view);
      if (!found[kRequest] || found[kRequest] == Py_None) job.request = request_number(handle, nb::none());
      const Submitted submitted = view.submit(job);
      return nb::cast(JobView(view.shared_from_this(), submitted)).release().ptr();
    } catch (...) {
      view.failure = std::current_exception();  // the other way tells Python
    }
  }
  std::vector<PyObject *> all = {self};
  all.insert(all.end(), given, given + by_position + (names ? PyTuple_GET_SIZE(names) : 0));
  const nb::object general = nb::type<View>().attr("submit");
  return PyObject_Vectorcall(general.ptr(), all.data(), static_cast<std::size_t>(by_position) + 1, names);
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

nb::object short_submit(nb::handle view) {
  static PyMethodDef way = {"submit", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(submit_shortly)),
                            METH_FASTCALL | METH_KEYWORDS, "The same as View.submit."};
  return nb::steal(PyCFunction_New(&way, view.ptr()));
}

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
          "request_number",
          [](nb::handle_t<View> self, nb::handle request) {
            live(nb::cast<ViewPtr>(self));
            return request_number(self, request);
          },
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
