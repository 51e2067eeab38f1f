// Binds the engine: Python gives batches of columns, takes batches of columns, and may decide.
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <chrono>

#include "arrays.hpp"
#include "bind_view.hpp"
#include "job_view.hpp"
#include "native_policy.hpp"
#include "node_names.hpp"
#include "python_parts.hpp"
#include "without_python.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace schedlab {

namespace {

template <class T>
using Input = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// The engine's host in Python: an iterator of job batches, and what is to be done with results.
class PythonHost final : public Host {
 public:
  nb::object batches, write, progress, within, more, request_known, name_known, referrer;
  double tick_seconds = 0.1;

  bool refill(JobColumns &columns) override {
    nb::gil_scoped_acquire held;
    do {
      nb::object next = nb::steal(PyIter_Next(batches.ptr()));
      if (!next.is_valid()) {
        if (PyErr_Occurred()) throw nb::python_error();
        batch_.reset();
        return false;
      }
      batch_ = nb::cast<nb::dict>(next);
      columns = {};
      const auto id = nb::cast<Input<std::int64_t>>(batch_["id"]);
      columns.size = id.shape(0);
      columns.id = id.data(), columns.count = column<std::int64_t>("count");
      columns.submit = column<double>("submit"), columns.runtime = column<double>("runtime");
      columns.limit = column<double>("limit"), columns.cancel = column<double>("cancel");
      columns.request = column<std::int32_t>("request"), columns.user = column<std::int32_t>("user");
      columns.group = column<std::int32_t>("group"), columns.queue = column<std::int32_t>("queue");
      columns.partition = column<std::int32_t>("partition");
      columns.application = optional<std::int32_t>("application");
      columns.rank_cores = optional<std::int64_t>("rank_cores");
      if (columns.rank_cores) columns.rank_limit = column<double>("rank_limit");
      columns.key[0] = optional<double>("order"), columns.key[1] = optional<double>("scan");
      columns.shape_end = optional<std::int64_t>("shape_end");
      if (columns.shape_end) {
        columns.shape_count = column<std::int64_t>("shape_count");
        columns.shape_request = column<std::int32_t>("shape_request");
        columns.shape_runtime = column<double>("shape_runtime"), columns.shape_limit = column<double>("shape_limit");
        columns.malleable = column<std::uint8_t>("malleable"), columns.interval = column<double>("interval");
      }
      columns.before_end = optional<std::int64_t>("before_end");
      if (columns.before_end) {
        columns.before_job = column<std::int64_t>("before_job");
        columns.before_condition = column<std::uint8_t>("before_condition");
        columns.before_delay = column<double>("before_delay"), columns.before_any = column<std::uint8_t>("before_any");
        columns.last_referrer = column<std::int64_t>("last_referrer");
      }
      columns.attachment_end = optional<std::int64_t>("attachment_end");
      if (columns.attachment_end)
        columns.attachment_text = reinterpret_cast<const char *>(column<std::uint8_t>("attachment_text"));
    } while (columns.size == 0);
    return true;
  }

  void take(Batch &&rows) override {
    nb::gil_scoped_acquire held;
    nb::dict batch;
    for (const Batch *part = &rows; part; part = part->details())
      for (const Batch::Laid &column : part->columns()) batch[column.name.c_str()] = to_array(column, *part);
    if (const auto *texts = rows.texts()) batch["texts"] = nb::cast(*texts);
    write(rows.table(), batch);
  }

  std::string more_may_come() override {
    nb::gil_scoped_acquire held;
    return more.is_none() ? std::string() : nb::cast<std::string>(more());
  }
  std::int64_t last_referrer(std::int64_t id) override {
    if (referrer.is_none()) return -1;
    nb::gil_scoped_acquire held;
    return nb::cast<std::int64_t>(referrer(id));
  }
  void know_request(const std::string &text) override {
    nb::gil_scoped_acquire held;
    request_known(text);
  }
  void know_name(std::int64_t id, const std::string &name) override {
    nb::gil_scoped_acquire held;
    name_known(id, name);
  }

  void forget() {
    for (nb::object *held : {&batches, &write, &progress, &within, &more, &request_known, &name_known, &referrer})
      held->reset();
    batch_.reset();
  }

  void tick(Time now, std::int64_t ended) override {
    const auto clock = Clock::now();
    if (clock - last_tick_ < std::chrono::duration<double>(tick_seconds)) return;
    last_tick_ = clock;
    tell(progress, now, ended);
  }

  void tick_within(Time now, std::int64_t ended) override {
    constexpr auto kLongest = std::chrono::milliseconds(200);  // without a sign of life, and deaf to signals
    if (Clock::now() - last_sign_ < kLongest) return;
    tell(within, now, ended);
  }

 private:
  using Clock = std::chrono::steady_clock;

  void tell(const nb::object &callback, Time now, std::int64_t ended) {
    nb::gil_scoped_acquire held;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (!callback.is_none()) callback(now, ended);
    last_sign_ = Clock::now();  // it may have waited, for a pace
  }

  template <class T>
  const T *column(const char *name) {
    return nb::cast<Input<T>>(batch_[name]).data();
  }
  template <class T>
  const T *optional(const char *name) {
    return batch_.contains(name) ? column<T>(name) : nullptr;
  }

  nb::dict batch_;  // keeps the columns alive
  Clock::time_point last_tick_ = Clock::now(), last_sign_ = last_tick_;
};

// Its name, the unit of its amounts, its limit (none: unlimited), and what nodes of each group take: without jobs in
// each mode, with jobs, and for each core in use.
using RatesChoice = std::tuple<std::array<Amount, kNodeModes>, Amount, Amount>;
using BudgetChoice = std::tuple<std::string, double, std::optional<Amount>, std::vector<RatesChoice>>;
// Its name, estimate(job), and ended(job, runtime) or None.
using EstimatorChoice = std::tuple<std::string, nb::object, nb::object>;
using WindowChoice = std::tuple<std::vector<int>, double, double, std::vector<std::int32_t>, std::string>;

// An engine with its host and its policy, as Python holds it.
class Simulation {
 public:
  Simulation(const std::vector<std::string> &resources, const std::vector<std::pair<int, std::vector<Amount>>> &groups,
             const std::string &placement, std::uint64_t placement_seed, nb::object place, bool exclusive,
             const std::string &estimate, double estimate_factor, const std::optional<EstimatorChoice> &estimator,
             bool pass_per_event, bool kill_at_limit, const std::vector<WindowChoice> &calendar,
             const std::optional<BudgetChoice> &budget, bool keep_history, bool follow_rates, bool validate,
             bool repeat_workload, bool follow_dependencies, double threshold) {
    std::vector<Group> node_groups;
    for (const auto &[count, amounts] : groups) node_groups.push_back({count, amounts});
    const Options options{.pass_per_event = pass_per_event,
                          .kill_at_limit = kill_at_limit,
                          .exclusive = exclusive,
                          .validate = validate,
                          .repeat_workload = repeat_workload,
                          .keep_history = keep_history,
                          .follow_dependencies = follow_dependencies,
                          .follow_rates = follow_rates};
    std::vector<Window> windows;
    for (const auto &[nodes, from, until, users, owner] : calendar)
      windows.push_back({nodes, from, until, users, owner});
    std::unique_ptr<Estimator> chosen;
    PythonEstimator *in_python = nullptr;
    if (!estimator) {
      chosen = Estimator::make(estimate, estimate_factor, kill_at_limit);
    } else {
      const auto &[name, ask, tell] = *estimator;
      auto made = std::make_unique<PythonEstimator>(name, ask, tell);
      in_python = made.get();
      chosen = std::move(made);
    }
    engine_ = std::make_shared<Engine>(Machine(resources, std::move(node_groups), make(budget)),
                                       Placement(placement, placement_seed, chooser(place), threshold),
                                       std::move(chosen), options, std::move(windows), host_);
    view_ = nb::cast(engine_->view());
    view_.attr("submit") = short_submit(view_);
    view_.attr("_data") = nb::dict();
    view_.attr("_cluster") = cluster_view(engine_->view());
    if (in_python) in_python->set_view(engine_->view());
  }

  void add_request(std::vector<Amount> chunk, Amount per_node_min, Amount per_node_max, bool exclusive, bool spread,
                   std::vector<bool> groups, int reason) {
    Request request;
    request.chunk = std::move(chunk);
    request.per_node_min = per_node_min, request.per_node_max = per_node_max;
    request.exclusive = exclusive, request.spread = spread;
    request.groups = std::move(groups);
    engine().add_request(std::move(request), static_cast<Reason>(reason));
  }

  nb::object view() const { return engine(), view_; }

  // A request that somebody asks for during the run: a run that is taken up again has to know it as soon.
  void note_request(const std::string &text) { engine().view()->note_request(text); }

  // With `decide` the decisions are made in Python, by decide(view, events); else by the native policy.
  void prepare(NativePolicy &native, nb::object decide, nb::object recall, nb::object before, nb::object after,
               nb::object entered, nb::object woken, const std::vector<std::string> &wakers, nb::object allows,
               nb::object batches, nb::object write, nb::object progress, bool watched, nb::object within,
               nb::object more_may_come, nb::object request_number, nb::object request_known, nb::object name_known,
               nb::object last_referrer, nb::object given_order, nb::object given_scan) {
    host_.batches = nb::iter(batches);
    host_.write = write, host_.progress = progress, host_.within = within;
    host_.more = more_may_come, host_.request_known = request_known, host_.name_known = name_known;
    host_.referrer = last_referrer;
    view_.attr("_request_number") = request_number, view_.attr("_know_name") = name_known;
    engine().set_keys(keys(given_order), keys(given_scan));
    native.set_view(engine().view());
    engine().view()->wakers = wakers;
    if (decide.is_none() && before.is_none() && after.is_none() && woken.is_none()) {
      decider_ = native.release();
    } else {
      auto hosted = std::make_unique<HostedDecider>(native.release(), decide, before, entered, after, woken, recall);
      hosted->set_view(engine().view());
      decider_ = std::move(hosted);
      const bool watching = !before.is_none() || !after.is_none();
      if (watching || !decide.is_none()) engine().tick_every(1);  // they are slow
      if (watching) engine().track_moves();
    }
    if (!allows.is_none()) {
      gate_ = std::make_unique<PythonGate>(allows, engine().view());
      engine().set_gate(gate_.get());
    }
    engine().prepare(watched || decider_->needs_estimated_ends(), decider_->usage_half_life());
  }

  double run() {
    const auto begin = std::chrono::steady_clock::now();
    {
      const WithoutPython released;
      engine().run(*decider_);
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  // The same step by step.
  double next_event() { return engine().next_time(); }

  bool advance() {
    if (passing_) engine().close_pass(*decider_);
    passing_ = engine().advance();
    if (passing_) engine().open_pass(*decider_);
    return passing_;
  }
  void lead(Time time) { engine().lead(time); }
  std::vector<Time> take_wakes() { return engine().take_wakes(); }
  nb::list events() const { return event_list(engine().view(), engine().events()); }
  // The end, or as far as it got.
  void finish() { engine().finish(); }
  void set_ticks(int instants, double seconds) {
    engine().tick_every(instants);
    host_.tick_seconds = seconds;
  }

  void measure() { engine().measure(); }
  void keep_places() { engine().keep_places(); }
  void use_own_amounts() { engine().use_own_amounts(); }
  void give_reasons() { engine().give_reasons(); }

  void set_pairs(const std::shared_ptr<Pairs> &pairs) { engine().set_pairs(pairs); }
  void stop_at(Time time) { engine().stop_at(time); }
  void add_execution(const std::shared_ptr<Execution> &model) { engine().add_execution(model); }
  void add_python_execution(const std::string &name, nb::object work, nb::object rate) {
    auto model = std::make_shared<PythonExecution>(name, work, rate);
    model->set_view(engine().view());
    engine().add_execution(std::move(model));
  }

  // Taking up a run again.
  void keep_journal() { engine().keep_journal(); }
  nb::bytes take_journal() {
    const std::string bytes = engine().take_journal();
    return nb::bytes(bytes.data(), bytes.size());
  }
  nb::bytes snapshot() const {
    const std::string bytes = engine().snapshot(*decider_);
    return nb::bytes(bytes.data(), bytes.size());
  }
  std::int64_t passes() const { return engine().passes(); }
  std::size_t remembered() const { return engine().remembered(); }
  void replay(nb::bytes journal, std::int64_t passes, nb::bytes snapshot) {
    engine().replay({journal.c_str(), journal.size()}, passes, {snapshot.c_str(), snapshot.size()});
  }

  std::int64_t last_job() const { return engine().view()->last_job; }

  // Over: what Python gave may point back to us. The view says so to whoever still holds it.
  void forget() {
    host_.forget();
    if (engine_) {
      engine_->view()->retire();
      view_.attr("_request_number") = view_.attr("_know_name") = nb::none();
      nb::delattr(view_, "submit");
    }
    decider_.reset(), gate_.reset(), view_.reset(), engine_.reset();
  }

 private:
  static std::unique_ptr<Budget> make(const std::optional<BudgetChoice> &choice) {
    if (!choice) return nullptr;
    const auto &[name, unit, limit, rates] = *choice;
    auto budget = std::make_unique<Budget>();
    budget->name = name, budget->unit = unit;
    if (limit) budget->limit = *limit;
    for (const auto &[idle, active, per_core] : rates) budget->rates.push_back({idle, active, per_core});
    return budget;
  }

  std::shared_ptr<KeySource> keys(const nb::object &order) const {
    if (order.is_none()) return nullptr;
    auto made = std::make_shared<PythonKeys>(order, false);
    made->set_view(engine().view());
    return made;
  }

  Placement::Chooser chooser(const nb::object &place) {
    if (place.is_none()) return {};
    return [this, place](Slot slot, Shares &shares) {
      nb::gil_scoped_acquire held;
      const std::shared_ptr<View> view = engine_->view();
      view->last_job = view->job(slot).id;
      return read_nodes(place(JobView(view, slot), nb::getattr(view_, "cluster")), shares);
    };
  }

  Engine &engine() const {
    if (!engine_) throw DecisionError("the simulation is over");
    return *engine_;
  }

  PythonHost host_;
  std::shared_ptr<Engine> engine_;
  nb::object view_;  // held, so that it is the same object each time
  std::shared_ptr<Decider> decider_;
  std::unique_ptr<Gate> gate_;
  bool passing_ = false;
};

std::pair<nb::object, nb::object> fold_nodes(const NodeNames &names, Input<std::int32_t> allocated,
                                             Input<std::int32_t> node, Input<std::int32_t> chunks) {
  std::vector<std::int32_t> ends{0};
  std::string text;
  std::size_t first = 0;
  for (std::size_t row = 0; row < allocated.shape(0); ++row) {
    const auto end = static_cast<std::size_t>(allocated.data()[row]);
    names.fold({node.data() + first, end - first}, {chunks.data() + first, end - first}, text);
    ends.push_back(static_cast<std::int32_t>(text.size()));
    first = end;
  }
  return {to_array(std::move(ends)), to_array(std::vector<std::uint8_t>(text.begin(), text.end()))};
}

}  // namespace

}  // namespace schedlab

void bind_engine(nb::module_ &module) {
  using namespace schedlab;

  // Policies catch it as sl.DecisionError.
  nb::exception<DecisionError>(module, "DecisionError",
                               nb::module_::import_("schedlab.model.errors").attr("DecisionError"));
  nb::exception<InvariantError>(module, "InvariantError");

  nb::class_<NativePolicy>(module, "NativePolicy", "A built-in policy.")
      .def(
          "__init__",
          [](NativePolicy *self, const std::string &backfill, const OrderChoice &order,
             const std::optional<OrderChoice> &scan, std::int64_t depth, int reservations, Time every,
             Time backfill_every, Time keys_every, Time half_life) {
            new (self) NativePolicy(backfill, order, scan, depth, reservations, {every, backfill_every, keys_every},
                                    half_life);
          },
          nb::kw_only(), "backfill"_a, "order"_a, "scan"_a.none(), "depth"_a, "reservations"_a, "every"_a = 0.0,
          "backfill_every"_a = 0.0, "keys_every"_a = 0.0, "half_life"_a = 0.0)
      .def("decide", &NativePolicy::decide, "view"_a, "What it would do now, done.")
      .def(
          "plan",
          [](NativePolicy &policy, const std::shared_ptr<View> &view) {
            nb::list told;
            for (const Intention &each : policy.intentions(view)) {
              std::vector<std::pair<int, int>> nodes;
              for (const Share &share : each.shares) nodes.emplace_back(share.node, share.chunks);
              const bool reserved = each.start < kNever;
              told.append(nb::make_tuple(JobView(view, each.slot), reserved ? nb::cast(each.start) : nb::none(), nodes,
                                         reserved && each.spare >= 0 ? nb::cast(each.spare) : nb::none()));
            }
            return told;
          },
          "view"_a,
          nb::sig("def plan(self, view: View) -> list[tuple[Job, float | None, list[tuple[int, int]], int | None]]"),
          "(job, start, nodes, spare) of everybody who waits, in its order, after it has decided: the start of the "
          "reservation, if the job has one; (node, chunks), empty where the plan is a matter of counting; the cores "
          "that "
          "are left over then.")
      .def("memory", &NativePolicy::memory, "What it remembers beyond the marks on jobs.")
      .def("recall", &NativePolicy::recall, "view"_a, "memory"_a, "Finds its place again in a run that is taken up.");

  nb::class_<Simulation>(module, "Simulation", nb::is_weak_referenceable(),
                         "One run: a machine, the rules of time, and how jobs are placed.")
      .def(nb::init<const std::vector<std::string> &, const std::vector<std::pair<int, std::vector<Amount>>> &,
                    const std::string &, std::uint64_t, nb::object, bool, const std::string &, double,
                    const std::optional<EstimatorChoice> &, bool, bool, const std::vector<WindowChoice> &,
                    const std::optional<BudgetChoice> &, bool, bool, bool, bool, bool, double>(),
           nb::kw_only(), "resources"_a, "groups"_a, "placement"_a, "placement_seed"_a, "place"_a.none(), "exclusive"_a,
           "estimate"_a, "estimate_factor"_a, "estimator"_a.none(), "pass_per_event"_a, "kill_at_limit"_a, "calendar"_a,
           "budget"_a.none(), "keep_history"_a, "follow_rates"_a, "validate"_a, "repeat_workload"_a,
           "follow_dependencies"_a, "threshold"_a = 0.0)
      .def("add_request", &Simulation::add_request, nb::kw_only(), "chunk"_a, "per_node_min"_a, "per_node_max"_a,
           "exclusive"_a, "spread"_a = false, "groups"_a, "reason"_a,
           "Makes the next request known; jobs point to requests by their number. A reason > 0 rejects its jobs.")
      .def_prop_ro("view", &Simulation::view, nb::sig("def view(self) -> View"))
      .def("prepare", &Simulation::prepare, nb::kw_only(), "native"_a, "decide"_a.none(), "recall"_a.none(),
           "before"_a.none(), "after"_a.none(), "entered"_a.none() = nb::none(), "woken"_a.none() = nb::none(),
           "wakers"_a = std::vector<std::string>(), "allows"_a.none(), "batches"_a, "write"_a, "progress"_a.none(),
           "watched"_a, "within"_a.none() = nb::none(), "more_may_come"_a.none() = nb::none(),
           "request_number"_a.none() = nb::none(), "request_known"_a.none() = nb::none(),
           "name_known"_a.none() = nb::none(), "last_referrer"_a.none() = nb::none(),
           "given_order"_a.none() = nb::none(), "given_scan"_a.none() = nb::none(),
           "Who decides, who looks on, and where jobs come from and results go. `entered` is told of jobs that joined "
           "the queue because of what was done in `before`. `progress` is told at the end of an instant, `within` in "
           "the middle of a slow pass, when nothing may be looked at. `more_may_come()` says who expects more jobs "
           "when nothing is left to happen, or nothing; the others are for jobs that are submitted during the run: "
           "`request_number(request)`, `request_known(text)` and `name_known(id, name)` of a run that is taken up "
           "again, and the orders that the batches have keys of.")
      .def("note_request", &Simulation::note_request, "text"_a,
           "A request that became known during the run, for one that takes it up again.")
      .def("run", &Simulation::run, "Simulates the whole workload; returns the seconds it took.")
      .def("advance", &Simulation::advance, "Goes on to the next pass, step by step; False when it is over.")
      .def("lead", &Simulation::lead, "time"_a,
           "Step by step, where another world leads: time passes until then, and `advance` does not go beyond it. What "
           "is done to jobs and nodes before `advance` is told in its first pass.")
      .def("take_wakes", &Simulation::take_wakes,
           "Of one that is led: the times of the wake-ups that were asked for since this was last asked.")
      .def("next_event", &Simulation::next_event,
           "When something happens next, as things are; infinity if nothing will. It knows the future.")
      .def("events", &Simulation::events, nb::sig("def events(self) -> list[tuple[str, Job | int | None]]"),
           "What is told in this pass.")
      .def("finish", &Simulation::finish, "Hands over what is left, and the jobs that are still there as they are.")
      .def("forget", &Simulation::forget)
      .def("set_ticks", &Simulation::set_ticks, "instants"_a, "seconds"_a,
           "How often progress is told: every so many instants, but no more often than that.")
      .def("keep_places", &Simulation::keep_places,
           "Before `run`: tell what every job had on each node, not only of those that were granted amounts.")
      .def("use_own_amounts", &Simulation::use_own_amounts,
           "Before any request is known: whoever decides may grant less than jobs ask for, and no job is rejected for "
           "its "
           "size.")
      .def("set_pairs", &Simulation::set_pairs, "pairs"_a,
           "Before `run`: how fast applications run beside one another.")
      .def("stop_at", &Simulation::stop_at, "time"_a, "Before `run`: what happens later does not happen.")
      .def("add_execution", &Simulation::add_execution, "model"_a, "Before `run`: how placed jobs fare.")
      .def("add_python_execution", &Simulation::add_python_execution, "name"_a, "work"_a.none(), "rate"_a.none(),
           "The same in Python: work(view, job, nodes) and rate(view, job, neighbours), or None.")
      .def("measure", &Simulation::measure, "Before `run`: write down what each decision costs.")
      .def("give_reasons", &Simulation::give_reasons, "Before `run`: write down why jobs wait.")
      .def("keep_journal", &Simulation::keep_journal, "From now on, writes down what is decided.")
      .def("take_journal", &Simulation::take_journal, "What was decided since it was last taken.")
      .def("snapshot", &Simulation::snapshot, "At the end of an instant: what else a resumed run has to know.")
      .def_prop_ro("passes", &Simulation::passes, "How many passes there were, less one.")
      .def_prop_ro("remembered", &Simulation::remembered,
                   "How many jobs are remembered because others refer to them, or will.")
      .def("replay", &Simulation::replay, "journal"_a, "passes"_a, "snapshot"_a,
           "Before `run`: do what was decided once more, without asking anybody, up to that pass.")
      .def_prop_ro("last_job", &Simulation::last_job, "The id of the job that was last dealt with.");

  nb::class_<NodeNames>(module, "NodeNames", "Writes allocations as node-set strings.")
      .def(nb::init<const std::vector<std::string> &>(), "names"_a)
      .def("fold", &fold_nodes, "allocated"_a, "node"_a, "chunks"_a,
           "The strings as Arrow buffers: where each one ends (int32, one more than rows), and the characters.");
}
