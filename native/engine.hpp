// The engine: simulated time, the jobs, the cluster, and the one protocol by which deciders act on them.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <unordered_map>

#include "block_list.hpp"
#include "company.hpp"
#include "estimator.hpp"
#include "execution.hpp"
#include "heap.hpp"
#include "occupants.hpp"
#include "placement.hpp"
#include "tables.hpp"
#include "usage.hpp"
#include "view.hpp"

namespace schedlab {

struct Options {
  bool pass_per_event = false;
  bool kill_at_limit = true;
  bool exclusive = false;  // every job gets whole nodes
  bool validate = false;
  bool repeat_workload = true;       // in the rows of results
  bool keep_history = false;         // what finished jobs took, by user
  bool follow_dependencies = false;  // of the log: its jobs may refer to those that are submitted during the run
  bool own_amounts = false;          // the decider answers for what jobs get: it may grant less than they ask for
  bool follow_rates = false;         // estimated ends of running jobs change with their rates
  bool keep_rows = true;             // of jobs and of the timeline: false where nobody wants the results
};

class KeySource;

class Engine : public std::enable_shared_from_this<Engine> {
 public:
  Engine(Machine machine, Placement placement, std::unique_ptr<Estimator> estimator, Options options,
         std::vector<Window> calendar, Host &host);
  ~Engine();
  Engine(const Engine &) = delete;
  Engine &operator=(const Engine &) = delete;

  // Shapes must be known before a job of the workload points to them; `reason` makes its jobs be rejected.
  void add_request(Request request, Reason reason);

  void set_gate(Gate *gate) { gate_ = gate, by_itself_ = false; }
  // Places in the queue that the host computes for jobs of the workload before they enter: the same for others.
  void set_keys(std::shared_ptr<KeySource> order, std::shared_ptr<KeySource> scan) {
    key_sources_[0] = std::move(order), key_sources_[1] = std::move(scan);
  }
  void track_moves() { track_moves_ = note_moves_ = true; }
  void keep_places() {
    all_places_ = note_moves_ = true;
  }  // rows of what every job had where, not only of granted ones
  void use_own_amounts() { options_.own_amounts = true; }  // before any request is known
  void add_execution(std::shared_ptr<Execution> model);
  void set_pairs(std::shared_ptr<const Pairs> pairs);     // before anything happens
  void give_reasons();                                    // why jobs wait
  void measure() { meter_ = std::make_unique<Meter>(); }  // what each decision costs

  void stop_at(Time time) { until_ = time; }  // what happens later does not happen

  void run(Decider &decider);

  // Taking up a run that was interrupted. `keep_journal` writes down what deciders do; at the end of any instant,
  // `snapshot` says what else has to be known. `replay` does the same again, up to the same point, without asking them.
  void keep_journal() { journal_ = std::make_unique<Journal>(); }
  std::string take_journal() { return journal_->take(); }
  std::int64_t passes() const { return passes_; }
  std::size_t remembered() const { return awaited_.size(); }  // jobs that others refer to, or will
  std::string snapshot(const Decider &decider) const;
  void replay(std::string journal, std::int64_t passes, std::string snapshot);
  void tick_every(int instants) { tick_every_ = instants_left_ = instants; }

  // The same by hand: prepare; then, as long as `advance` says so, open the pass, decide, close it; then finish.
  // Whether the estimated ends of running jobs are kept; and what users have used, with which half-life (0: not that).
  void prepare(bool track_ends, Time half_life = 0);
  bool advance();    // to the next pass; false when nothing will happen any more
  Time next_time();  // when something happens next, as things are
  // Another world leads: time passes until then, and nothing happens on the way. What is done now and what has become
  // due since is told by the next `advance`, which does not go beyond this time until it is led further.
  void lead(Time time);
  std::vector<Time> take_wakes();  // of one that is led: the wake-ups that were asked for since this was last asked
  [[gnu::noinline]] void open_pass(Decider &decider);
  void close_pass(Decider &decider);
  [[gnu::noinline]] void finish();

  const std::shared_ptr<View> &view() const { return view_; }
  std::span<const Event> events() const { return events_; }

 private:
  friend class View;

  enum class TimerKind : std::uint8_t { Release, Cancel, Correct, Point, Wake };
  struct Timer {
    Time time;
    TimerKind kind;
    std::uint64_t order;
    Slot slot;
    std::int64_t sequence;  // of the job it is about: the slot may have been reused
    bool before(const Timer &o) const {
      if (time != o.time) return time < o.time;
      if (kind != o.kind) return kind < o.kind;
      return order < o.order;
    }
  };

  // The loop's phases.
  bool more_input();  // asks the host for the next batch where needed
  Time find_next();   // what next_time tells
  void whole_instant();
  [[gnu::noinline]] void begin_instant_by_event();
  [[gnu::noinline]] bool next_event();
  bool next_round();
  [[gnu::noinline]] void count_round();
  void conclude();
  bool reason_for_a_pass() const;
  [[gnu::noinline]] bool reason_besides_corrections() const;
  void record();
  [[gnu::noinline, gnu::cold]] void hand_over_timeline();
  [[gnu::noinline, gnu::cold]] void hand_over_rows();
  [[gnu::noinline, gnu::cold]] bool repeats_others(std::size_t row) const;
  [[gnu::noinline, gnu::cold]] void record_others(std::size_t row);
  [[gnu::noinline]] bool next_timer(Time at_most, bool corrections_only);
  bool out_of_date(const Timer &timer) const;
  [[gnu::noinline, gnu::cold]] void drop_spent_timers();
  [[gnu::noinline]] bool has_calendar_end(Time time) const;
  [[gnu::noinline, gnu::cold]] void refill();
  [[gnu::noinline]] void decide_measured(Decider &decider);
  [[gnu::noinline]] void replay_pass();
  [[gnu::noinline]] void replay_before_the_first_pass();
  [[gnu::noinline]] void recall(Decider &decider);

  // Why jobs wait (reasons.cpp): at the end of an instant.
  [[gnu::noinline, gnu::cold]] void tell_reasons();
  void tell_why_held();
  void ask_why();
  std::vector<Slot> who_may_wait_for_something_else(const Decider *asked, Slot first);
  void finish_reasons();

  // A job's life (life.cpp).
  void submit();  // the next job of the workload
  void enter(Slot slot, Time cancel);
  bool affordable_alone(const Job &job) const;
  [[gnu::noinline, gnu::cold]] void read_shapes(Job &job, std::size_t i);
  void read_attachments(Job &job, std::size_t i);
  void make_eligible(Slot slot);
  void begin(Slot slot, double priority, Backfilled backfilled);
  bool starts_at_once(const Job &job) {
    return by_itself_ && job.request->loose && job.count > 0 && cluster_.takes_at_once();
  }
  [[gnu::noinline]] void begin_at_once(Slot slot, double priority, Backfilled backfilled);
  void occupy(Slot slot);
  void set_off(Slot slot);
  void complete(Slot slot);
  void learn(Slot slot);  // how long it ran: estimators and histories
  Time corrected(Job &job) const;
  void correct(Slot slot);
  void cancel(Slot slot);
  void leave(Slot slot, State state);
  // Of jobs that wait for others (dependencies.cpp).
  [[gnu::noinline, gnu::cold]] void read_predecessors(Slot slot, std::size_t i);
  [[gnu::noinline, gnu::cold]] void hold(Slot slot);
  [[gnu::noinline, gnu::cold]] void tell_start(const Job &job);
  [[gnu::noinline, gnu::cold]] void tell_end(const Job &job, State state);
  void await(Slot slot, std::int64_t last_referrer);
  void follow(Slot slot, std::span<const Predecessor> before, bool any, std::int64_t position);
  void forget_if_done(std::int64_t id, std::int64_t position);
  // The same of jobs that are submitted during the run.
  void expect(std::span<const Predecessor> before);  // one that refers to these is coming
  void expect_no_more(std::span<const Predecessor> before);
  void refers_no_more(std::span<const Predecessor> before);  // it will never enter
  [[gnu::noinline, gnu::cold]] void enter_expected(Slot slot);
  [[gnu::noinline, gnu::cold]] void follow_submitted(Slot slot);
  std::int64_t log_position() const { return input_begin_ + static_cast<std::int64_t>(cursor_) - 1; }
  [[gnu::noinline, gnu::cold]] void let_go(Slot slot);
  [[gnu::noinline, gnu::cold]] void dismiss(Slot slot);
  void tell_followers(std::int64_t id, Awaited &awaited);
  void write_predecessor(const Job &job, const Predecessor &predecessor, bool any, bool known);
  void release(Slot slot);
  void stop(Slot slot);  // takes a running job off its nodes before its end
  void settle(Job &job);
  void move_end(Slot slot);
  void take_shape(Job &job, std::int32_t shape);
  struct ShapeMarks {  // what settle and take_shape change
    const Request *request;
    std::int32_t request_number;
    std::int64_t count, cores;
    Time runtime, limit;
    double work, overhead, whole;
    Time estimate, first_estimate, used, allowance, since;
    std::int32_t shape;
  };
  ShapeMarks shape_marks(const Job &job) const;
  void restore(Job &job, const ShapeMarks &marks);
  void set_point(Slot slot);
  bool is_at_point(const Job &job) const;
  void enqueue(Slot slot);
  [[gnu::noinline, gnu::cold]] void enqueue_again(Slot slot);
  void dequeue(Slot slot);
  // What few runs need, apart from the loop: observers, and machines with other resources than cores.
  void settle_books(Slot slot);  // of the budget, up to now
  void write_books(Slot slot, bool onto);
  [[gnu::noinline, gnu::cold]] void note_move(Slot slot, bool onto);
  [[gnu::noinline, gnu::cold]] void write_places(Slot slot);
  [[gnu::noinline, gnu::cold]] Amount take_granted(Job &job);
  [[gnu::noinline, gnu::cold]] void give_back_granted(const Job &job);
  [[gnu::noinline, gnu::cold]] void count_others(const Job &job, int sign, std::size_t first);
  void count_queued(const Job &job, int sign) {
    if (machine_.resources() > 1) [[unlikely]]
      count_others(job, sign, 1);
  }
  // Jobs that come while it runs (submissions.cpp).
  [[gnu::noinline, gnu::cold]] bool stays_open();   // nothing is left to happen: whether more jobs may come
  [[gnu::noinline, gnu::cold]] Time next_coming();  // when the next one enters that was submitted for later
  [[gnu::noinline, gnu::cold]] bool enter_next();   // the next one that is due now
  void enter_submitted(Slot slot, Time called, Time cancel);
  void discard(Slot slot);
  void describe(Job &job, const Submission &submission) const;
  Slot new_job(const Submission &submission, Baggage &&baggage);
  [[noreturn]] void refuse_submission(const std::string &why) const;
  std::int64_t take_id(std::int64_t wanted);
  TakenIds &taken_ids();
  [[gnu::noinline, gnu::cold]] void note_id(Slot slot);  // of a job of the log that enters
  [[gnu::noinline, gnu::cold]] void forget_id(Slot slot);
  [[gnu::noinline, gnu::cold]] bool nobody_comes();
  void write_submitted(const Job &job, Time called, Time cancel);
  [[gnu::noinline, gnu::cold]] void write_hold(Job &job);  // that ends now
  [[gnu::noinline, gnu::cold]] void fill_keys();
  void set_timer(Time time, TimerKind kind, Slot slot);
  Time true_end(const Job &job) const;
  const EstimatedEnds &estimated_ends(Time until);
  struct Started {
    std::uint64_t order;
    Slot slot;
  };
  bool stays_unlisted(const Started &who);
  void believe_end(Slot slot, Time end);
  void write(const Job &job, State state);
  [[gnu::noinline, gnu::cold]] void write_piece(Job &job, PieceEnd how, Reason reason = Reason::None);

  // Rates and who has a say in them (rates.cpp).
  Pace &pace_of(Job &job);
  std::int32_t owner_number(std::string_view name);
  const std::string &owner_of(const Pace::Factor &each) const { return owners_[static_cast<std::size_t>(each.owner)]; }
  void change_rate(Slot slot, std::int32_t owner, double factor);
  double factor_of(const Job &job, std::int32_t owner) const;
  double product(const Pace &pace) const;
  void note_stay(Job &job);                // before its rate changes for the first time since it took its nodes
  void keep_rate(Slot slot, double rate);  // of a job that has only changed its shape
  void believe(Slot slot);                 // another estimated end, as its rate says
  void write_rate(const Job &job, std::int32_t owner, double factor);

  // While it lives, somebody is asked something.
  class Question {
   public:
    Question(Engine &engine, const char *what) : engine_(engine), before_(std::exchange(engine.asking_, what)) {}
    ~Question() { engine_.asking_ = before_; }
    Question(const Question &) = delete;

   private:
    Engine &engine_;
    const char *before_;
  };

  // How placed jobs fare (execution.cpp).
  Occupants &occupants();
  Company &company();
  void sort_by_start(std::vector<Slot> &slots) const;  // each once
  [[gnu::noinline, gnu::cold]] void ask_about_rates();
  [[gnu::noinline, gnu::cold]] double ask_about_work(Slot slot, const Shares &shares);
  [[gnu::noinline, gnu::cold]] void set_whole(Job &job, double whole);

  void write_node(int node, NodeMode mode);
  void tell(Event::Kind kind, Slot slot, int node = -1);
  [[gnu::noinline, gnu::cold]] void tell_later(Event::Kind kind, Slot slot, int node);
  [[gnu::noinline, gnu::cold]] void tell_unheard();
  void has_decided();  // the decider knows the events so far; what it has done may be told in another round

  // Work in the course of a pass, counted so that a slow one looks at the clock now and then: a step is what takes a
  // nanosecond or a few, such as a look at a node.
  void worked(std::int64_t steps) {
    if ((steps_left_ -= steps) < 0) [[unlikely]]
      look_at_the_clock();
  }
  [[gnu::noinline, gnu::cold]] void look_at_the_clock();
  void tick();  // at the end of an instant

  [[noreturn, gnu::noinline, gnu::cold]] void refuse(const char *what, Slot slot, const std::string &why) const;
  [[noreturn, gnu::noinline, gnu::cold]] void refuse_node(const char *what, int node, const char *why) const;
  [[noreturn, gnu::noinline, gnu::cold]] void refuse_waking(const char *whom, Time time) const;

  // Running jobs by (end, order of starting). An entry is out of date when its job has left or its end has moved.
  struct End {
    Time end;
    std::uint64_t order;
    Slot slot;
    std::uint32_t moves;  // of the job's end, so far: one that is moved there and back has two entries
    bool before(const End &o) const {
      if (end != o.end) return end < o.end;
      return order != o.order ? order < o.order : moves < o.moves;
    }
  };
  bool out_of_date(const End &entry) const;
  const End *next_end();  // the next one that is not; null if nothing runs

  [[gnu::noinline]] void validate() const;

  using Clock = std::chrono::steady_clock;
  struct Meter {
    PassRows rows{0};
    Clock::time_point last_decision, last_sample{};
    float memory_mb = 0;
  };

  Machine machine_;
  Placement placement_;
  std::unique_ptr<Estimator> estimator_;
  Options options_;
  std::vector<Window> calendar_;
  Host &host_;
  std::shared_ptr<View> view_;  // may be held for longer than we live
  Gate *gate_ = nullptr;
  LiveCluster cluster_;
  std::unique_ptr<Usage> usage_;        // null if no order asks for it
  std::unique_ptr<BudgetBooks> books_;  // null if there is no budget
  bool track_ends_ = false;
  bool by_itself_ = false;  // where a job goes is a matter of first-fit and cores alone: nobody else has a say in it
  bool cores_say_it_all_ = true;  // of every job that has been eligible: see Plan::countable

  std::deque<Request> requests_;
  struct Known {
    const Request *request;
    Reason reason;
  };
  std::vector<Known> known_;  // the requests, by number, and why their jobs are rejected
  JobColumns input_;
  std::size_t cursor_ = 0;
  std::int64_t input_begin_ = 0;  // position in the log of its first job
  bool input_over_ = false;

  struct Led {
    bool open = true;  // an instant that has not been looked at yet
    std::vector<Time> wakes;
  };
  Time now_ = 0, until_ = kNever;
  bool instant_open_ = false;
  std::unique_ptr<Led> led_;  // null: time is our own
  JobPool jobs_;
  std::vector<Slot> gone_;  // left in this round; their slots are free when the decider has been told
  Slot waiting_first_ = kNoSlot, waiting_last_ = kNoSlot;
  Heap<End> ends_;
  std::vector<End> ending_;  // passes=event: due in this instant, not yet told
  std::size_t ended_here_ = 0;
  EstimatedEnds estimated_ends_;                       // of jobs that are `listed`
  static constexpr std::int64_t kMostRounds = 10'000;  // of one instant without progress, besides one for each job
  std::int64_t rounds_ = 0, round_progress_ = -1;
  Time round_time_ = -kNever;
  // Those that are not (some may have left): started since somebody last asked, and, of those before, the ones that are
  // believed to end after the horizon.
  static constexpr std::size_t kMostUnlisted = 1024, kWorthALook = 32;
  std::vector<Started> unlisted_, later_;
  Time horizon_ = kNever;
  std::size_t asked_ = 0;  // since all of later_ were looked at
  static constexpr double kFarthest = 1e6;
  double stretch_ = 1;
  Heap<Timer> timers_;
  ComingJobs coming_;  // submitted during the run, for later
  Tickets tickets_;
  std::unique_ptr<Job> looked_at_;  // see View::look_ahead
  std::vector<std::unique_ptr<Parcel>> parcels_;
  std::uint64_t submissions_ = 0, withdrawn_ = 0;  // of those who are coming, so many are not
  std::int64_t submitted_ = 0, announced_ = 0, next_own_id_ = kFirstOwnId;
  std::unique_ptr<TakenIds> ids_;                            // null until somebody chooses an id or names a job by it
  std::shared_ptr<KeySource> key_sources_[2];                // null where the host computes none
  std::vector<std::pair<Slot, std::int64_t>> without_keys_;  // (slot, sequence) of jobs that have entered without them
  bool open_ = false;                                        // more may come: wake-ups count, although there is no job
  const char *asking_ = nullptr;                             // what somebody is being asked; he may do nothing then
  std::vector<Event> events_;
  std::size_t told_ = 0;             // how many of them the decider knows
  std::vector<std::int64_t> woken_;  // observers who asked for this instant, by their number among `View::wakers`
  std::vector<Event> unheard_;       // jobs that came or were held while it decided: told in another round
  Phase phase_ = Phase::Before;
  std::int64_t passes_ = -1;  // made so far, less one
  static constexpr std::int64_t kStepsBetweenLooks = 1 << 18;
  std::int64_t steps_left_ = kStepsBetweenLooks;
  int tick_every_, instants_left_ = 1;  // instants until the clock is looked at, if no pass does so before
  std::unique_ptr<Journal> journal_;
  std::unique_ptr<JournalReader> past_;  // while it is being done again
  bool more_past_ = false;               // it has another entry
  std::int64_t past_passes_ = -1;
  std::string past_snapshot_;
  bool track_moves_ = false;
  bool note_moves_ = false;  // for observers, for places, to count what jobs have besides cores, or who is where
  std::vector<Move> moves_;
  std::unique_ptr<Occupants> occupants_;  // null until somebody asks
  std::shared_ptr<const Pairs> pairs_;    // null if there is no heatmap
  std::unique_ptr<Company> company_;      // null unless the placement looks at it
  std::vector<std::shared_ptr<Execution>> executions_;
  bool watch_neighbours_ = false, decide_work_ = false;  // whether some of them do
  std::vector<NodeMode> modes_;                          // empty until a node changes
  std::int64_t node_changes_ = 0;
  std::uint64_t changes_ = 0, interventions_ = 0, starts_ = 0, timer_order_ = 0;
  std::uint64_t moved_ends_ = 0;  // entries of ends_ that are out of date

  std::pmr::unsynchronized_pool_resource awaited_memory_;
  std::pmr::unordered_map<std::int64_t, Awaited> awaited_{
      &awaited_memory_};  // by id: jobs that others refer to, or will
  FollowerPool followers_;
  std::vector<Predecessor> before_;                          // of the job that is being submitted
  std::unordered_map<std::int64_t, std::int32_t> expected_;  // ids that jobs that are coming refer to; how many do
  std::vector<Slot> hopeless_;                               // held jobs whose condition can never hold,
  bool dismissing_ = false;                                  // while they are being dismissed
  std::unordered_map<std::int32_t, std::vector<Finished>> history_;
  std::vector<Slot> suspended_;

  std::int64_t next_sequence_ = 0, ended_ = 0;
  std::int64_t waiting_count_ = 0, waiting_cores_ = 0, running_count_ = 0, running_cores_ = 0;
  JobRows rows_;
  TimelineRows timeline_;
  std::vector<std::int64_t> others_;  // the amounts of TimelineRows::others now
  std::optional<PieceRows> pieces_;
  std::optional<RateRows> rates_;
  std::vector<std::string> owners_;  // of factors of rates, in the order in which they first had one
  std::optional<NodeRows> node_rows_;
  bool all_places_ = false;
  std::optional<PlaceRows> place_rows_;
  std::vector<Time> here_since_;  // of jobs whose places are told, by slot
  std::optional<PredecessorRows> predecessor_rows_;
  std::optional<SubmittedRows> submitted_rows_;
  std::optional<HoldRows> hold_rows_;
  std::unique_ptr<Meter> meter_;
  std::unique_ptr<Reasons> reasons_;  // null: nobody wants to know
};

// What policies ask all the time.
inline void View::worked(std::int64_t steps) const { engine_->worked(steps); }
inline Time View::now() const { return engine_->now_; }
inline const Job &View::job(Slot slot) const { return engine_->jobs_[slot]; }
inline Job &View::annotate(Slot slot) { return engine_->jobs_[slot]; }
inline Slot View::first_waiting() const { return engine_->waiting_first_; }
inline std::size_t View::waiting() const { return static_cast<std::size_t>(engine_->waiting_count_); }
inline const LiveCluster &View::cluster() const { return engine_->cluster_; }
inline const Machine &View::machine() const { return engine_->machine_; }
inline const Placement &View::placement() const { return engine_->placement_; }
inline std::uint64_t View::changes() const { return engine_->changes_; }
inline std::uint64_t View::interventions() const { return engine_->interventions_; }
inline bool View::has_calendar() const { return !engine_->calendar_.empty(); }
inline bool View::plans_by_nodes() const { return !engine_->cores_say_it_all_ || has_calendar(); }

}  // namespace schedlab
