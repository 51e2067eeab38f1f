// `schedlab batsim` where all jobs are delays on hosts of their own, which is most of what is simulated with it: the
// engine, the conversation with the scheduler and Batsim's files, without Python. What it is given has been read from
// Batsim's command line (src/schedlab/cli/batsim_program.py); what it does not carry is left to the command that was
// given after `--`.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <map>

#include "feed.hpp"
#include "numbers.hpp"
#include "talk.hpp"
#include "unsupported.hpp"

namespace schedlab::batsim {

namespace {

constexpr int kAborted = 134;            // Batsim's assertions end it with SIGABRT, which shells show so
constexpr int kBySignal = 128;           // and the number of the signal
volatile std::sig_atomic_t stopped = 0;  // the signal that wants us to end

struct Arguments {
  std::string platform, prefix, socket, verbosity, version;
  std::vector<std::string> workloads, notes;  // `notes`: what is said of what was given
  std::map<std::string, std::string> roles;
  std::size_t most_hosts = 0;  // 0: all
  bool trace = true, states = true;
  Rules rules;
};

// One of them, as src/schedlab/cli/batsim_program.py writes them. One that is not known was written by a later one.
void read_argument(const std::string &word, Arguments &given) {
  const std::size_t equals = std::min(word.find('='), word.size());
  const std::string name = word.substr(0, equals), value = equals < word.size() ? word.substr(equals + 1) : "";
  if (name == "platform")
    given.platform = value;
  else if (name == "workload")
    given.workloads.push_back(value);
  else if (name == "note")
    given.notes.push_back(value);
  else if (name == "role")
    given.roles[value.substr(0, value.rfind(':'))] = value.substr(value.rfind(':') + 1);
  else if (name == "export")
    given.prefix = value;
  else if (name == "socket")
    given.socket = value;
  else if (name == "verbosity")
    given.verbosity = value;
  else if (name == "version")
    given.version = value;
  else if (name == "hosts" && whole_number(value, 0, kMostHosts))
    given.most_hosts = static_cast<std::size_t>(*whole_number(value, 0, kMostHosts));
  else if (name == "config")
    given.rules.scheduler_config = value;
  else if (name == "no-trace")
    given.trace = false;
  else if (name == "no-states")
    given.states = false;
  else if (name == "forward-profiles")
    given.rules.forward_profiles = true;
  else if (name == "acknowledge")
    given.rules.acknowledge = true;
  else if (name == "no-storage-sharing")
    given.rules.storage_sharing = false;
  else
    throw Unsupported(word);
}

void listen_to_signals() {
  struct sigaction action{};
  action.sa_handler = [](int number) { stopped = number; };  // without SA_RESTART: what waits is woken
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before;
    sigaction(number, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(number, &action, nullptr);
  }
}

std::vector<Host> hosts_of(const Arguments &given) {
  std::vector<Host> hosts = read_platform(given.platform, given.roles);
  if (given.most_hosts > hosts.size()) throw Unsupported("fewer hosts than asked for");
  if (given.most_hosts > 0) hosts.resize(given.most_hosts);
  return hosts;
}

void simulate(const Arguments &given, Workload &workload, const std::vector<Host> &hosts, Link &link, Outputs &outputs,
              Log &log, std::chrono::steady_clock::time_point began) {
  Feed feed(workload, stopped);
  const auto engine = std::make_shared<Engine>(
      Machine({"cores"}, {{static_cast<int>(hosts.size()), {1}}}), Placement("first-fit", 0),
      Estimator::make("limit", 1, true), Options{.repeat_workload = false, .own_amounts = true, .keep_rows = false},
      std::vector<Window>(), feed);
  Request host;
  host.chunk = {1}, host.groups = {true};
  engine->add_request(std::move(host), Reason::None);
  Talk talk(workload, hosts, given.rules, link, outputs, log);
  feed.set(talk, *engine);
  engine->prepare(talk.needs_estimated_ends(), talk.usage_half_life());
  engine->view()->wake_at(0);
  engine->run(talk);
  talk.finish(engine->view()->now());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  outputs.finish(talk.time(), took.count(), talk.waited(), given.version);
}

int run(const Arguments &given) {
  const auto began = std::chrono::steady_clock::now();
  Log log(given.verbosity != "quiet", given.verbosity != "quiet" && given.verbosity != "network-only");
  const std::vector<Host> hosts = hosts_of(given);
  Workload workload(given.workloads);
  std::vector<std::string> names;
  for (const Host &host : hosts) names.push_back(host.name);
  Link link(given.socket, stopped);
  Outputs outputs(given.prefix, names, given.trace, given.states);
  for (const std::string &note : given.notes) log.always(note);
  try {
    simulate(given, workload, hosts, link, outputs, log, began);
    return 0;
  } catch (const Interrupted &) {
    log.error("interrupted; what happened until then is in the files " + given.prefix + "_…");
    return outputs.close(), kBySignal + stopped;
  } catch (const std::exception &error) {
    log.error(error.what());
    return outputs.close(), kAborted;
  }
}

// What is opened must not get the numbers of these.
void keep_standard_streams() {
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0) open("/dev/null", O_RDWR);
}

// Instead of us.
void start(char **command) {
  if (stopped != 0) {
    std::signal(stopped, SIG_DFL);
    std::raise(stopped);
  }
  execv(command[0], command);
  std::perror(command[0]);
}

}  // namespace

}  // namespace schedlab::batsim

int main(int count, char **words) {
  using namespace schedlab::batsim;
  keep_standard_streams();
  listen_to_signals();
  char **end = words + count, **otherwise = std::find(words + 1, end, std::string_view("--"));
  try {
    Arguments given;
    for (char **word = words + 1; word < otherwise; ++word) read_argument(*word, given);
    return run(given);
  } catch (const Unsupported &) {  // before anything was said
    if (otherwise + 1 < end) start(otherwise + 1);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  return kAborted;
}
