#include "outputs.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdarg>
#include <cstring>
#include <map>

#include "live.hpp"
#include "numbers.hpp"
#include "unsupported.hpp"

namespace schedlab::batsim {

namespace {

constexpr std::size_t kBuffer = 1 << 15;
constexpr double kNullTime = 1e-5;  // seconds that a job has run that ended when it started
constexpr int kColours = 64;

constexpr const char *kJobColumns =
    "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,final_state,"
    "starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources,consumed_energy,"
    "metadata\n";

// The events of a Pajé trace, with their fields; their numbers count from 1.
enum Paje {
  ContainerType = 1,
  Container,
  DestroyContainer,
  StateType,
  EntityValue,
  SetState,
  EventType,
  NewEvent,
  VariableType
};
constexpr std::pair<const char *, const char *> kEvents[] = {
    {"DefineContainerType", "% Type string\n% Alias string\n% Name string\n"},
    {"CreateContainer", "% Time date\n% Type string\n% Alias string\n% Name string\n% Container string\n"},
    {"DestroyContainer", "% Time date\n% Name string\n% Type string\n"},
    {"DefineStateType", "% Alias string\n% Type string\n% Name string\n"},
    {"DefineEntityValue", "% Alias string\n% Type string\n% Name string\n% Color color\n"},
    {"SetState", "% Time date\n% Type string\n% Container string\n% Value string\n"},
    {"DefineEventType", "% Type string\n% Alias string\n% Name string\n"},
    {"NewEvent", "% Time date\n% Type string\n% Container string\n% Value string\n"},
    {"DefineVariableType", "% Type string\n% Alias string\n% Name string\n% Color string\n"},
    {"SetVariable", "% Time date\n% Type string\n% Container string\n% Value double\n"}};

// Bright ones, neighbours far from each other on the wheel.
std::string colour(std::int64_t number) {
  const double hue = static_cast<double>(number % kColours * 27 % kColours) / kColours;
  const int sector = static_cast<int>(hue * 6.0);
  const double part = hue * 6.0 - sector, falls = 1.0 - part, rises = 1.0 - (1.0 - part);
  const double red[] = {1, falls, 0, 0, rises, 1}, green[] = {rises, 1, 1, falls, 0, 0},
               blue[] = {0, 0, rises, 1, 1, falls};
  return "\"" + formatted("%f", red[sector % 6]) + " " + formatted("%f", green[sector % 6]) + " " +
         formatted("%f", blue[sector % 6]) + "\"";
}

}  // namespace

File::File(const std::string &path) : file_(std::fopen(path.c_str(), "we")) {
  if (!file_) throw Unsupported(path + " cannot be written: " + std::strerror(errno));
  std::setvbuf(file_.get(), nullptr, _IOFBF, kBuffer);
}

void File::print(const char *format, ...) {
  va_list values;
  va_start(values, format);
  std::vfprintf(file_.get(), format, values);
  va_end(values);
}

bool File::finish() { return std::fflush(file_.get()) == 0 && std::ferror(file_.get()) == 0; }

Outputs::Outputs(const std::string &prefix, std::vector<std::string> hosts, bool trace, bool states)
    : prefix_(prefix), hosts_(std::move(hosts)), computing_(hosts_.size()), since_(hosts_.size()) {
  if (trace) trace_.emplace(prefix + "_schedule.trace"), begin_trace();
  if (states) {
    states_.emplace(prefix + "_machine_states.csv");
    states_->write("time,nb_sleeping,nb_switching_on,nb_switching_off,nb_idle,nb_computing\n");
  }
  jobs_.emplace(prefix + "_jobs.csv");
  jobs_->write(kJobColumns);
}

void Outputs::started(Time time, const std::string &job, const std::vector<int> &hosts) {
  spend(time, hosts, true);
  write_states(time);
  if (!trace_) return;
  trace_->print("%d j%s machine_state \"%s\" %s\n", EntityValue, job.c_str(), job.c_str(), colour(in_trace_++).c_str());
  set(time, hosts, ("j" + job).c_str());
}

void Outputs::stopped(Time time, const std::string &job, const std::vector<int> &hosts, bool killed) {
  if (killed && trace_) {
    trace_->print("%d %f kk k \"%s\"\n", NewEvent, time, job.c_str());
    for (const int host : hosts) trace_->print("%d %f km m%d \"%s\"\n", NewEvent, time, host, job.c_str());
  }
  spend(time, hosts, false);
  write_states(time);
  if (trace_) set(time, hosts, "w");
}

void Outputs::left(const Row &row) {
  ++all_;
  const bool successful = row.state == kSuccessfully, rejected = row.state == kRejected;
  const double runtime = row.runtime != 0 ? row.runtime : kNullTime;
  const double wait = row.start - row.submit, end = row.start + runtime, stay = end - row.submit;
  std::string line;
  const auto add = [&line](const auto &...parts) { ((line += parts, line += ','), ...); };
  const auto seconds = [](double value) { return formatted("%f", value); };
  add(row.job, row.workload, row.profile, seconds(row.submit), std::to_string(row.wanted),
      seconds(row.limit < kNever ? row.limit : -1.0), successful ? "1" : "0", row.state);
  if (rejected)
    add("", "", "", "", "", "", row.hosts, "");
  else
    add(seconds(row.start), seconds(runtime), seconds(end), seconds(wait), seconds(stay), seconds(stay / runtime),
        row.hosts, seconds(-1));
  line.append("\"").append(row.metadata).append("\"\n");
  jobs_->write(line);
  if (rejected) return ++rejected_, void();
  ++finished_, successful_ += successful;
  waited_ += wait, stayed_ += stay, slowdowns_ += stay / runtime;
  longest_wait_ = std::max(longest_wait_, wait), longest_stay_ = std::max(longest_stay_, stay);
  worst_slowdown_ = std::max(worst_slowdown_, stay / runtime), makespan_ = std::max(makespan_, end);
}

void Outputs::finish(Time time, double simulation_seconds, double scheduler_seconds, const std::string &version) {
  if (trace_) {
    trace_->write("\n# End of events, containers destruction\n");
    for (std::size_t host = 0; host < hosts_.size(); ++host)
      trace_->print("%d %f m%zu machine_ct\n", DestroyContainer, time, host);
    trace_->print("%d %f root root_ct\n", DestroyContainer, time);
  }
  const auto seconds = [](double value) { return formatted("%f", value); };
  // Batsim divides by all jobs, rejected ones too.
  const auto mean = [&](double total) {
    return all_ ? seconds(total / static_cast<double>(all_)) : std::string("-nan");
  };
  const std::map<std::string, std::string> values{{"nb_jobs", std::to_string(all_)},
                                                  {"nb_jobs_finished", std::to_string(finished_)},
                                                  {"nb_jobs_success", std::to_string(successful_)},
                                                  {"nb_jobs_killed", std::to_string(finished_ - successful_)},
                                                  {"nb_jobs_rejected", std::to_string(rejected_)},
                                                  {"success_rate", mean(static_cast<double>(successful_))},
                                                  {"makespan", seconds(makespan_)},
                                                  {"mean_waiting_time", mean(waited_)},
                                                  {"mean_turnaround_time", mean(stayed_)},
                                                  {"mean_slowdown", mean(slowdowns_)},
                                                  {"max_waiting_time", seconds(longest_wait_)},
                                                  {"max_turnaround_time", seconds(longest_stay_)},
                                                  {"max_slowdown", seconds(worst_slowdown_)},
                                                  {"time_sleeping", seconds(0)},
                                                  {"time_switching_on", seconds(0)},
                                                  {"time_switching_off", seconds(0)},
                                                  {"time_idle", seconds(spent_[0])},
                                                  {"time_computing", seconds(spent_[1])},
                                                  {"time_unavailable", seconds(0)},
                                                  {"batsim_version", version},
                                                  {"consumed_joules", seconds(0)},
                                                  {"nb_computing_machines", std::to_string(hosts_.size())},
                                                  {"nb_grouped_switches", "0"},
                                                  {"nb_machine_switches", "0"},
                                                  {"scheduling_time", seconds(scheduler_seconds)},
                                                  {"simulation_time", seconds(simulation_seconds)}};
  schedule_.emplace(prefix_ + "_schedule.csv");
  std::string names, row;
  for (const auto &[name, value] : values) {
    names += (names.empty() ? "" : ",") + name;
    row += (row.empty() ? "" : ",") + value;
  }
  schedule_->write(names + "\n" + row + "\n");
  close();
}

void Outputs::close() {
  bool whole = true;
  for (std::optional<File> *file : {&trace_, &states_, &jobs_, &schedule_}) {
    if (*file) whole &= (*file)->finish();
    file->reset();
  }
  if (!whole) throw std::runtime_error("the files " + prefix_ + "_… could not be written: is there room on the disk?");
}

void Outputs::begin_trace() {
  int number = 0;
  for (const auto &[name, fields] : kEvents)
    trace_->print("%%EventDef Paje%s %d\n%s%%EndEventDef\n\n", name, ++number, fields);
  trace_->print("# Container types creation\n%d 0 root_ct \"Machines\"\n", ContainerType);
  trace_->print("%d root_ct machine_ct \"Machine\"\n", ContainerType);
  trace_->print("%d 0 scheduler_ct \"Scheduler\"\n%d scheduler_ct killer_ct \"Killer\"\n\n", ContainerType,
                ContainerType);
  trace_->print("# Event types creation\n%d killer_ct kk \"Job kill\"\n%d machine_ct km \"Job kill\"\n\n", EventType,
                EventType);
  trace_->print("# Variable types creation\n%d scheduler_ct vu_vt \"Utilization\" \"0.0 0.5 0.0\"\n\n", VariableType);
  trace_->print("# Containers creation\n%d 0.000000 root_ct root \"Machines\" 0\n", Container);
  for (std::size_t host = 0; host < hosts_.size(); ++host)
    trace_->print("%d 0.000000 machine_ct m%zu \"%s\" root\n", Container, host, hosts_[host].c_str());
  trace_->print("%d 0.000000 scheduler_ct sc \"Scheduler\" 0\n%d 0.000000 killer_ct k \"Killer\" sc\n\n", Container,
                Container);
  trace_->print("# States creation\n%d machine_state machine_ct \"Machine state\"\n\n", StateType);
  trace_->write("# Creation of the different values the machine state can be\n");
  trace_->print("%d w machine_state \"Waiting\" \"0.0 0.0 0.0\"\n", EntityValue);
  trace_->print("%d l machine_state \"Launching\" \"0.3 0.3 0.3\"\n\n# Begin of events\n", EntityValue);
  std::vector<int> all(hosts_.size());
  for (std::size_t host = 0; host < all.size(); ++host) all[host] = static_cast<int>(host);
  set(0, all, "w");
}

void Outputs::set(Time time, const std::vector<int> &hosts, const char *value) {
  const std::string head = std::to_string(SetState) + formatted(" %f machine_state m", time);
  char number[16];
  std::string lines;
  for (const int host : hosts) {
    const auto *end = std::to_chars(number, number + sizeof number, host).ptr;
    lines.append(head).append(number, static_cast<std::size_t>(end - number)).append(" ").append(value).append("\n");
  }
  trace_->write(lines);
}

void Outputs::spend(Time time, const std::vector<int> &hosts, bool computing) {
  for (const int host : hosts) {
    const auto at = static_cast<std::size_t>(host);
    spent_[static_cast<std::size_t>(computing_[at])] += time - since_[at];
    since_[at] = time, computing_[at] = computing;
  }
  busy_ += (computing ? 1 : -1) * static_cast<std::int64_t>(hosts.size());
}

void Outputs::write_states(Time time) {
  if (states_)
    states_->print("%g,0,0,0,%lld,%lld\n", time, static_cast<long long>(hosts_.size()) - busy_,
                   static_cast<long long>(busy_));
}

}  // namespace schedlab::batsim
