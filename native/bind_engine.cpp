// Binds the engine: Python gives batches of columns, takes batches of columns, and may decide.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>

#include "arrays.hpp"
#include "node_names.hpp"
#include "policies.hpp"
#include "python_decider.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace schedlab {

namespace {

template <class T>
using Input = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// The engine's host in Python: an iterator of job batches, and what is to be done with results.
class PythonHost final : public Host {
 public:
  nb::object batches, write_jobs, write_timeline, progress;

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
      columns.id = column<std::int64_t>("id", columns), columns.count = column<std::int64_t>("count", columns);
    } while (columns.size == 0);
    columns.after = column<std::int64_t>("after", columns);
    columns.submit = column<double>("submit", columns), columns.runtime = column<double>("runtime", columns);
    columns.limit = column<double>("limit", columns), columns.cancel = column<double>("cancel", columns);
    columns.think = column<double>("think", columns);
    columns.request = column<std::int32_t>("request", columns), columns.user = column<std::int32_t>("user", columns);
    columns.group = column<std::int32_t>("group", columns), columns.queue = column<std::int32_t>("queue", columns);
    columns.partition = column<std::int32_t>("partition", columns);
    return true;
  }

  void take(JobRows &&rows) override {
    nb::gil_scoped_acquire held;
    nb::dict batch;
    const auto give = [&](const char *name, const auto &column) {
      if (column.data()) batch[name] = to_array(column, rows);
    };
    give("sequence", rows.sequence), give("id", rows.id);
    give("user", rows.user), give("group", rows.group), give("queue", rows.queue), give("partition", rows.partition);
    give("submit", rows.submit), give("eligible", rows.eligible), give("start", rows.start), give("end", rows.end);
    give("state", rows.state), give("reason", rows.reason);
    give("cores", rows.cores), give("count", rows.count), give("request", rows.request);
    give("runtime", rows.runtime), give("limit", rows.limit), give("estimate", rows.estimate);
    give("backfilled", rows.backfilled), give("priority", rows.priority);
    give("after", rows.after), give("think", rows.think);
    give("allocated", rows.allocated);
    batch["node"] = to_array(rows.allocations.node, rows.allocations);
    batch["chunks"] = to_array(rows.allocations.chunks, rows.allocations);
    write_jobs(batch);
  }

  void take(TimelineRows &&rows) override {
    nb::gil_scoped_acquire held;
    nb::dict batch;
    batch["time"] = to_array(rows.time, rows);
    batch["running"] = to_array(rows.running, rows);
    batch["queued"] = to_array(rows.queued, rows);
    batch["used_cores"] = to_array(rows.used_cores, rows);
    batch["queued_cores"] = to_array(rows.queued_cores, rows);
    write_timeline(batch);
  }

  void forget() { batches.reset(), write_jobs.reset(), write_timeline.reset(), progress.reset(), batch_.reset(); }

  void tick(Time now, std::int64_t ended) override {
    const auto clock = std::chrono::steady_clock::now();
    if (clock - last_tick_ < std::chrono::milliseconds(100)) return;
    last_tick_ = clock;
    nb::gil_scoped_acquire held;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (!progress.is_none()) progress(now, ended);
  }

 private:
  template <class T>
  const T *column(const char *name, JobColumns &columns) {
    const auto array = nb::cast<Input<T>>(batch_[name]);
    columns.size = array.shape(0);
    return array.data();
  }

  nb::dict batch_;  // keeps the columns alive
  std::chrono::steady_clock::time_point last_tick_ = std::chrono::steady_clock::now();
};

using Program = std::vector<std::pair<std::string, double>>;

// An engine with its host and its policy, as Python holds it.
class Simulation {
 public:
  Simulation(const std::vector<std::string> &resources, const std::vector<std::pair<int, std::vector<Amount>>> &groups,
             const std::string &backfill, const Program &order, const std::optional<Program> &scan, std::int64_t depth,
             int reservations, const std::string &placement, std::uint64_t placement_seed, bool exclusive,
             const std::string &estimate, double estimate_factor, bool pass_per_event, bool kill_at_limit,
             bool follow_dependencies, bool validate, bool repeat_workload) {
    std::vector<Group> node_groups;
    for (const auto &[count, amounts] : groups) node_groups.push_back({count, amounts});
    const Options options{pass_per_event, kill_at_limit, follow_dependencies, exclusive, validate, repeat_workload};
    engine_ = std::make_unique<Engine>(Machine(resources, std::move(node_groups)), Placement(placement, placement_seed),
                                       Estimator::make(estimate, estimate_factor, kill_at_limit), options, host_);
    std::optional<Order> scan_order;
    if (scan) scan_order.emplace(*scan);
    policy_ = make_policy({backfill, Order(order), scan_order, depth, reservations});
  }

  void add_request(std::vector<Amount> chunk, Amount per_node_min, Amount per_node_max, bool exclusive,
                   std::vector<bool> groups, int reason) {
    Shape shape;
    shape.chunk = std::move(chunk);
    shape.per_node_min = per_node_min, shape.per_node_max = per_node_max;
    shape.exclusive = exclusive;
    shape.groups = std::move(groups);
    engine_->add_shape(std::move(shape), static_cast<Reason>(reason));
  }

  // With `decide` the decisions are made in Python, by decide(view, events); the policy's placement still applies.
  double run(nb::object decide, nb::object batches, nb::object write_jobs, nb::object write_timeline,
             nb::object progress) {
    host_.batches = nb::iter(batches);
    host_.write_jobs = write_jobs, host_.write_timeline = write_timeline, host_.progress = progress;
    struct Forget {  // what Python gave may point back to us
      PythonHost &host;
      std::unique_ptr<Decider> &policy;
      ~Forget() { host.forget(), policy.reset(); }
    } forget{host_, policy_};
    if (!decide.is_none()) policy_ = std::make_unique<PythonDecider>(decide);
    const auto begin = std::chrono::steady_clock::now();
    {
      nb::gil_scoped_release released;
      engine_->run(*policy_);
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

 private:
  PythonHost host_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Decider> policy_;
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

  nb::exception<DecisionError>(module, "DecisionError");
  nb::exception<InvariantError>(module, "InvariantError");

  nb::class_<Simulation>(module, "Simulation", "One run: a machine, a policy and the rules of time.")
      .def(nb::init<const std::vector<std::string> &, const std::vector<std::pair<int, std::vector<Amount>>> &,
                    const std::string &, const Program &, const std::optional<Program> &, std::int64_t, int,
                    const std::string &, std::uint64_t, bool, const std::string &, double, bool, bool, bool, bool,
                    bool>(),
           nb::kw_only(), "resources"_a, "groups"_a, "backfill"_a, "order"_a, "scan"_a.none(), "depth"_a,
           "reservations"_a, "placement"_a, "placement_seed"_a, "exclusive"_a, "estimate"_a, "estimate_factor"_a,
           "pass_per_event"_a, "kill_at_limit"_a, "follow_dependencies"_a, "validate"_a, "repeat_workload"_a)
      .def("add_request", &Simulation::add_request, nb::kw_only(), "chunk"_a, "per_node_min"_a, "per_node_max"_a,
           "exclusive"_a, "groups"_a, "reason"_a,
           "Makes the next request known; jobs point to requests by their number. A reason > 0 rejects its jobs.")
      .def("run", &Simulation::run, nb::kw_only(), "decide"_a.none(), "batches"_a, "write_jobs"_a, "write_timeline"_a,
           "progress"_a.none(), "Simulates the whole workload; returns the seconds it took.");

  nb::class_<NodeNames>(module, "NodeNames", "Writes allocations as node-set strings.")
      .def(nb::init<const std::vector<std::string> &>(), "names"_a)
      .def("fold", &fold_nodes, "allocated"_a, "node"_a, "chunks"_a,
           "The strings as Arrow buffers: where each one ends (int32, one more than rows), and the characters.");
}
