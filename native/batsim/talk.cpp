#include "talk.hpp"

#include <algorithm>

#include "../granted.hpp"
#include "json.hpp"
#include "numbers.hpp"

namespace schedlab::batsim {

namespace {

// As which time 0 is told once the simulation has begun: pybatsim takes a job that would start at 0 for a mistake, and
// Batsim itself is a few microseconds late where hosts have links. Jobs start at 0 all the same.
constexpr Time kZero = 1e-9;
constexpr std::int64_t kMostRounds = 10'000;  // messages of one instant, and one more for each job that came or went
constexpr int kNoCode = -1;                   // the exit code of a job that did not end by itself

std::string digits(double value) { return formatted("%.15g", value); }
std::string boolean(bool value) { return value ? "true" : "false"; }

std::string properties_text(const Properties &properties) {
  std::string text;
  for (const auto &[name, value] : properties) text += (text.empty() ? "" : ",") + quoted(name) + ":" + quoted(value);
  return text;
}

}  // namespace

Talk::Talk(Workload &workload, const std::vector<Host> &hosts, const Rules &rules, Link &link, Outputs &outputs,
           Log &log)
    : workload_(workload),
      hosts_(hosts),
      rules_(rules),
      link_(link),
      outputs_(outputs),
      log_(log),
      still_to_come_(workload.documents().empty() ? -1 : static_cast<std::int64_t>(workload.order().size())) {}

void Talk::decide(View &view, std::span<const Event> events) {
  clock(view.now());
  if (!begun_) {
    begun_ = true;
    tell("SIMULATION_BEGINS", begins());
    ask();
    if (time_ == 0) now_ = number(kZero), told_ = kZero;
  }
  hear(view, events);
  go_on(view);
}

bool Talk::more_may_come(Time now) const {
  if (!begun_ || !said_.empty() || ready_at_ > std::max(now, told_) || !calls_.empty()) return true;
  if (live_.empty()) return false;
  const std::string jobs = live_.size() > 1 ? grouped(static_cast<std::int64_t>(live_.size())) + " jobs wait"
                                            : "job '" + live_.begin()->first + "' waits";
  throw BatsimError("at " + digits(now) + " s " + jobs +
                    ", nothing will happen any more, and the scheduler does nothing about it; its last reply was " +
                    in_one_line(last_));
}

void Talk::finish(Time now) {
  clock(now);
  tell("SIMULATION_ENDS", "{}");
  exchange("{\"now\":" + now_ + ",\"events\":[" + news_ + "]}", true);
}

// ---- what happens ----

void Talk::clock(Time time) {
  if (time == time_) return;
  time_ = time, now_ = told_time(time);
  told_ = std::strtod(now_.c_str(), nullptr);
}

// Submissions, then ends, then calls, then what else is noted, as Batsim has it in one instant.
void Talk::hear(View &view, std::span<const Event> events) {
  for (const Event &event : events)
    if (event.kind == Event::Kind::Submitted) meet(view.job(event.slot), event.slot);
  for (const Event &event : events)
    if (event.kind == Event::Kind::Completed) end(event.slot);
  call_due();
  if (still_to_come_ == 0) {
    still_to_come_ = -1;
    news_.swap(later_);
    tell("NOTIFY", "{\"type\":\"no_more_static_job_to_submit\"}");
    news_.swap(later_);
  }
}

void Talk::meet(const Job &job, Slot slot) {
  const Place place = workload_.order()[static_cast<std::size_t>(job.id)];
  std::string id = workload_.full_name(place);
  std::string data = "{\"job_id\":" + quoted(id) + ",\"job\":" + workload_.description(place);
  if (rules_.forward_profiles) data += ",\"profile\":" + workload_.profile(place).text;
  Live &live = live_.emplace(id, Live{id, place, slot, kSubmitted, 0, {}, {}, {}}).first->second;
  if (in_slot_.size() <= slot) in_slot_.resize(slot + std::size_t{1});
  in_slot_[slot] = &live;
  ++moves_, ++submitted_, --still_to_come_;
  if (log_.tells())
    log_.info(time_, "Job " + id + " SUBMITTED. " + std::to_string(submitted_) + " jobs submitted so far");
  tell("JOB_SUBMITTED", data + "}");
}

void Talk::end(Slot slot) {
  Live &live = *in_slot_[slot];
  const Line &line = workload_.line(live.place);
  const Profile &profile = workload_.profile(live.place);
  const Time ran = time_ - live.start, slack = 1e-15 * time_;
  if (profile.seconds < line.limit && ran >= profile.seconds - slack)
    return tell_end(live, profile.returns > 0 ? kFailed : kSuccessfully, profile.returns);
  tell_end(live, ran >= line.limit - slack ? kAtWalltime : kKilled, kNoCode);
}

void Talk::call_due() {
  for (; !calls_.empty() && calls_.top() <= time_; calls_.pop()) tell("REQUESTED_CALL", "{}");
}

std::string Talk::begins() const {
  const std::string count = std::to_string(hosts_.size());
  std::string hosts, files, profiles;
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    const std::string properties = properties_text(hosts_[i].properties);
    hosts += std::string(i ? "," : "") + "{\"id\":" + std::to_string(i) + ",\"name\":" + quoted(hosts_[i].name) +
             ",\"state\":\"idle\",\"properties\":{\"role\":\"\"" + (properties.empty() ? "" : "," + properties) +
             "},\"zone_properties\":{" + properties_text(hosts_[i].zone_properties) + "}}";
  }
  for (const Document &document : workload_.documents()) {
    files += (files.empty() ? "" : ",") + quoted(document.name) + ":" + quoted(document.path);
    profiles += (profiles.empty() ? "" : ",") + quoted(document.name) + ":{";
    bool first = true;
    for (const Profile &profile : document.profiles) {
      if (!profile.wanted) continue;
      profiles += (first ? "" : ",") + quoted(profile.name) + ":" + profile.text;
      first = false;
    }
    profiles += '}';
  }
  return "{\"nb_resources\":" + count + ",\"nb_compute_resources\":" + count +
         ",\"nb_storage_resources\":0,\"allow_compute_sharing\":false,\"allow_storage_sharing\":" +
         boolean(rules_.storage_sharing) +
         ",\"config\":{\"redis-enabled\":false,\"redis-hostname\":\"127.0.0.1\",\"redis-port\":6379,"
         "\"redis-prefix\":\"default\",\"profiles-forwarded-on-submission\":" +
         boolean(rules_.forward_profiles) +
         ",\"dynamic-jobs-enabled\":false,\"dynamic-jobs-acknowledged\":" + boolean(rules_.acknowledge) +
         ",\"profile-reuse-enabled\":false,\"sched-config\":" + quoted(rules_.scheduler_config) +
         ",\"forward-unknown-events\":false},\"compute_resources\":[" + hosts +
         "],\"storage_resources\":[],\"workloads\":{" + files + "},\"profiles\":{" + profiles + "}}";
}

// ---- messages ----

void Talk::tell(std::string_view kind, const std::string &data) {
  if (!news_.empty()) news_ += ',';
  news_.append("{\"timestamp\":").append(now_).append(",\"type\":\"").append(kind).append("\",\"data\":").append(data);
  news_ += '}';
}

void Talk::tell_end(Live &live, std::string_view state, int code) {
  tell("JOB_COMPLETED", "{\"job_id\":" + quoted(live.id) + ",\"job_state\":\"" + std::string(state) +
                            "\",\"return_code\":" + std::to_string(code) + ",\"alloc\":\"" + live.alloc + "\"}");
  leave(live, state);
}

void Talk::now_the_later() {
  if (later_.empty()) return;
  if (!news_.empty()) news_ += ',';
  news_ += later_;
  later_.clear();
}

// Do what is due, and ask, until there is nothing to ask or the scheduler has no time.
void Talk::go_on(View &view) {
  std::int64_t again = 0;
  // In Batsim notes overtake what a scheduler says to SIMULATION_BEGINS, if it says anything.
  const bool together = !said_.empty() && exchanges_ == 1;
  while (is_ready(view) && !(news_.empty() && later_.empty())) {
    if (together || news_.empty()) now_the_later();
    ask();
    now_the_later();  // before what comes of its answer
    if (++again > kMostRounds + moves_)
      throw BatsimError("at " + digits(view.now()) + " s the scheduler has been asked " + grouped(again) +
                        " times, and time does not pass; its last reply was " + in_one_line(last_));
  }
  now_the_later();  // it has no time: when it does, all is told in one message
}

void Talk::ask() {
  const std::string message = "{\"now\":" + now_ + ",\"events\":[" + news_ + "]}";
  news_.clear();
  exchange(message, false);
  ++exchanges_;
  Reply reply = read_reply(last_);
  ready_at_ = reply.now;  // if that is over, now: batsim-py leaves out parts of seconds
  for (Said &said : reply.events) {
    if (said.timestamp > reply.now)
      throw BatsimError("the scheduler's reply has a time, " + digits(said.timestamp) +
                        " s, that is later than the reply's own time; it is " + digits(time_) +
                        " s: " + in_one_line(last_));
    said_.push_back(std::move(said));
  }
}

void Talk::exchange(const std::string &message, bool last) {
  last_told_ = std::strtod(now_.c_str(), nullptr);
  log_.sending(last_told_, message);
  const auto asked = std::chrono::steady_clock::now();
  last_ = last ? link_.exchange_last(message) : link_.exchange(message);
  waited_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - asked).count();
  log_.received(last_told_, last_);
}

bool Talk::is_ready(View &view) {
  while (!said_.empty()) {
    if (said_.front().timestamp > told_) {
      view.wake_at(said_.front().timestamp);
      return false;
    }
    const Said said = std::move(said_.front());
    said_.pop_front();
    apply(view, said);
  }
  if (ready_at_ > told_) {
    view.wake_at(ready_at_);
    return false;
  }
  return true;
}

// ---- what the scheduler says, done ----

void Talk::apply(View &view, const Said &said) {
  std::string why;
  try {
    return perform(view, said);
  } catch (const Refused &error) {
    why = error.what();
  } catch (const DecisionError &error) {
    why = error.what();
  }
  throw BatsimError("at " + digits(view.now()) + " s the scheduler asks for what cannot be: " + folded(why) + "; " +
                    in_one_line(said.text));
}

void Talk::perform(View &view, const Said &said) {
  switch (said.kind) {
    case Kind::ExecuteJob:
      return execute(view, said);
    case Kind::RejectJob:
      return reject(view, said.job);
    case Kind::KillJob:
      return kill(view, said.names);
    case Kind::CallMeLater:
      return call_later(view, said.call);
    case Kind::ChangeJobState:
      return change_state(view, said.job, said.what);
    case Kind::SetJobMetadata:
      if (said.what.find('"') != std::string::npos) throw Refused("metadata may have no double quotes");
      find(said.job).metadata = said.what;
      return;
    case Kind::ToJobMessage:  // jobs that read messages are not here; others do not look
      find(said.job);
      return;
    case Kind::RegisterJob:
    case Kind::RegisterProfile:
      throw Refused("schedulers may not register anything here (--enable-dynamic-jobs lets them)");
    case Kind::SetResourceState:
      throw Refused("hosts have no power states here (--energy gives them some)");
    case Kind::Notify:
      if (said.what != "registration_finished" && said.what != "continue_registration")
        throw Refused("NOTIFY of type '" + said.what + "' is not known");
      return;
    case Kind::Query:
      for (const std::string &name : said.names)
        throw Refused(name == "consumed_energy" ? "energy is not added up here (--energy lets it be)"
                                                : "'" + name + "' cannot be asked");
      return;
    case Kind::Answer:  // nothing was asked; Batsim takes these and does nothing with them, too
      for (const std::string &name : said.names)
        if (name != "estimate_waiting_time") throw Refused("'" + name + "' is no answer");
      return;
  }
}

void Talk::execute(View &view, const Said &said) {
  Live &live = find(said.job);
  if (live.state != kSubmitted) throw Refused("job '" + live.id + "' cannot start: it is " + std::string(live.state));
  std::vector<int> hosts;
  try {
    hosts = read_hosts(said.what);
  } catch (const std::invalid_argument &error) {
    throw Refused("the hosts of job '" + live.id + "' cannot be read: " + error.what());
  }
  if (static_cast<std::size_t>(hosts.back()) >= hosts_.size())
    throw Refused("job '" + live.id + "' cannot have host " + std::to_string(hosts.back()) + ": there are " +
                  std::to_string(hosts_.size()) + ", from 0 on");
  const std::size_t given = said.mapping ? executors(live, said, hosts.size()) : hosts.size();
  const auto wanted = static_cast<std::size_t>(workload_.line(live.place).hosts);
  if (given != wanted)
    throw Refused("job '" + live.id + "' asks for " + std::to_string(wanted) + " hosts and gets " +
                  std::to_string(given) + (said.mapping ? " executors in its mapping" : " hosts"));
  bool started = false;
  try {
    started = start(view, live, hosts);
  } catch (const DecisionError &) {
    explain(view, live, hosts);
    throw;
  }
  if (!started)
    throw Refused("job '" + live.id +
                  "' cannot start there: " + (view.refusal.empty() ? std::string("it does not fit") : view.refusal));
  live.alloc = hosts_text(hosts);
  live.hosts = std::move(hosts);
  live.state = kRunning, live.start = view.now();
  outputs_.started(view.now(), live.id, live.hosts);
}

// A host for each chunk, or whole hosts where executors share them.
bool Talk::start(View &view, Live &live, const std::vector<int> &hosts) {
  const Job &job = view.job(live.slot);
  Grant grant;
  for (const int host : hosts) grant.shares.push_back({host, 1});
  if (static_cast<std::int64_t>(hosts.size()) != job.count) {
    grant.granted = std::make_unique<Granted>(view.machine().resources());
    grant.granted->amounts.assign(hosts.size(), 1);
  }
  return view.start_as(live.slot, job.shape, &grant, 0, {});
}

// Why a job cannot have these hosts: the engine does not know what they, and other jobs, are called.
void Talk::explain(View &view, const Live &live, const std::vector<int> &hosts) const {
  for (const int host : hosts)
    for (const Slot other : view.jobs_on(host))
      if (other != live.slot)
        throw Refused("job '" + live.id + "' cannot have host " + std::to_string(host) + " (" +
                      hosts_[static_cast<std::size_t>(host)].name + "): job '" + in_slot_[other]->id + "' runs there");
}

// How many there are; what is wrong with them is refused.
std::size_t Talk::executors(const Live &live, const Said &said, std::size_t hosts) {
  const auto number_of = [&](const std::string &text) {
    const auto value = whole_number(text, 0, INT32_MAX);
    if (!value) throw Refused("the mapping of job '" + live.id + "' has something that is no number");
    return static_cast<std::size_t>(*value);
  };
  std::vector<std::pair<std::size_t, std::size_t>> found;
  for (const auto &[executor, place] : *said.mapping) found.emplace_back(number_of(executor), number_of(place));
  std::sort(found.begin(), found.end());
  for (std::size_t i = 0; i < found.size(); ++i)
    if (found[i].first != i)
      throw Refused("the mapping of job '" + live.id + "' has to say of each executor, from 0 on, where it is");
  for (const auto &[executor, place] : found)
    if (place >= hosts)
      throw Refused("executor " + std::to_string(executor) + " of job '" + live.id + "' is on host " +
                    std::to_string(place) + " of the " + std::to_string(hosts) + " that it gets");
  return found.size();
}

void Talk::reject(View &view, const std::string &job) {
  Live &live = find(job);
  if (live.state != kSubmitted) throw Refused("job '" + job + "' cannot be rejected: it is " + std::string(live.state));
  view.reject(live.slot);
  leave(live, kRejected);
}

// One JOB_KILLED for all, also for those that have ended by themselves before they could be killed.
void Talk::kill(View &view, const std::vector<std::string> &jobs) {
  if (jobs.empty()) throw Refused("there is no job to be killed");
  std::string ids, progress;
  std::vector<std::string> asked;
  for (const std::string &job : jobs) {
    if (kill_asked_.contains(job) || std::find(asked.begin(), asked.end(), job) != asked.end()) continue;
    asked.push_back(job);
    ids += (ids.empty() ? "" : ",") + quoted(job);
    const auto found = live_.find(job);
    if (found == live_.end()) {
      if (!workload_.knows(job)) throw Refused("there is no job '" + job + "'");
      continue;
    }
    Live &live = found->second;
    if (live.state != kRunning || live.hosts.empty())
      throw Refused("job '" + job + "' cannot be killed: it does not run");
    const Profile &profile = workload_.profile(live.place);
    const double done = view.job(live.slot).done(view.now()) / profile.seconds;
    progress += (progress.empty() ? "" : ",") + quoted(job) + ":{\"profile_name\":" + quoted(profile.name) +
                ",\"progress\":" + number(done) + "}";
    view.kill(live.slot);
    tell_end(live, kKilled, kNoCode);
  }
  if (asked.empty()) return;
  kill_asked_.insert(asked.begin(), asked.end());
  tell("JOB_KILLED", "{\"job_ids\":[" + ids + "],\"job_progress\":{" + progress + "}}");
}

// Jobs that run elsewhere, as far as the scheduler is concerned: here they have no hosts.
void Talk::change_state(View &view, const std::string &job, const std::string &state) {
  Live &live = find(job);
  const bool ends = state == kSuccessfully || state == kFailed || state == kAtWalltime || state == kKilled;
  if (live.state == kSubmitted && state == kRunning) {
    view.hold(live.slot);
    live.state = kRunning, live.start = view.now();
  } else if (live.state == kSubmitted && state == kRejected) {
    reject(view, job);
  } else if (live.state == kRunning && ends && live.hosts.empty()) {
    view.withdraw(live.slot);
    leave(live, state == kSuccessfully ? kSuccessfully
                : state == kFailed     ? kFailed
                : state == kKilled     ? kKilled
                                       : kAtWalltime);
  } else {
    throw Refused("job '" + job + "' cannot become " + state + ": it is " + std::string(live.state) +
                  (live.hosts.empty() ? "" : " on hosts; it can be killed"));
  }
}

void Talk::call_later(View &view, Time time) {
  if (time <= told_) throw Refused("it wants to be called at " + digits(time) + " s, and that is not in the future");
  calls_.push(time);
  view.wake_at(time);
}

// The job of that id, if the scheduler knows it and it has not left.
Live &Talk::find(const std::string &job) {
  const auto found = live_.find(job);
  if (found != live_.end()) return found->second;
  if (workload_.knows(job)) throw Refused("job '" + job + "' is not there: it has left, or has not been submitted");
  throw Refused("there is no job '" + job + "'");
}

// It has ended, in one of Batsim's states.
void Talk::leave(Live &live, std::string_view state) {
  ++moves_, ++completed_;
  if (log_.tells())
    log_.info(time_, state == kRejected ? "Job '" + live.id + "' has been rejected"
                                        : "Job " + live.id + " has COMPLETED. " + std::to_string(completed_) +
                                              " jobs completed so far");
  const Line &line = workload_.line(live.place);
  if (!live.hosts.empty()) outputs_.stopped(time_, live.id, live.hosts, state == kAtWalltime || state == kKilled);
  Row row{workload_.document(live.place).name,
          workload_.name(live.place),
          workload_.profile(live.place).name,
          line.submit,
          line.hosts,
          line.limit,
          state};
  if (state != kRejected) row.start = live.start, row.runtime = time_ - live.start, row.hosts = live.alloc;
  row.metadata = live.metadata;
  outputs_.left(row);
  in_slot_[live.slot] = nullptr;
  live_.erase(live_.find(live.id));
}

}  // namespace schedlab::batsim
