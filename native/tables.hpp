// Columns in, columns out: how jobs enter the engine and how results leave it, a batch at a time.
#pragma once

#include <string>

#include "columns.hpp"
#include "types.hpp"

namespace schedlab {

// A batch of the workload; the memory belongs to the host until it gives the next one.
struct JobColumns {
  std::size_t size = 0;
  const std::int64_t *id, *count;
  const double *submit, *runtime, *limit, *cancel;
  const std::int32_t *request, *user, *group, *queue, *partition;
  const std::int32_t *application = nullptr;  // rows of the heatmap; null if there is none
  const std::int64_t *rank_cores = nullptr;   // as what jobs are ranked in queues; null: as themselves
  const double *rank_limit;
  const double *key[2] = {
      nullptr, nullptr};  // places in the queue and among backfill candidates that the host has computed; null if not

  // The other shapes that jobs may have, where some may: those of job i are from shape_end[i - 1] to shape_end[i].
  const std::int64_t *shape_end = nullptr, *shape_count;
  const std::int32_t *shape_request;
  const double *shape_runtime, *shape_limit;
  const std::uint8_t *malleable;
  const double *interval;

  // The jobs to wait for, where dependencies are followed and there are any: those of job i are from before_end[i - 1]
  // to before_end[i]. `last_referrer` is the position in the log of the last job that refers to this one; -1 if none.
  const std::int64_t *before_end = nullptr, *before_job, *last_referrer;
  const std::uint8_t *before_condition, *before_any;
  const double *before_delay;

  // What jobs carry along, where somebody asks for it: JSON texts, that of job i from attachment_end[i - 1] on.
  const std::int64_t *attachment_end = nullptr;
  const char *attachment_text;
};

// Tables of results. Each has a struct that lists its columns with the names by which the host knows them (there they
// get their types in files, and their meaning: src/schedlab/model/tables.py).

// Which nodes the jobs of a batch had, one job after the other.
struct AllocationRows : Batch {
  Column<std::int32_t> node, chunks;

  AllocationRows(int number, std::size_t nodes) : AllocationRows(number, nodes, usual_capacity(number)) {}
  AllocationRows(int number, std::size_t nodes, std::size_t jobs)
      : Batch("allocations", number, std::max(4 * jobs, nodes)) {
    lay_out({{"node", node}, {"chunks", chunks}});
  }
  // Where these end.
  std::int32_t add(const Shares &shares) {
    std::size_t row = new_rows(shares.size());
    for (const Share &share : shares) node[row] = share.node, chunks[row] = share.chunks, ++row;
    return static_cast<std::int32_t>(row);
  }
};

// What the rows of a run tell.
struct RowContent {
  bool workload;      // of a job, also what the workload says; otherwise the host looks there, by `sequence`
  std::size_t nodes;  // the most that a job can have
  bool applications = false;
  // Rows that repeat the workload go to files: batches there need not be large, and two or three are held at a time.
  std::size_t capacity(int number) const {
    return workload ? std::min(Batch::usual_capacity(number), kLargestBatch / 4) : Batch::usual_capacity(number);
  }
};

// Jobs that have left, in the order of leaving.
struct JobRows : Batch {
  Column<std::int64_t> sequence, cores;
  Column<double> eligible, start, end, estimate, priority;
  Column<std::uint8_t> state, reason, backfilled;
  Column<std::int32_t> allocated;  // where its nodes end in `allocations`
  AllocationRows allocations;

  RowContent content;
  Column<std::int64_t> id, count;
  Column<std::int32_t> request, user, group, queue, partition, application;
  Column<double> submit, runtime, limit;

  JobRows(int number, RowContent wanted)
      : Batch("jobs", number, wanted.capacity(number)),
        allocations(number, wanted.nodes, wanted.capacity(number)),
        content(wanted) {
    std::vector<Named> named{
        {"sequence", sequence}, {"cores", cores},         {"eligible", eligible},    {"start", start},
        {"end", end},           {"estimate", estimate},   {"priority", priority},    {"state", state},
        {"reason", reason},     {"allocated", allocated}, {"backfilled", backfilled}};
    if (content.workload)
      named.insert(named.end(), {{"id", id},
                                 {"count", count},
                                 {"request", request},
                                 {"user", user},
                                 {"group", group},
                                 {"queue", queue},
                                 {"partition", partition},
                                 {"submit", submit},
                                 {"runtime", runtime},
                                 {"limit", limit}});
    if (content.applications) named.push_back({"application", application});
    lay_out(named);
  }
  const Batch *details() const override { return &allocations; }
  bool has_room(const Shares &shares) const { return room() > 0 && allocations.room() >= shares.size(); }
};

// How a stretch of a job's life ended. Jobs that simply ran from start to end have no such stretches.
enum class PieceEnd : std::uint8_t { Completed, Killed, Requeued, Suspended, Reshaped, Unfinished };

// Stretches during which a job had the same nodes.
struct PieceRows : Batch {
  Column<std::int64_t> sequence, id, cores, count;
  Column<std::int32_t> request;
  Column<double> begin, end, work, done;  // `work`: what was left to do at the beginning; `done`: what of it was done
  Column<double> whole;                   // the work of the whole job there
  Column<double> expected_end;            // as believed when the job took these nodes
  Column<std::uint8_t> how, reason;
  Column<std::int32_t> allocated;
  AllocationRows allocations;

  PieceRows(int number, std::size_t nodes) : Batch("pieces", number), allocations(number, nodes) {
    lay_out({{"sequence", sequence},
             {"id", id},
             {"cores", cores},
             {"count", count},
             {"request", request},
             {"begin", begin},
             {"end", end},
             {"work", work},
             {"done", done},
             {"whole", whole},
             {"expected_end", expected_end},
             {"how", how},
             {"reason", reason},
             {"allocated", allocated}});
  }
  const Batch *details() const override { return &allocations; }
  bool has_room(const Shares &shares) const { return room() > 0 && allocations.room() >= shares.size(); }
};

// Single devices of places, one place after the other.
struct DeviceRows : Batch {
  Column<std::int32_t> resource, index;

  DeviceRows(int number, std::size_t least) : Batch("devices", number, std::max(usual_capacity(number), least)) {
    lay_out({{"device_resource", resource}, {"device", index}});
  }
};

// What a job had on a node, for one stay there.
struct PlaceRows : Batch {
  Column<std::int64_t> sequence, id;
  Column<std::int32_t> node, chunks;
  Column<double> from, until;
  std::vector<Column<std::int64_t>> amounts;  // of each resource
  Column<std::int32_t> devices_end;           // where its devices end in `devices`
  DeviceRows devices;

  PlaceRows(int number, const std::vector<std::string> &resources, std::size_t most_devices)
      : Batch("places", number), amounts(resources.size()), devices(number, most_devices) {
    std::vector<Named> named{{"sequence", sequence},      {"id", id},     {"node", node},
                             {"chunks", chunks},          {"from", from}, {"until", until},
                             {"devices_end", devices_end}};
    for (std::size_t r = 0; r < resources.size(); ++r) named.emplace_back(resources[r], amounts[r]);
    lay_out(named);
  }
  const Batch *details() const override { return &devices; }
};

// Whom jobs had to wait for, in the order of their submission.
struct PredecessorRows : Batch {
  Column<std::int64_t> sequence, id, predecessor;
  Column<std::uint8_t> condition, any, known;  // `known`: one that is not has no say
  Column<double> delay;

  explicit PredecessorRows(int number) : Batch("predecessors", number) {
    lay_out({{"sequence", sequence},
             {"id", id},
             {"predecessor", predecessor},
             {"condition", condition},
             {"delay", delay},
             {"any", any},
             {"known", known}});
  }
};

// Changes of rates: whose factor it is, and the job's rate from then on.
struct RateRows : Batch {
  Column<std::int64_t> sequence, id;
  Column<std::int32_t> piece, owner;  // the how-manieth piece of the job, from 0 on; a position in `owners`
  Column<double> time, factor, rate;
  std::vector<std::string> owners;  // their names, when the batch is handed over

  explicit RateRows(int number) : Batch("rates", number) {
    lay_out({{"sequence", sequence},
             {"id", id},
             {"piece", piece},
             {"owner", owner},
             {"time", time},
             {"factor", factor},
             {"rate", rate}});
  }
  const std::vector<std::string> *texts() const override { return &owners; }
};

// Jobs that were submitted during the run, in the order of entering; what else is known of them only where the rows of
// results do not tell it.
struct SubmittedRows : Batch {
  Column<std::int64_t> sequence, id, count;
  Column<double> called;
  Column<std::int32_t> request, user, group, queue, partition;
  Column<double> submit, runtime, limit, cancel;
  bool whole;

  SubmittedRows(int number, bool workload) : Batch("submitted", number), whole(workload) {
    std::vector<Named> named{{"sequence", sequence}, {"id", id}, {"called", called}};
    if (whole)
      named.insert(named.end(), {{"count", count},
                                 {"request", request},
                                 {"user", user},
                                 {"group", group},
                                 {"queue", queue},
                                 {"partition", partition},
                                 {"submit", submit},
                                 {"runtime", runtime},
                                 {"limit", limit},
                                 {"cancel", cancel}});
    lay_out(named);
  }
};

// Stretches during which a job was held by a decision.
struct HoldRows : Batch {
  Column<std::int64_t> sequence, id;
  Column<double> eligible, begin, end;  // `eligible`: since when it had been so

  explicit HoldRows(int number) : Batch("holds", number) {
    lay_out({{"sequence", sequence}, {"id", id}, {"eligible", eligible}, {"begin", begin}, {"end", end}});
  }
};

// Changes of nodes.
struct NodeRows : Batch {
  Column<double> time;
  Column<std::int32_t> node;
  Column<std::uint8_t> mode;

  explicit NodeRows(int number) : Batch("nodes", number) { lay_out({{"time", time}, {"node", node}, {"mode", mode}}); }
};

// The system after each instant at which something changed.
struct TimelineRows : Batch {
  Column<double> time;
  Column<std::int32_t> running, queued;
  Column<std::int64_t> used_cores, queued_cores;
  std::vector<Column<std::int64_t>> others;  // for each resource besides cores: what is used, what is asked for

  TimelineRows(int number, const std::vector<std::string> &resources)
      : Batch("timeline", number), others(2 * (resources.size() - 1)) {
    std::vector<Named> named{{"time", time},
                             {"running", running},
                             {"queued", queued},
                             {"used_cores", used_cores},
                             {"queued_cores", queued_cores}};
    for (std::size_t r = 1; r < resources.size(); ++r) {
      named.emplace_back("used_" + resources[r], others[2 * r - 2]);
      named.emplace_back("queued_" + resources[r], others[2 * r - 1]);
    }
    lay_out(named);
  }
};

// What waiting jobs waited for, and from when until when.
struct ReasonRows : Batch {
  Column<std::int64_t> sequence, id, who;  // who is in the way: the id of a job, -1 if nobody
  Column<double> from, until;
  Column<std::uint8_t> why;
  Column<std::int32_t> words;             // number of a text, -1 if there is none
  std::vector<std::string> texts_so_far;  // of the run

  explicit ReasonRows(int number) : Batch("reasons", number) {
    lay_out({{"sequence", sequence},
             {"id", id},
             {"from", from},
             {"until", until},
             {"why", why},
             {"who", who},
             {"words", words}});
  }
  const std::vector<std::string> *texts() const override { return &texts_so_far; }
};

// What each decision cost.
struct PassRows : Batch {
  Column<double> time;
  Column<std::int32_t> queued, running;                   // as the decider found them
  Column<float> decide_seconds, pass_seconds, memory_mb;  // NaN: the system does not tell

  explicit PassRows(int number) : Batch("performance", number) {
    lay_out({{"time", time},
             {"queued", queued},
             {"running", running},
             {"decide_seconds", decide_seconds},
             {"pass_seconds", pass_seconds},
             {"memory_mb", memory_mb}});
  }
};

// Whoever embeds the engine: gives jobs, takes results, is told of progress.
class Host {
 public:
  virtual ~Host() = default;
  virtual bool refill(JobColumns &columns) = 0;  // false when the workload is over
  virtual void take(Batch &&rows) = 0;           // of any table
  // Nothing is left to happen: whoever says that more jobs may come nevertheless; empty if nobody does.
  virtual std::string more_may_come() = 0;
  // The position in the log of the last job that refers to the one with this id; -1 if none does.
  virtual std::int64_t last_referrer(std::int64_t id) = 0;
  // In a run that is taken up again: a request, and the name of a job, that were given during the run.
  virtual void know_request(const std::string &text) = 0;
  virtual void know_name(std::int64_t id, const std::string &name) = 0;
  // Both look at the clock, and do something a few times a second; both may throw to stop the run. `tick` comes at the
  // end of an instant, when everything may be looked at; `tick_within` in the middle of a pass that takes its time,
  // when nothing may. An engine that was stopped there is good for nothing but being destroyed.
  virtual void tick(Time now, std::int64_t ended) = 0;
  virtual void tick_within(Time now, std::int64_t ended) = 0;
};

}  // namespace schedlab
