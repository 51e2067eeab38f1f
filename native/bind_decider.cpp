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
#include "bind_view.hpp"
#include "engine.hpp"
#include "plan.hpp"
#include "python_parts.hpp"
#include "reserved_list.hpp"

namespace nb = nanobind;
using namespace nb::literals;

// Nodes with chunks, or with amounts; a list of devices is an amount too.
#define SCHEDLAB_NODES "typing.Sequence[tuple[int, int | typing.Mapping[str, int | typing.Sequence[int]]]] | None"

namespace schedlab {

namespace {

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
  const bool started = view->start_as(slot, shape.value_or(job.facts().shape), grant ? &*grant : nullptr, priority,
                                      backfilled ? Backfilled(*backfilled) : Backfilled());
  if (started) view->started_by_python();
  return started;
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

void bind_view(nb::module_ &module) {
  nb::class_<View> view(module, "View", nb::dynamic_attr(),
                        "What a policy sees, and how it decides. Decisions take effect at once.");
  view.def_prop_ro("now", [](const ViewPtr &view) { return live(view).now(); })
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
          "neighbours",
          [](const ViewPtr &view, int node) {
            if (node < 0 || node >= live(view).machine().nodes()) throw nb::index_error("no such node");
            return jobs_of(view, view->jobs_on(node));
          },
          "node"_a, "Whom a job would have beside it there: the same as `jobs_on`.")
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
            live(view);
            return !job.coming() && view->place(job.slot(), shares);
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
          "complete", [](const ViewPtr &view, const JobView &job) { view->complete(subject(view, job)); }, "job"_a,
          "A running job leaves as completed: its work is done, whatever is left of its runtime.")
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
      .def_rw("owner", &View::owner, "whose turn it is: factors of rates that are set now are his");
  bind_submit(view);
  view.def(
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
          "gives_reasons", [](const ViewPtr &view) { return live(view).gives_reasons(); },
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
  module.def(
      "set_deep_queue", [](std::size_t reservations) { return std::exchange(schedlab::deep_queue, reservations); },
      "reservations"_a,
      "From how many reservations on conservative backfilling moves many at once; gives what it was. For tests: "
      "schedules are the same.");
}
