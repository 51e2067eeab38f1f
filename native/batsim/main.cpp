// `schedlab batsim` where all jobs are delays on hosts of their own, which is most of what is simulated with it: the
// engine, the conversation with the scheduler and Batsim's files, without Python. What it is given has been read from
// Batsim's command line (src/schedlab/cli/batsim_program.py); what it does not carry is left to the command that was
// given after `--`.
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>

#include "feed.hpp"
#include "files.hpp"
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
  std::vector<char *> otherwise;  // the command for what is not carried here
};

Arguments read(int count, char **words) {
  Arguments found;
  int at = 1;
  for (; at < count && std::strcmp(words[at], "--") != 0; ++at) {
    const std::string word = words[at];
    const std::size_t equals = std::min(word.find('='), word.size());
    const std::string name = word.substr(0, equals), value = equals < word.size() ? word.substr(equals + 1) : "";
    const std::size_t colon = value.rfind(':');
    if (name == "platform") found.platform = value;
    if (name == "workload") found.workloads.push_back(value);
    if (name == "note") found.notes.push_back(value);
    if (name == "role" && colon != std::string::npos) found.roles[value.substr(0, colon)] = value.substr(colon + 1);
    if (name == "export") found.prefix = value;
    if (name == "socket") found.socket = value;
    if (name == "verbosity") found.verbosity = value;
    if (name == "version") found.version = value;
    if (name == "hosts") found.most_hosts = std::strtoul(value.c_str(), nullptr, 10);
    if (name == "no-trace") found.trace = false;
    if (name == "no-states") found.states = false;
    if (name == "forward-profiles") found.rules.forward_profiles = true;
    if (name == "acknowledge") found.rules.acknowledge = true;
    if (name == "no-storage-sharing") found.rules.storage_sharing = false;
    if (name == "config") found.rules.scheduler_config = value;
  }
  for (++at; at < count; ++at) found.otherwise.push_back(words[at]);
  found.otherwise.push_back(nullptr);
  return found;
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
  listen_to_signals();
  Log log(given.verbosity != "quiet", given.verbosity != "quiet" && given.verbosity != "network-only");
  Workload workload(given.workloads);
  const std::vector<Host> hosts = hosts_of(given);
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

}  // namespace

}  // namespace schedlab::batsim

int main(int count, char **words) {
  using namespace schedlab::batsim;
  const Arguments given = read(count, words);
  try {
    return run(given);
  } catch (const Unsupported &) {  // before anything was said
    execv(given.otherwise[0], given.otherwise.data());
    std::perror(given.otherwise[0]);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  return kAborted;
}
