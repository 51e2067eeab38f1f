// Whether the engine's books agree with what its jobs say (validate=True).
#include <algorithm>

#include "engine.hpp"

namespace schedlab {

namespace {
bool on_node(const Job &job, int node) {
  return std::any_of(job.shares.begin(), job.shares.end(), [node](const Share &share) { return share.node == node; });
}
}  // namespace

void Engine::validate() const {
  const auto require = [this](bool good, const char *what) {
    if (!good) throw InvariantError(std::string(what) + " at " + std::to_string(now_) + " s");
  };
  NodeState fresh = machine_.empty();
  DeviceBook devices;
  const auto resources = static_cast<std::size_t>(machine_.resources());
  std::int64_t running = 0, waiting = 0;
  std::size_t tracked = 0;
  for (Slot slot = 0; slot < jobs_.size(); ++slot) {
    const Job &job = jobs_[slot];
    waiting += job.state == State::Waiting;
    require(!job.waits || job.state == State::Held, "a job that is not held waits for others");
    if (job.state != State::Running) continue;
    ++running;
    std::int64_t chunks = 0;
    for (const Share &share : job.shares) chunks += share.chunks;
    require(chunks == job.count || job.granted, "a running job has not the chunks it asked for");
    require(job.rate == (job.pace ? product(*job.pace) : 1), "a rate is not the product of its factors");
    for (std::size_t i = 1; job.pace && i < job.pace->factors.size(); ++i)
      require(owner_of(job.pace->factors[i - 1]) < owner_of(job.pace->factors[i]), "factors are not in order");
    if (job.released) continue;
    tracked += job.listed;
    const auto is_it = [&](const Started &who) { return who.slot == slot && who.order == job.start_order; };
    const bool later = job.estimated_end > horizon_ && std::any_of(later_.begin(), later_.end(), is_it);
    require(!track_ends_ || job.listed || later || std::any_of(unlisted_.begin(), unlisted_.end(), is_it),
            "a running job is not among the estimated ends, and will not be");
    machine_.apply(fresh, *job.request, job.shares, -1, job.granted.get());
    if (job.granted) devices.change(job.shares, *job.granted, true);
    require(job.end >= now_ && (job.estimated_end > now_ || job.end == now_ || job.estimated_end == now_),
            "a running job should have ended");
  }
  for (int node = 0; node < machine_.nodes(); ++node)
    if (cluster_.closed(node)) {
      std::fill_n(fresh.free.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(node) * resources),
                  resources, 0);
      fresh.jobs[static_cast<std::size_t>(node)] += NodeState::kExclusive;
      if (machine_.budget()) machine_.set_mode(fresh.spending, node, modes_[static_cast<std::size_t>(node)]);
    }
  require(fresh.free == cluster_.state().free && fresh.jobs == cluster_.state().jobs, "free resources do not add up");
  require(fresh.spending == cluster_.state().spending, "what is taken of the budget does not add up");
  require(devices == cluster_.devices(), "the devices in use are not those of the running jobs");
  require(cluster_.free_nodes().agrees(machine_, cluster_.state()), "the index of free nodes is wrong");
  Amount free_cores = 0;
  for (int node = 0; node < machine_.nodes(); ++node)
    for (int r = 0; r < machine_.resources(); ++r) {
      const Amount free = fresh.free[static_cast<std::size_t>(node * machine_.resources() + r)];
      require(free >= 0 && free <= machine_.total(node, r), "a node is over-full");
      if (r == 0) free_cores += free;
    }
  require(free_cores == cluster_.free_cores(), "the number of free cores is wrong");
  require(running == running_count_ && waiting == waiting_count_, "jobs are miscounted");
  for (int node = 0; occupants_ && node < machine_.nodes(); ++node) {
    const std::vector<Slot> &there = occupants_->on(node);
    std::vector<Slot> expected;
    for (Slot slot = 0; slot < jobs_.size(); ++slot)
      if (jobs_[slot].state == State::Running && !jobs_[slot].released && on_node(jobs_[slot], node))
        expected.push_back(slot);
    sort_by_start(expected);
    require(there == expected, "who is on a node is not who should be there");
  }
  require(estimated_ends_.size() == tracked, "the estimated ends are not those of the running jobs");
  std::size_t listed = 0;
  for (Slot slot = waiting_first_; slot != kNoSlot; slot = jobs_[slot].next) ++listed;
  require(static_cast<std::int64_t>(listed) == waiting_count_, "the list of waiting jobs is broken");
}

}  // namespace schedlab
