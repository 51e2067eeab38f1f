#include "company.hpp"

#include <algorithm>

namespace schedlab {

Company::Company(const Machine &machine, const Placement &placement, std::shared_ptr<const Pairs> pairs)
    : machine_(&machine),
      wanted_(placement.kind()),
      threshold_(placement.threshold()),
      pairs_(std::move(pairs)),
      kind_(static_cast<std::size_t>(machine.nodes())) {
  for (int node = 0; node < machine.nodes(); ++node) {
    Kind &idle =
        kinds_[static_cast<std::size_t>(kind_[static_cast<std::size_t>(node)] = kind_of({machine.total(node, 0), {}}))];
    idle.nodes.insert(node), ++idle.count;
  }
}

int Company::kind_of(const Key &key) {
  const auto [found, fresh] = numbers_.try_emplace(key, static_cast<int>(kinds_.size()));
  if (fresh) kinds_.push_back({key.first, key.second, NodeSet(machine_->nodes())});
  return found->second;
}

int Company::next_kind(int kind, std::int32_t application, Amount cores, bool onto) {
  const auto [found, fresh] = steps_.try_emplace({kind, application, onto ? cores : -cores - 1}, 0);
  if (fresh) {
    const Kind &from = kinds_[static_cast<std::size_t>(kind)];
    Key key{from.free + (onto ? -cores : cores), from.applications};
    const auto place = std::lower_bound(key.second.begin(), key.second.end(), application);
    if (onto)
      key.second.insert(place, application);
    else
      key.second.erase(place);
    found->second = kind_of(key);
  }
  return found->second;
}

void Company::move(const Job &job, bool onto) {
  int last = -1, next = -1;
  Amount last_cores = -1;
  for (std::size_t i = 0; i < job.shares.size(); ++i) {
    const Share &share = job.shares[i];
    const Amount cores = job.request->exclusive ? machine_->total(share.node, 0)
                         : job.granted          ? job.granted->on(i)[0]
                                                : share.chunks * job.request->cores;
    int &kind = kind_[static_cast<std::size_t>(share.node)];
    if (kind != last || cores != last_cores)
      last = kind, last_cores = cores, next = next_kind(kind, job.application, cores, onto);
    Kind &from = kinds_[static_cast<std::size_t>(kind)], &to = kinds_[static_cast<std::size_t>(next)];
    from.nodes.erase(share.node), --from.count;
    to.nodes.insert(share.node), ++to.count;
    kind = next;
  }
}

bool Company::admits(const Kind &kind, const Job &job) const {
  if (kind.count == 0 || kind.free < job.request->node_cores()) return false;
  if (job.request->exclusive) return kind.applications.empty();
  if (!pairs_ || threshold_ <= 0) return true;
  return std::none_of(kind.applications.begin(), kind.applications.end(),
                      [&](std::int32_t other) { return pairs_->slower(job.application, other, threshold_); });
}

double Company::value(const Kind &kind, const Job &job) const {
  if (wanted_ == Placement::Kind::OccupiedFirst) return kind.applications.empty() ? 0 : 1;
  if (wanted_ != Placement::Kind::BestPair || !pairs_) return 0;
  if (kind.applications.empty()) return pairs_->on_its_own(job.application);
  double worst = kNever;
  for (const std::int32_t other : kind.applications) worst = std::min(worst, pairs_->harmony(job.application, other));
  return worst;
}

bool Company::place(const NodeState &state, const Job &job, Shares &shares) const {
  shares.clear();
  struct Offer {
    double value;
    const NodeSet *nodes;
    int next;
  };
  std::vector<Offer> offers;
  for (const Kind &kind : kinds_)
    if (admits(kind, job)) offers.push_back({value(kind, job), &kind.nodes, kind.nodes.next(0)});
  std::sort(offers.begin(), offers.end(),
            [](const Offer &a, const Offer &b) { return a.value != b.value ? a.value > b.value : a.next < b.next; });
  Amount rest = job.count;
  const auto later = [](const Offer &a, const Offer &b) { return a.next > b.next; };
  for (auto begin = offers.begin(); begin != offers.end();) {
    auto end = std::find_if(begin, offers.end(), [&](const Offer &offer) { return offer.value != begin->value; });
    const auto following = end;
    for (std::make_heap(begin, end, later); begin != end;) {  // of all that are as good, the smallest number first
      std::pop_heap(begin, end, later);
      Offer &offer = *(end - 1);
      const int node = offer.next;
      if (job.request->may_use(node))
        if (const Amount chunks = std::min(rest, machine_->capacity(state, node, *job.request)); chunks > 0) {
          shares.push_back({node, static_cast<std::int32_t>(chunks)});
          if ((rest -= chunks) == 0) return true;
        }
      offer.next = offer.nodes->next(node + 1);
      if (offer.next < machine_->nodes())
        std::push_heap(begin, end, later);
      else
        --end;
    }
    begin = following;
  }
  return false;
}

}  // namespace schedlab
