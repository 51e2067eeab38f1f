// The protocol between the engine and whoever decides: events, the view, deciders.
#pragma once

#include <exception>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "block_list.hpp"
#include "job.hpp"
#include "journal.hpp"
#include "pairs.hpp"
#include "placement.hpp"
#include "reasons.hpp"
#include "submissions.hpp"
#include "tables.hpp"

namespace schedlab {

// What a decider is told. The job is still there to be looked at, even when it has just left.
struct Event {
  enum class Kind : std::uint8_t {
    Completed,
    Submitted,
    Cancelled,
    Corrected,
    Requeued,
    Point,  // a malleable job may change its shape now
    Closed,
    Opened,  // a node
    Woken,
    Held,  // a waiting job, by a decision
  };
  Kind kind;
  Slot slot;
  int node = -1;
};

// Nodes that are set aside for a time, known in advance (calendar.cpp).
struct Window {
  std::vector<int> nodes;  // in order
  Time from, until;
  std::vector<std::int32_t> users;  // whom it is set aside for
  std::string owner;                // who has set it aside
  // The one rule of the calendar: may a job not have these nodes that would have them from now until `end`?
  bool bars(const Job &job, Time now, Time end) const;
  bool allows(const Job &job) const;
  bool has(int node) const;
  std::string text() const;
};

// The estimated ends of running jobs, soonest first, with the cores they will give back.
struct EstimatedEnd {
  Time end;
  std::uint64_t order;  // of starting
  std::int32_t cores;
  Slot slot;
  bool before(const EstimatedEnd &other) const { return end != other.end ? end < other.end : order < other.order; }
  static EstimatedEnd of(const Job &job, Slot slot) {
    return {job.estimated_end, job.start_order, static_cast<std::int32_t>(job.allocated_cores), slot};
  }
};
struct CoresSum {
  Amount cores = 0;
  void add(const EstimatedEnd &e) { cores += e.cores; }
  bool remove(const EstimatedEnd &e) { return cores -= e.cores, true; }
};
using EstimatedEnds = BlockList<EstimatedEnd, CoresSum>;

// A job takes or leaves nodes: told to observers in the order in which it happened.
struct Move {
  Slot slot;
  bool takes;
  Shares shares;
};

// A job that has run, as its user's history tells it.
struct Finished {
  std::int64_t id, cores;
  Time submit, start, end, runtime, limit;
};

class Decider;
class Engine;
class Plan;
class Usage;

constexpr double kFastest = 1e9;           // a factor of a rate: a product of some of them is a number, too
constexpr const char *kPolicy = "policy";  // what whoever decides is called as an owner of factors of rates

// What a decider sees and may do. Decisions take effect at once; an impossible one is a DecisionError.
class View : public std::enable_shared_from_this<View> {
 public:
  explicit View(Engine &engine);
  ~View();

  // So many steps of a slow pass are done (see Engine::worked); it is stopped by an exception.
  void worked(std::int64_t steps) const;

  bool over() const { return engine_ == nullptr; }  // nothing may be asked any more
  void retire() { engine_ = nullptr; }
  std::shared_ptr<void> keep_alive() const;  // for memory of the engine's that somebody looks at
  std::int64_t last_job = -1;                // id of the job that a decider dealt with last, for error messages
  std::vector<std::string> node_names;       // for error messages, too
  std::vector<std::string> wakers;           // observers with a hook `woken`
  std::string owner = kPolicy;               // whose turn it is to decide: factors of rates are his
  std::string refusal;                       // who did not allow the last start that was tried; empty if nobody minded
  std::string refuser;                       // the name of the observer who did
  std::exception_ptr failure;                // of a submission, on its way to Python
  const Decider *native = nullptr;           // that a policy in Python builds on, once it has decided
  std::int32_t one_core = -1;                // number of the request that is nothing but that, once asked for
  std::string node_name(int node) const;

  Time now() const;
  std::span<const Event> events() const;
  const Job &job(Slot slot) const;
  Slot first_waiting() const;  // in order of eligibility; the next one is job(slot).next
  std::size_t waiting() const;
  const EstimatedEnds &estimated_ends() const;
  // All that come by then, and perhaps some of the later ones: who needs the soonest need not have all put in order.
  const EstimatedEnds &estimated_ends(Time until) const;
  const std::vector<Slot> &suspended() const;
  std::vector<Slot> held() const;  // by other jobs or by decisions, in the order of entering
  std::vector<Move> take_moves();  // since they were last taken
  NodeMode mode(int node) const;
  std::int64_t node_changes() const;  // so far
  const LiveCluster &cluster() const;
  const Machine &machine() const;
  const Placement &placement() const;
  const std::vector<Slot> &jobs_on(int node) const;  // in the order of starting
  std::vector<Slot> neighbours(Slot slot) const;     // the others on a running job's nodes, in the same order
  const Usage *usage() const;                        // null if nobody asked for it in time
  const Pairs *pairs() const;                        // null if there is no heatmap
  double total_work(Slot slot) const;  // of the whole job where it runs; of one that models are asked about, so far
  std::span<const Finished> history(std::int32_t user) const;
  // Grows whenever resources become free or a belief about a running job changes: without it, nothing that did not fit
  // fits.
  std::uint64_t changes() const;
  std::uint64_t interventions() const;  // grows when running jobs move otherwise than deciders are told

  // Where the placement would put it now; false if it does not fit.
  [[gnu::noinline]] bool place(Slot slot, Shares &shares) const;
  // Where a job that the plan puts on `shares` goes: there, or where a placement in Python wants it, if the plan has
  // room for it there. False if it cannot go anywhere now.
  bool place_beside(const Plan &plan, Slot slot, Shares &shares) const;
  bool has_room(const Job &job, const Shares &shares) const;
  // Does the machine's budget allow it there?
  bool affords(const Job &job, const Shares &shares, const Granted *granted = nullptr) const;
  const BudgetBooks *books();  // up to now; null if there is no budget

  bool has_calendar() const;
  bool plans_by_nodes() const;  // or is it enough to count cores?
  const std::vector<Window> &calendar() const;
  // When a job that took nodes now would leave them, as believed; of a running one, when it will.
  Time believed_end(const Job &job) const;
  bool restricted(const Job &job) const;  // is there any node that it may not have now because of the calendar?
  const Window *window_against(const Job &job, int node) const;  // what keeps it off the node now; null if nothing
  void restrict(NodeState &state, const Job &job, Time from, Time until) const;  // takes such nodes away
  std::vector<Time> usable_until(const Job &job) const;  // of each node: until when the job could have it; now if not
  bool opens_after_window(int node) const;

  [[noreturn]] void refuse(const char *what, Slot slot, const std::string &why) const;  // an impossible decision
  bool start(Slot slot, double priority = 0, Backfilled backfilled = {});               // false if it does not fit
  bool start_on(Slot slot, const Shares &shares, double priority = 0, Backfilled backfilled = {});
  // In another of its shapes; on these nodes, and with what is granted there, if they are given.
  bool start_as(Slot slot, std::int32_t shape, Grant *grant, double priority, Backfilled backfilled);
  void started_by_python();  // a native policy does not know of it
  void reject(Slot slot);
  void kill(Slot slot, Reason reason = Reason::ByDecision);
  void complete(Slot slot);  // a running job has done its work, whatever it was said to be
  // Back to the queue: so much of its work need not be done again, so much comes on top.
  void requeue(Slot slot, double saved, double cost, Reason reason = Reason::ByDecision);
  void suspend(Slot slot);  // off its nodes, its work kept
  bool resume(Slot slot, Grant *grant, double cost);
  bool reshape(Slot slot, std::int32_t shape, Grant *grant, double cost);
  // Of a running job: the owner's factor of its rate from now on. 1 is as in the workload, 0 stands still.
  void set_rate(Slot slot, double factor, std::string_view owner);
  std::map<std::string, double> factors(const Job &job) const;  // of its rate, by their owners' names
  // Jobs that are not of the workload (submissions.cpp): one, or many at once, whose ids these are.
  Submitted submit(const Submission &job, Baggage baggage = {});
  std::vector<std::int64_t> submit(std::vector<Submission> jobs, std::vector<Baggage> baggage);
  std::int64_t submitted() const;  // that have entered
  std::int64_t announced() const;  // and those that will
  Tickets &tickets() const;        // of those that were submitted one by one, for later
  const Job &look_ahead(const Announced &one) const;
  void withdraw(Slot slot);  // a job that waits or is held
  void withdraw_coming(std::int64_t ticket);
  void hold(Slot slot);     // a waiting one
  void release(Slot slot);  // one that `hold` has held
  void note_request(const std::string &text) { note(Act::KnowRequest, 0, 0, 0, 0, 0, {}, text); }
  void note_name(std::int64_t id, const std::string &name) { note(Act::KnowName, id, 0, 0, 0, 0, {}, name); }
  const char *asking() const;  // the question, while somebody is only asked: nothing may be done then; null if not

  void wake_at(Time time, std::int64_t waker = -1);  // the observer whose `woken` is to be called then
  std::int64_t waker() const;                        // whose turn it is; -1 if he has no such hook
  bool anybody_woken() const;
  std::vector<std::int64_t> take_woken();  // those who asked for this instant
  void close(int node, NodeMode mode);
  void open(int node);
  void touch();              // something that the engine does not know of may let jobs start now
  Job &annotate(Slot slot);  // for a native decider's own marks (key, reservation)

  // Reservations for deciders that keep no plan of their own. A job that holds one is protected until it starts or
  // leaves: `start` answers false for others that would delay it by their estimates.
  Time reserve(Slot slot);
  void unreserve(Slot slot);
  bool reserved(Slot slot) const;
  // What is free when: the running jobs until their estimated ends, and the reservations.
  const Plan &plan(const Job &job);

  // Why a job waits (reasons.cpp). What a decider says of a job holds until it says something else; empty takes it
  // back.
  bool gives_reasons() const;
  void explain(Slot slot, const std::string &why, std::int64_t who);
  void explained_by(const std::shared_ptr<Decider> &native);  // a policy that somebody else builds on
  // In a run that gives reasons: what keeps it from starting now, whoever decides; nothing if it fits.
  std::optional<WaitReason> obstacle(Slot slot) const;
  Why otherwise(Slot slot, WaitReason reason) const;  // this, unless an observer has refused its last start
  Why why(Slot slot);                                 // what the engine can tell

 private:
  friend class Engine;
  [[gnu::noinline]] bool begin(Slot slot, double priority, Backfilled backfilled);  // job.shares are chosen
  void note(Act act, std::int64_t who, double a = 0, double b = 0, std::int32_t shape = 0, std::uint8_t code = 0,
            const Shares &shares = {}, std::string_view extra = {});
  void note(Act act, std::int64_t who, double a, double b, std::int32_t shape, std::uint8_t code, const Shares &shares,
            const Granted *granted);
  void redo(const JournalReader &past);
  std::optional<WaitReason> find_obstacle(const Job &job) const;
  void drop_reservation(Slot slot);
  Slot delayed_reservation(Slot slot);
  void note_gate(Slot slot);
  void note_why(Slot slot, const Waited &waited);
  void redo_why(const JournalReader &past);
  void submit_again(const std::string &bytes);
  void check_submission(const Submission &job) const;
  void check_baggage(const Baggage &baggage) const;
  void change_shape(Slot slot, std::int32_t shape);
  void go_on(Slot slot, Grant grant, double cost, double whole);
  void move_to(Slot slot, std::int32_t shape, Grant grant, double cost, double whole);
  bool start_granted(Slot slot, Grant &grant, double priority, Backfilled backfilled);
  [[gnu::noinline]] bool start_beside_reservations(Slot slot, const Shares *nodes, double priority,
                                                   Backfilled backfilled, std::unique_ptr<Granted> granted = nullptr);
  void check_nodes(const Job &job, Slot slot, const Shares &shares, const char *what) const;
  void check_usable(const Job &job, Slot slot, const Shares &shares, const char *what) const;
  // May it have this? And how many chunks are these amounts?
  void check_grant(const Job &job, Slot slot, Grant &grant, const char *what) const;
  void check_amounts(const Job &job, Slot slot, int node, const Amount *amounts, const char *what) const;
  void check_devices(Slot slot, const Grant &grant, const char *what) const;
  std::string why_not(const Job &job, int node, const Window &window) const;
  Job &running_job(Slot slot, const char *what) const;
  void check_cost(double cost, Slot slot, const char *what) const;
  void intervene();
  void forget_refusal();                 // before a start is tried;
  void explain_refusal(const Job &job);  // after it was not possible: whether it was the budget

  Engine *engine_;
  Slot asked_about_ = kNoSlot;        // whose work models are asked for,
  double work_so_far_ = 0;            // and what those before have said
  mutable bool over_budget_ = false;  // since `forget_refusal`
  std::vector<Slot> reservations_;
  std::unique_ptr<Plan> plan_;
  bool plan_by_nodes_ = false;
  Time planned_at_ = 0;
  std::uint64_t planned_changes_ = 0, planned_starts_ = 0;
};

// What a policy has in mind for a waiting job.
struct Intention {
  Slot slot;
  Time start = kNever;  // of its reservation; never: it has none
  Shares shares = {};   // where that is, if it is known: plans by count know only that it fits
  Amount spare = -1;    // cores that nobody needs then, beside it; -1: that is not a matter of counting
};

class Decider {
 public:
  virtual ~Decider() = default;
  // For taking up a run again: what it remembers beyond the marks on jobs, and how it finds its place again between two
  // passes.
  virtual std::vector<double> memory() const { return {}; }
  virtual void recall(View &, std::span<const double>) {}
  virtual bool observed() const { return false; }         // are there observers, to be called before and after?
  virtual void before(View &, std::span<const Event>) {}  // may change the world, which adds events
  virtual void decide(View &view, std::span<const Event> events) = 0;
  virtual void after(View &) {}
  virtual bool needs_estimated_ends() const { return false; }
  virtual Time usage_half_life() const { return 0; }  // of what users have used; 0 if it does not look at that
  // Why jobs wait, where that was asked for: at the end of an instant, `review` once, then `why` of each waiting job.
  // One that does not explain leaves it to the native policy that it builds on, or else to the engine.
  virtual bool explains() const { return true; }
  // The job that all others wait for, whatever is free: what they wait for changes only with it. kNoSlot: each has a
  // reason of its own, and one that does not fit that it does not fit. Includes `review`.
  virtual Slot all_wait_for(View &) { return kNoSlot; }
  virtual void review(View &) {}
  virtual Why why(View &view, Slot slot);
  // For whoever wants to see the plan: all who wait, in its order. Between two passes; nothing if it keeps no queue.
  virtual std::vector<Intention> intentions(View &) { return {}; }
};

// May a job that fits start on these nodes? For rules that are no matter of resources or a budget.
class Gate {
 public:
  virtual ~Gate() = default;
  virtual bool allows(View &view, Slot slot, const Shares &shares) = 0;
};

}  // namespace schedlab
