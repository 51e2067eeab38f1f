// Binds the decider protocol: what a policy written in Python sees and may do. It is the same View that native policies
// get.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "engine.hpp"
#include "job_view.hpp"
#include "plan.hpp"
#include "python_parts.hpp"

namespace nb = nanobind;
using namespace nb::literals;

// Nodes with chunks, or with amounts; a list of devices is an amount too.
#define SCHEDLAB_NODES "typing.Sequence[tuple[int, int | typing.Mapping[str, int | typing.Sequence[int]]]] | None"

namespace schedlab {

namespace {

using ViewPtr = std::shared_ptr<View>;

View &live(const ViewPtr &view) {
  if (view->over()) throw DecisionError("the simulation is over: nothing can be decided any more");
  return *view;
}

// The same, to do something.
View &acting(const ViewPtr &view) {
  live(view);
  if (const char *question = view->asking())
    throw DecisionError(std::string(question) + " is a question: do nothing there but answer it");
  return *view;
}

// The job that a decision is about, noted for the message if something goes wrong.
Slot subject(const ViewPtr &view, const JobView &job) {
  acting(view);
  const Slot slot = job.slot();
  view->last_job = job.facts().id;
  return slot;
}

std::vector<JobView> jobs_of(const ViewPtr &view, const std::vector<Slot> &slots) {
  std::vector<JobView> jobs;
  for (const Slot slot : slots) jobs.emplace_back(view, slot);
  return jobs;
}

bool start(const ViewPtr &view, const JobView &job, nb::handle nodes, std::optional<int> shape, double priority,
           std::optional<bool> backfilled) {
  const Slot slot = subject(view, job);
  auto grant = read_grant(nodes, *view, "start", slot);
  view->worked(1024);  // with what Python did for it
  return view->start_as(slot, shape.value_or(job.facts().shape), grant ? &*grant : nullptr, priority,
                        backfilled ? Backfilled(*backfilled) : Backfilled());
}

constexpr std::pair<const char *, NodeMode> kModes[] = {{"up", NodeMode::Up},
                                                        {"down", NodeMode::Down},
                                                        {"off", NodeMode::Off},
                                                        {"booting", NodeMode::Booting},
                                                        {"maintenance", NodeMode::Maintenance},
                                                        {"drained", NodeMode::Drained}};

NodeMode mode_of(const std::string &name) {
  for (const auto &[known, mode] : kModes)
    if (name == known && mode != NodeMode::Up) return mode;
  throw DecisionError("a node can be down, off, booting, maintenance or drained, not " + name);
}

Reason decided_because(const std::string &reason) {
  if (reason.empty()) return Reason::ByDecision;
  if (reason == "preempted") return Reason::Preempted;
  if (reason == "node failure") return Reason::NodeFailure;
  if (reason == "maintenance") return Reason::Maintenance;
  if (reason == "time limit") return Reason::TimeLimit;
  throw DecisionError("a reason can be preempted, node failure, maintenance or time limit, not " + reason);
}

const char *mode_name(NodeMode wanted) {
  for (const auto &[name, mode] : kModes)
    if (mode == wanted) return name;
  return "";
}

// What is free when: the running jobs until their estimated ends, and the reservations.
class PlanView {
  // Asks the plan about a job, or about so many cores as if they were one.
  template <class Ask>
  auto with(const std::variant<JobView, std::int64_t> &what, std::optional<double> duration, Ask ask) const {
    View &view = live(view_);
    Job asked{};
    asked.start = std::numeric_limits<double>::quiet_NaN();
    Request single;
    if (const JobView *job = std::get_if<JobView>(&what)) {
      const Job &facts = job->facts();
      asked.request = facts.request, asked.count = facts.count, asked.cores = facts.cores;
      asked.sequence = facts.sequence, asked.estimate = facts.estimate, asked.user = facts.user;
    } else {
      single.chunk.assign(static_cast<std::size_t>(view.machine().resources()), 0);
      single.chunk[0] = 1;
      single.groups.assign(view.machine().groups().size(), true);
      view.machine().prepare(single, false, view.placement().kind() == Placement::Kind::Contiguous);
      asked.request = &single, asked.count = asked.cores = std::get<std::int64_t>(what);
      asked.sequence = -1, asked.user = -1, asked.estimate = 1;
    }
    if (duration) asked.estimate = *duration;
    return ask(view.plan(asked), asked);
  }

 public:
  explicit PlanView(ViewPtr view) : view_(std::move(view)) {}

  Time earliest_start(const std::variant<JobView, std::int64_t> &what, std::optional<double> duration) const {
    return with(what, duration, [&](const Plan &plan, const Job &job) {
      Shares shares;
      return plan.earliest(job, shares);
    });
  }
  bool fits(const std::variant<JobView, std::int64_t> &what, std::optional<double> at,
            std::optional<double> duration) const {
    return with(what, duration, [&](const Plan &plan, const Job &job) {
      Shares shares;
      return plan.possible(job, std::max(at.value_or(plan.now()), plan.now()), job.estimate, shares);
    });
  }

 private:
  ViewPtr view_;
};

// The nodes, now.
class ClusterView {
 public:
  explicit ClusterView(ViewPtr view) : view_(std::move(view)) {}

  nb::object free(int resource) const { return strided(live(view_).cluster().state().free, resource); }
  nb::object total(int resource) const { return strided(live(view_).machine().empty().free, resource); }
  nb::object up() const {
    const View &view = live(view_);
    return mask([&](int node) { return !view.cluster().closed(node); });
  }
  nb::object usable(const JobView &job) const {
    const View &view = live(view_);
    const Job &facts = job.facts();
    return mask([&](int node) {
      return !view.cluster().closed(node) && facts.request->may_use(node) && !view.window_against(facts, node);
    });
  }
  nb::object usable_until(const JobView &job) const { return to_array(live(view_).usable_until(job.facts())); }
  const char *state(int node) const {
    if (node < 0 || node >= nodes()) throw nb::index_error("no such node");
    return mode_name(view_->mode(node));
  }
  std::vector<const char *> states() const {
    std::vector<const char *> names;
    for (int node = 0; node < nodes(); ++node) names.push_back(state(node));
    return names;
  }
  void set_names(std::vector<std::string> names) { view_->node_names = std::move(names); }
  std::int64_t changes() const { return live(view_).node_changes(); }
  int nodes() const { return live(view_).machine().nodes(); }
  Amount free_cores() const { return live(view_).cluster().free_cores(); }

 private:
  template <class Ask>
  nb::object mask(Ask ask) const {
    const auto count = static_cast<std::size_t>(nodes());
    auto *values = new bool[count];
    nb::capsule owner(values, [](void *p) noexcept { delete[] static_cast<bool *>(p); });
    for (std::size_t node = 0; node < count; ++node) values[node] = ask(static_cast<int>(node));
    return nb::cast(nb::ndarray<nb::numpy, bool, nb::ndim<1>>(values, {count}, owner));
  }

  // A resource of every node, without a copy: it changes as jobs come and go.
  nb::object strided(const std::vector<Amount> &amounts, int resource) const {
    const auto stride = static_cast<std::size_t>(view_->machine().resources());
    if (resource < 0 || static_cast<std::size_t>(resource) >= stride) throw nb::index_error("no such resource");
    auto *held = new std::shared_ptr<void>(view_->keep_alive());
    nb::capsule owner(held, [](void *p) noexcept { delete static_cast<std::shared_ptr<void> *>(p); });
    return nb::cast(nb::ndarray<nb::numpy, const Amount, nb::ndim<1>>(
        amounts.data() + resource, {amounts.size() / stride}, owner, {static_cast<std::int64_t>(stride)}));
  }

  ViewPtr view_;
};

// (takes, job, nodes) of each change, in the order in which they happened.
nb::list moves(const ViewPtr &view) {
  nb::list told;
  for (const Move &move : live(view).take_moves()) {
    std::vector<std::pair<int, int>> nodes;
    for (const Share &share : move.shares) nodes.emplace_back(share.node, share.chunks);
    told.append(nb::make_tuple(move.takes, JobView(view, move.slot), nodes));
  }
  return told;
}

double in_units(const Budget &budget, Amount amount) { return static_cast<double>(amount) / budget.unit; }

// What was taken of the machine's budget so far, by all and by each job.
nb::dict budget_books(const ViewPtr &view) {
  nb::dict books;
  const BudgetBooks *kept = live(view).books();
  if (!kept) return books;
  const Budget &budget = *view->machine().budget();
  std::vector<double> times, levels, taken;
  std::vector<std::int64_t> sequences;
  for (const BudgetBooks::Level &level : kept->levels())
    times.push_back(level.time), levels.push_back(in_units(budget, level.taken));
  for (const BudgetBooks::Stay &stay : kept->stays())
    sequences.push_back(stay.sequence), taken.push_back(stay.taken / budget.unit);
  const Amount now = view->cluster().state().spending.taken;
  books["now"] = in_units(budget, now);
  books["peak"] = in_units(budget, std::max(kept->peak(), now));
  books["total"] = kept->total() / budget.unit;
  books["time"] = to_array(std::move(times)), books["level"] = to_array(std::move(levels));
  books["sequence"] = to_array(std::move(sequences)), books["taken"] = to_array(std::move(taken));
  return books;
}

// What a user's jobs took: columns, the latest last.
nb::dict history(const ViewPtr &view, std::int32_t user, std::size_t last) {
  auto jobs = live(view).history(user);
  if (jobs.size() > last) jobs = jobs.last(last);
  nb::dict columns;
  const auto add = [&](const char *name, auto read) {
    std::vector<decltype(read(jobs[0]))> values;
    for (const Finished &job : jobs) values.push_back(read(job));
    columns[name] = to_array(std::move(values));
  };
  add("id", [](const Finished &job) { return job.id; });
  add("cores", [](const Finished &job) { return job.cores; });
  add("submit", [](const Finished &job) { return job.submit; });
  add("start", [](const Finished &job) { return job.start; });
  add("end", [](const Finished &job) { return job.end; });
  add("runtime", [](const Finished &job) { return job.runtime; });
  add("limit", [](const Finished &job) { return job.limit; });
  return columns;
}

// ---- jobs that are submitted during the run ----

// Requests are known to the host by objects, to the core by numbers.
std::int32_t request_number(nb::handle view, nb::handle request) {
  if (PyLong_Check(request.ptr())) return nb::cast<std::int32_t>(request);
  return nb::cast<std::int32_t>(view.attr("_request_number")(request));
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

JobView submit(nb::handle self, double runtime, std::int64_t count, nb::handle request, std::optional<double> limit,
               std::optional<double> at, std::int32_t user, std::int32_t group, std::int32_t queue,
               std::int32_t partition, std::optional<double> cancel, nb::handle attachments, nb::handle name,
               std::optional<std::int64_t> id, nb::handle predecessors, bool any) {
  const ViewPtr view = nb::cast<ViewPtr>(self);
  acting(view);
  if (id && *id < 0) throw DecisionError("an id is a number that is not negative");
  const std::int32_t number = request_number(self, request);
  const Slot slot = view->submit({at.value_or(view->now()), runtime, limit.value_or(runtime), cancel.value_or(kNever),
                                  id.value_or(-1), count, number, user, group, queue, partition},
                                 {as_json(attachments), predecessors_of(predecessors), any});
  if (!name.is_none()) give_name(self, view->job(slot).id, name);
  return {view, slot};
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

nb::object submit_many(nb::handle self, nb::handle runtime, nb::handle count, nb::handle request, nb::handle limit,
                       nb::handle at, nb::handle user, nb::handle group, nb::handle queue, nb::handle partition,
                       nb::handle cancel, nb::handle attachments, nb::handle name, nb::handle id,
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

void bind_view(nb::module_ &module) {
  nb::class_<View>(module, "View", nb::dynamic_attr(),
                   "What a policy sees, and how it decides. Decisions take effect at once.")
      .def_prop_ro("now", [](const ViewPtr &view) { return live(view).now(); })
      .def_prop_ro(
          "queue", [](const ViewPtr &view) { return live(view), waiting_jobs(view); },
          "waiting jobs in the order in which they became eligible")
      .def_prop_ro(
          "running", [](const ViewPtr &view) { return live(view), running_jobs(view); },
          "running jobs, soonest estimated end first")
      .def_prop_ro("suspended", [](const ViewPtr &view) { return JobsView(view, live(view).suspended()); })
      .def_prop_ro(
          "held", [](const ViewPtr &view) { return JobsView(view, live(view).held()); },
          "jobs that wait for others or that a decision holds, in the order of entering")
      .def_prop_ro("plan", [](const ViewPtr &view) { return PlanView(view); })
      .def_prop_ro("free_cores", [](const ViewPtr &view) { return live(view).cluster().free_cores(); })
      .def_rw("refusal", &View::refusal,
              "who did not allow the last start that was tried: an observer, or the cap of a budget; or empty")
      .def_rw("refuser", &View::refuser, "the name of the observer who did not allow it")
      .def_prop_ro(
          "data",
          [](nb::handle self) {
            nb::object data = self.attr("_data");
            const View &view = *nb::cast<ViewPtr>(self);
            if (const Budget *budget = view.over() ? nullptr : view.machine().budget())
              data[budget->name.c_str()] = in_units(*budget, view.cluster().state().spending.taken);
            return data;
          },
          "what observers publish and policies read", nb::sig("def data(self) -> dict[str, typing.Any]"))
      .def_prop_ro(
          "cluster", [](nb::handle self) { return self.attr("_cluster"); }, nb::sig("def cluster(self) -> ClusterView"))
      .def("history", &history, "user"_a, "last"_a = 100,
           nb::sig("def history(self, user: int, last: int = 100) -> dict[str, numpy.typing.NDArray[typing.Any]]"),
           "The last finished jobs of a user as columns: id, cores, submit, start, end, runtime, limit.")
      .def("budget_books", &budget_books, nb::sig("def budget_books(self) -> dict[str, typing.Any]"),
           "What is taken of the machine's budget, if it has one: now, peak, total (x seconds); time and level of each "
           "change; sequence and taken (x seconds) of each stay of a job on its nodes.")
      .def("take_moves", &moves, nb::sig("def take_moves(self) -> list[tuple[bool, Job, list[tuple[int, int]]]]"),
           "(takes, job, nodes) of each job that took or left nodes since this was last asked; for observers.")
      .def(
          "jobs_on",
          [](const ViewPtr &view, int node) {
            if (node < 0 || node >= live(view).machine().nodes()) throw nb::index_error("no such node");
            return jobs_of(view, view->jobs_on(node));
          },
          "node"_a, "The jobs that run there, in the order in which they came.")
      .def(
          "neighbours",
          [](const ViewPtr &view, const JobView &job) { return jobs_of(view, live(view).neighbours(job.slot())); },
          "job"_a, "The other jobs on the nodes of a running job, in the order in which they came.")
      .def(
          "speedup",
          [](const ViewPtr &view, const JobView &job, const JobView &beside) {
            if (!live(view).pairs()) throw DecisionError("there is no heatmap: speed-ups are not known");
            return view->pairs()->speedup(job.facts().application, beside.facts().application);
          },
          "job"_a, "beside"_a, "How fast it would work beside the other, against whole nodes of its own (heatmap).")
      .def(
          "fits",
          [](const ViewPtr &view, const JobView &job) {
            Shares shares;
            return live(view).place(job.slot(), shares);
          },
          "job"_a, "Would it start now, reservations aside?")
      .def("start", &start, "job"_a, "nodes"_a.none() = nb::none(), "shape"_a.none() = nb::none(), "priority"_a = 0.0,
           "backfilled"_a.none() = nb::none(),
           nb::sig("def start(self, job: Job, nodes: " SCHEDLAB_NODES
                   " = None, shape: int | None = None, priority: float "
                   "= 0.0, backfilled: bool | None = None) -> bool"),
           "Start a waiting job where the placement puts it, or on `nodes` [(node, chunks), …]; in one of its shapes. "
           "Instead of chunks it may be granted amounts on each node: {\"cores\": 17, \"memory\": 2**30, \"gpus\": "
           "[0, 3]}; a list names single devices. "
           "False if it does not fit, or would delay a job that holds a reservation. `backfilled` says whether it "
           "passes a job that is ahead of it.")
      .def(
          "reserve",
          [](const ViewPtr &view, const JobView *job) { return job ? view->reserve(subject(view, *job)) : kNever; },
          "job"_a.none(),
          "Protect a waiting job until it starts or leaves: others that would delay it are not started. Returns when "
          "it could start. Nothing for None, the head of an empty queue.")
      .def(
          "unreserve", [](const ViewPtr &view, const JobView &job) { view->unreserve(subject(view, job)); }, "job"_a)
      .def(
          "reject", [](const ViewPtr &view, const JobView &job) { view->reject(subject(view, job)); }, "job"_a)
      .def(
          "kill",
          [](const ViewPtr &view, const JobView &job, const std::string &reason) {
            view->kill(subject(view, job), decided_because(reason));
          },
          "job"_a, "reason"_a = "",
          "`reason`: preempted, node failure, maintenance or time limit; nothing if it is another one.")
      .def(
          "requeue",
          [](const ViewPtr &view, const JobView &job, double saved, double cost, const std::string &reason) {
            view->requeue(subject(view, job), saved, cost, decided_because(reason));
          },
          "job"_a, "saved"_a = 0.0, "cost"_a = 0.0, "reason"_a = "",
          "Back to the queue. `saved` seconds of its work need not be done again, `cost` seconds come on top; `reason` "
          "as for `kill`.")
      .def(
          "suspend", [](const ViewPtr &view, const JobView &job) { view->suspend(subject(view, job)); }, "job"_a,
          "Off its nodes; its work is kept.")
      .def(
          "resume",
          [](const ViewPtr &view, const JobView &job, nb::handle nodes, double cost) {
            const Slot slot = subject(view, job);
            auto grant = read_grant(nodes, *view, "resume", slot);
            return view->resume(slot, grant ? &*grant : nullptr, cost);
          },
          "job"_a, "nodes"_a.none() = nb::none(), "cost"_a = 0.0,
          nb::sig("def resume(self, job: Job, nodes: " SCHEDLAB_NODES " = None, cost: float = 0.0) -> bool"),
          "Let a suspended job go on, after `cost` more seconds of work. False if it does not fit.")
      .def(
          "reshape",
          [](const ViewPtr &view, const JobView &job, int shape, nb::handle nodes, double cost) {
            const Slot slot = subject(view, job);
            auto grant = read_grant(nodes, *view, "reshape", slot);
            return view->reshape(slot, shape, grant ? &*grant : nullptr, cost);
          },
          "job"_a, "shape"_a, "nodes"_a.none() = nb::none(), "cost"_a = 0.0,
          nb::sig("def reshape(self, job: Job, shape: int, nodes: " SCHEDLAB_NODES " = None, cost: float = 0.0) -> "
                  "bool"),
          "Let a running malleable job go on in another of its shapes. False if that does not fit.")
      .def(
          "set_rate",
          [](const ViewPtr &view, const JobView &job, double factor) {
            view->set_rate(subject(view, job), factor, view->owner);
          },
          "job"_a, "factor"_a,
          "How much faster or slower you make a running job from now on: 1 not at all, 0 stands still. Its rate is the "
          "product of what everybody says.")
      .def_rw("owner", &View::owner, "whose turn it is: factors of rates that are set now are his")
      .def(
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
          "request_number", [](nb::handle self, nb::handle request) { return request_number(self, request); },
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
          "withdraw", [](const ViewPtr &view, const JobView &job) { view->withdraw(subject(view, job)); }, "job"_a,
          "A job that waits or is held leaves, cancelled; one that has not entered yet never will.")
      .def(
          "hold", [](const ViewPtr &view, const JobView &job) { view->hold(subject(view, job)); }, "job"_a,
          "A waiting job waits no more, until it is released.")
      .def(
          "release", [](const ViewPtr &view, const JobView &job) { view->release(subject(view, job)); }, "job"_a,
          "A held job waits from now on, as if it were submitted now.")
      .def(
          "wake_at", [](const ViewPtr &view, double time) { acting(view).wake_at(time, view->waker()); }, "time"_a,
          "Ask for a pass at that time; an observer's `woken` is called before it.")
      .def(
          "close",
          [](const ViewPtr &view, int node, const std::string &why) { acting(view).close(node, mode_of(why)); },
          "node"_a, "why"_a = "down",
          "No new jobs for a node: down, off, booting, maintenance or drained. Jobs that run there go on.")
      .def(
          "open", [](const ViewPtr &view, int node) { acting(view).open(node); }, "node"_a)
      .def(
          "explain",
          [](const ViewPtr &view, const JobView &job, const std::string &why,
             const std::variant<std::monostate, JobView, std::int64_t> &who) {
            const Slot slot = subject(view, job);
            std::int64_t id = -1;
            if (const JobView *other = std::get_if<JobView>(&who)) id = other->facts().id;
            if (const std::int64_t *given = std::get_if<std::int64_t>(&who)) id = *given;
            view->explain(slot, why, id);
          },
          "job"_a, "why"_a, "who"_a.none() = nb::none(),
          "Say why a job waits, in words of your own or of `schedlab.model.states.WAIT_REASONS`, and which job (or id) "
          "is in its way. It holds until something else is said; an empty text leaves it to the engine again. Without "
          "`reasons` nothing is written down.")
      .def_prop_ro(
          "gives_reasons", [](const ViewPtr &view) { return view->gives_reasons(); },
          "Whether the run says why jobs wait: without it, what `explain` is told is of no use.")
      .def(
          "touch", [](const ViewPtr &view) { acting(view).touch(); },
          "Something that the engine does not know of has changed: jobs that could not start may do so now.");
}

}  // namespace

nb::object cluster_view(const ViewPtr &view) { return nb::cast(ClusterView(view)); }

}  // namespace schedlab

void bind_decider(nb::module_ &module) {
  using namespace schedlab;
  bind_view(module);

  nb::class_<PlanView>(module, "Plan", "What is free when, as far as estimates tell.")
      .def("earliest_start", &PlanView::earliest_start, "what"_a, "for_"_a.none() = nb::none(),
           "When a job, or so many cores, could start; `for_` seconds instead of the job's estimate.")
      .def("fits", &PlanView::fits, "what"_a, "at"_a.none() = nb::none(), "for_"_a.none() = nb::none(),
           "Is there room for a job, or so many cores, at that time and for so long?");

  nb::class_<ClusterView>(module, "ClusterView", nb::dynamic_attr(), "The nodes, now.")
      .def_prop_ro("nodes", &ClusterView::nodes)
      .def_prop_ro("free_cores", &ClusterView::free_cores)
      .def("free_of", &ClusterView::free, "resource"_a,
           nb::sig("def free_of(self, resource: int) -> numpy.typing.NDArray[typing.Any]"),
           "Free amount of a resource (by its number) on each node.")
      .def("total_of", &ClusterView::total, "resource"_a,
           nb::sig("def total_of(self, resource: int) -> numpy.typing.NDArray[typing.Any]"))
      .def_prop_ro(
          "free", [](const ClusterView &cluster) { return cluster.free(0); }, "free cores of each node",
          nb::sig("def free(self) -> numpy.typing.NDArray[typing.Any]"))
      .def_prop_ro(
          "total", [](const ClusterView &cluster) { return cluster.total(0); }, "cores of each node",
          nb::sig("def total(self) -> numpy.typing.NDArray[typing.Any]"))
      .def(
          "state", [](const ClusterView &cluster, int node) { return cluster.state(node); }, "node"_a,
          "up, down, off, booting, maintenance or drained")
      .def_prop_ro("changes", &ClusterView::changes, "how often nodes have changed their states")
      .def_prop_ro("states", &ClusterView::states, "up, down, off, booting, maintenance or drained, of each node")
      .def_prop_ro("up", &ClusterView::up, "whether each node takes jobs",
                   nb::sig("def up(self) -> numpy.typing.NDArray[typing.Any]"))
      .def("usable", &ClusterView::usable, "job"_a,
           nb::sig("def usable(self, job: Job) -> numpy.typing.NDArray[typing.Any]"),
           "Whether the job may have each node, if it has room, from now until it would end as believed: the node is "
           "up, suits its request, and is not set aside for others in that time.")
      .def("usable_until", &ClusterView::usable_until, "job"_a,
           nb::sig("def usable_until(self, job: Job) -> numpy.typing.NDArray[typing.Any]"),
           "Until when the job could have each node: infinity, or when the node is set aside for others next; `now` "
           "where it cannot have it now.")
      .def(
          "describe",
          [](nb::handle self, nb::dict facts) {
            nb::cast<ClusterView &>(self).set_names(nb::cast<std::vector<std::string>>(facts["names"]));
            for (auto [name, value] : facts)
              nb::setattr(self, nb::cast<const char *>(nb::str("_") + nb::str(name)), value);
          },
          "facts"_a, nb::sig("def describe(self, facts: dict[str, typing.Any]) -> None"),
          "What does not change: names, groups, features, partitions.")
      .def_prop_ro(
          "names", [](nb::handle self) { return self.attr("_names"); }, "of the nodes",
          nb::sig("def names(self) -> list[str]"))
      .def_prop_ro(
          "group", [](nb::handle self) { return self.attr("_group"); }, "of each node, by its number",
          nb::sig("def group(self) -> numpy.typing.NDArray[typing.Any]"))
      .def_prop_ro(
          "group_names", [](nb::handle self) { return self.attr("_group_names"); }, "names of the node groups",
          nb::sig("def group_names(self) -> list[str]"))
      .def_prop_ro(
          "features", [](nb::handle self) { return self.attr("_features"); }, "of each node",
          nb::sig("def features(self) -> list[frozenset[str]]"))
      .def_prop_ro(
          "pool", [](nb::handle self) { return self.attr("_pool"); }, "whether it is one pool of cores, without nodes",
          nb::sig("def pool(self) -> bool"))
      .def_prop_ro(
          "partitions", [](nb::handle self) { return self.attr("_partitions"); }, "the groups of each",
          nb::sig("def partitions(self) -> dict[str, tuple[str, ...]]"));
}
