// Starting jobs with amounts that somebody grants them, which need not be chunks of their requests.
#include <algorithm>

#include "engine.hpp"

namespace schedlab {

// Every amount is free, and together they hold what the job asks for. Where its chunks would lie follows from them: as
// many on a node as its amounts hold there, and at least one, so that a node that it has is never one without chunks.
void View::check_grant(const Job &job, Slot slot, Grant &grant, const char *what) const {
  if (!grant.granted) return check_nodes(job, slot, grant.shares, what);
  check_usable(job, slot, grant.shares, what);
  Amount held = 0;
  for (std::size_t i = 0; i < grant.shares.size(); ++i) {
    Share &share = grant.shares[i];
    const Amount *amounts = grant.granted->on(i);
    check_amounts(job, slot, share.node, amounts, what);
    const Amount chunks = std::min<Amount>(machine().chunks_in(amounts, *job.request), INT32_MAX);
    const Amount most = job.request->per_node_max;
    held += most > 0 ? std::min(chunks, most) : chunks;
    share.chunks = static_cast<std::int32_t>(std::max<Amount>(chunks == INT32_MAX ? job.count : chunks, 1));
  }
  if (held < job.count && !engine_->options_.own_amounts)
    engine_->refuse(what, slot,
                    "the amounts given hold " + std::to_string(held) + " of its " + std::to_string(job.count) +
                        " chunks; only a policy with own_amounts = True may grant less than a job asks for");
  check_devices(slot, grant, what);
}

void View::check_amounts(const Job &job, Slot slot, int node, const Amount *amounts, const char *what) const {
  const auto resources = static_cast<std::size_t>(machine().resources());
  const Amount *free = &cluster().state().free[static_cast<std::size_t>(node) * resources];
  for (std::size_t r = 0; r < resources; ++r) {
    const std::string &name = machine().resource_names()[r];
    if (amounts[r] < 0) engine_->refuse(what, slot, "it cannot have less than nothing of " + name);
    if (amounts[r] > free[r])
      engine_->refuse(what, slot,
                      "node " + node_name(node) + " has " + std::to_string(free[r]) + " of " + name + " free, not " +
                          std::to_string(amounts[r]));
  }
  const std::int32_t jobs = cluster().state().jobs[static_cast<std::size_t>(node)];
  if (!machine().has_room(free, jobs, *job.request, amounts))
    engine_->refuse(what, slot, "node " + node_name(node) + " cannot be shared: one of its jobs is to be alone there");
}

// Single devices: there are as many, each is named once, and nobody has it.
void View::check_devices(Slot slot, const Grant &grant, const char *what) const {
  const std::vector<Device> &devices = grant.granted->devices;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const Device &device = devices[i];
    const int node = grant.shares[static_cast<std::size_t>(device.share)].node;
    const auto refuse = [&](const char *why) {
      const std::string &name = machine().resource_names()[static_cast<std::size_t>(device.resource)];
      engine_->refuse(what, slot, name + " " + std::to_string(device.index) + " of node " + node_name(node) + why);
    };
    if (device.index < 0 || device.index >= machine().total(node, device.resource)) refuse(" does not exist");
    if (i > 0 && devices[i - 1] == device) refuse(" is named twice");
    if (cluster().devices().in_use(node, device)) refuse(" is in use");
  }
}

bool View::start_granted(Slot slot, Grant &grant, double priority, Backfilled backfilled) {
  Job &job = engine_->jobs_[slot];
  check_grant(job, slot, grant, "start");
  if (!affords(job, grant.shares, grant.granted.get())) return false;
  if (!reservations_.empty())
    return start_beside_reservations(slot, &grant.shares, priority, backfilled, std::move(grant.granted));
  job.shares = std::move(grant.shares), job.granted = std::move(grant.granted);
  if (begin(slot, priority, backfilled)) return true;
  job.granted.reset();
  return false;
}

}  // namespace schedlab
