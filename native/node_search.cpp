// Searching the plan by nodes: where a job fits and when, and whose reservations a freed place may change.
#include "node_plan.hpp"

namespace schedlab {

namespace {

constexpr Amount kAny = std::numeric_limits<Amount>::min(), kTooMuch = std::numeric_limits<Amount>::max();

Amount times(Amount chunks, Amount each) {
  if (each <= 0) return kAny;
  return chunks > kTooMuch / each ? kTooMuch : chunks * each;
}

}  // namespace

Wanted::Wanted(const Machine &machine, const Job &job, Time duration)
    : job(job), request(*job.request), duration(duration) {
  const Amount limit = request.per_node_max ? request.per_node_max : INT32_MAX;
  const Amount least = std::max<Amount>(request.per_node_min, 1);
  const Amount enough = std::min(std::max(job.count, least), limit);
  most_ = limit < least ? 0 : std::min(job.count, limit);
  for (int r = 0; r < machine.resources(); ++r) {
    least_amount_.push_back(times(least, request.chunk[static_cast<std::size_t>(r)]));
    most_amount_.push_back(times(enough, request.chunk[static_cast<std::size_t>(r)]));
  }
}

Amount Wanted::count_chunks(const Amount *row) const {
  Amount chunks = most_;
  for (std::size_t r = 0; r < most_amount_.size(); ++r)
    if (request.chunk[r] > 0) chunks = std::min(chunks, row[r] / request.chunk[r]);
  return chunks;
}

// From the end of the time backwards: the last step that has nothing for the job settles it.
NodePlan::Look NodePlan::look(const Wanted &wanted, int node, Time from) const {
  const Time until = from + wanted.duration;
  const Steps &there = steps(node);
  const std::size_t first = there.at(from), last = there.last_before(until, first);
  Look found{kTooMuch, kNever};
  std::size_t i = last + 1;
  while (i-- > first && found.capacity > 0)
    if (const Amount capacity = wanted.capacity(there.row(i)); capacity < found.capacity)
      found = {capacity, there.end(i)};
  if (found.capacity == wanted.most()) found.until = kNever;
  worked(last - i);
  if (view_.has_calendar())
    for (const Window &window : view_.calendar())
      if (window.bars(wanted.job, from, until) && window.has(node))
        found = {0, found.capacity > 0 ? window.until : std::max(found.until, window.until)};
  return found;
}

// Where the placement puts the job among these nodes, which have room for it from then on.
bool NodePlan::place(const Wanted &wanted, Time from, std::vector<Candidate> &candidates, Shares &shares) const {
  const Placement::Kind kind = view_.placement().kind();
  if (kind == Placement::Kind::BestFit || kind == Placement::Kind::Spread)
    for (Candidate &candidate : candidates) {
      const Steps &there = steps(candidate.node);
      std::size_t i = there.at(from);
      candidate.free = there.row(i)[0];
      for (++i; i < there.size() && there.begin(i) < from + wanted.duration; ++i)
        candidate.free = std::min(candidate.free, there.row(i)[0]);
      worked(i);
    }
  worked(candidates.size());
  return view_.placement().place(wanted.request, candidates, wanted.job.count, wanted.job.sequence, shares);
}

bool NodePlan::possible(const Job &job, Time from, Time duration, Shares &shares) const {
  const Wanted wanted(view_.machine(), job, duration);
  std::vector<Candidate> candidates;
  Amount sum = 0;
  for (const auto &[first, last] : wanted.request.ranges)
    for (int node = first; node < last && !(first_fit() && sum >= job.count); ++node)
      if (const Amount capacity = look(wanted, node, from).capacity; capacity > 0)
        candidates.push_back({node, capacity, 0}), sum += capacity;
  shares.clear();
  return sum >= job.count && place(wanted, from, candidates, shares) && affords(job, shares, from, from + duration);
}

bool NodePlan::possible_on(const Job &job, const Shares &shares) const {
  const Time until = now_ + job.estimate;
  const auto has_room = [&](const Share &share) {
    const Amount *granted = job.granted ? job.granted->on(static_cast<std::size_t>(&share - shares.data())) : nullptr;
    const Steps &there = steps(share.node);
    for (std::size_t i = there.at(now_); i < there.size() && (there.begin(i) <= now_ || there.begin(i) < until); ++i)
      if (granted ? !view_.machine().has_room(there.row(i), there.row(i)[resources()], *job.request, granted)
                  : share.chunks > view_.machine().room(there.row(i), there.row(i)[resources()], *job.request))
        return false;
    return !view_.has_calendar() ||
           std::none_of(view_.calendar().begin(), view_.calendar().end(),
                        [&](const Window &w) { return w.bars(job, now_, until) && w.has(share.node); });
  };
  return affords(job, shares, now_, until) && std::all_of(shares.begin(), shares.end(), has_room);
}

Time NodePlan::earliest(const Job &job, const Chance &chance, Shares &shares) const {
  if (capped()) return earliest_affordable(job, chance.from, shares);
  const Wanted wanted(view_.machine(), job, job.estimate);
  if (chance.from < chance.before)
    if (const Time start = sweep(wanted, chance.from, chance.before, shares); start < kNever) return start;
  Time from = chance.otherwise;
  if (view_.has_calendar() || job.sequence < 0) return sweep(wanted, from, kNever, shares);
  // What was found for a job that wants no more holds for this one, too, until something is vacated.
  Known *same = nullptr;
  for (Known &known : known_)
    if (known.request == job.request && known.count <= job.count && known.duration <= job.estimate) {
      from = std::max(from, known.start);
      if (known.count == job.count && known.duration == job.estimate) same = &known;
    }
  const Time start = sweep(wanted, from, kNever, shares);
  if (same)
    same->start = start;
  else if (known_.size() < 256)
    known_.push_back({job.request, job.count, job.estimate, start});
  return start;
}

// From one moment to the next at which some node can take more. What a node could take when it was looked at last is an
// upper bound as long as its Look holds; only when the bounds add up to enough are the others looked at again.
Time NodePlan::sweep(const Wanted &wanted, Time from, Time before, Shares &shares) const {
  struct Seen {
    int node;
    Time at;
    Look look;
  };
  struct Rise {
    Time time;
    std::size_t seen;
    bool operator<(const Rise &other) const { return time > other.time; }  // the heap's top is the soonest
  };
  const Amount count = wanted.job.count;
  if (from == kNever) return kNever;
  std::vector<Seen> nodes;
  std::vector<Rise> rises;
  std::vector<Candidate> candidates;
  Amount sum = 0;
  const auto look_again = [&](std::size_t i, Time time) {
    Seen &seen = nodes[i];
    sum -= seen.look.capacity;
    seen.at = time, seen.look = look(wanted, seen.node, time);
    sum += seen.look.capacity;
    if (seen.look.until < before) rises.push_back({seen.look.until, i}), std::push_heap(rises.begin(), rises.end());
  };
  const auto fits = [&](Time time) {
    candidates.clear();
    for (const Seen &seen : nodes)
      if (seen.look.capacity > 0) candidates.push_back({seen.node, seen.look.capacity, 0});
    return place(wanted, time, candidates, shares);
  };
  for (const auto &[first, last] : wanted.request.ranges)
    for (int node = first; node < last; ++node) {
      nodes.push_back({node, from, look(wanted, node, from)});
      sum += nodes.back().look.capacity;
      if (nodes.back().look.until < before) rises.push_back({nodes.back().look.until, nodes.size() - 1});
      if (first_fit() && sum >= count) return fits(from) ? from : kNever;
    }
  if (sum >= count && fits(from)) return from;
  std::make_heap(rises.begin(), rises.end());
  while (!rises.empty()) {
    const Time time = rises.front().time;
    while (!rises.empty() && rises.front().time == time) {
      const std::size_t i = rises.front().seen;
      std::pop_heap(rises.begin(), rises.end()), rises.pop_back();
      if (nodes[i].look.until == time) look_again(i, time);
    }
    if (sum < count) continue;
    for (std::size_t i = 0; i < nodes.size() && sum >= count; ++i)
      if (nodes[i].at < time && nodes[i].look.capacity > 0) look_again(i, time);
    if (sum >= count && fits(time)) return time;
  }
  shares.clear();
  return kNever;
}

// Under a cap a later moment may be possible where an earlier one is not, although no node can take more: all steps of
// all nodes are tried.
Time NodePlan::earliest_affordable(const Job &job, Time from, Shares &shares) const {
  if (possible(job, from, job.estimate, shares)) return from;
  std::vector<Time> times;
  const auto add = [&](Time time) {
    if (time > from && time < kNever) times.push_back(time);
  };
  for (const Steps &there : nodes_)
    for (std::size_t i = 0; i < there.size(); ++i) add(there.begin(i));
  if (view_.has_calendar())
    for (const Window &window : view_.calendar()) add(window.until);
  worked(times.size());
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  for (const Time time : times)
    if (possible(job, time, job.estimate, shares)) return time;
  return kNever;
}

// ---- compression ----

// A job's reservation was the best when it was made or last looked at. What others have taken since then takes nothing
// from it, and what they took elsewhere was of no use to it; so only a place that has become free since then can give
// it an earlier start or another place. (Not so under a cap, where another place may be affordable; with a calendar,
// whose windows pass; and on a node that has less left than a new allocation would need there.)
std::optional<Plan::Chance> NodePlan::chance(const Job &job) {
  const bool unsure = capped() || view_.has_calendar() || job.reserved_mark < forgotten_ ||
                      std::any_of(
                          job.reserved_shares.begin(), job.reserved_shares.end(),
                          [&](const Share &share) { return share.chunks < job.request->per_node_min; });
  if (unsure) return Chance{now_, now_, now_};
  const Wanted wanted(view_.machine(), job, job.estimate);
  const Placement::Kind kind = view_.placement().kind();
  // Best-fit and spread choose by what others have left, so the place has to be chosen anew in any case.
  bool another_place = kind == Placement::Kind::BestFit || kind == Placement::Kind::Spread;
  Chance found{kNever, now_, job.reserved_start};
  for (std::size_t i = job.reserved_mark - forgotten_; i < freed_.size(); ++i) {
    const Freed &place = freed_[i];
    const Time before = std::min(place.until, job.reserved_start);
    Time from = std::max(place.from - job.estimate - 1, now_);  // a second too early: rounding does no harm
    if (from >= found.from && before <= found.before && another_place) continue;
    if (place.from >= job.reserved_start + job.estimate || !job.request->may_use(place.node)) continue;
    const Amount has = has_on(job, place.node);
    from = start_on(wanted, place.node, from, before, has > 0);
    if (from < before) found.from = std::min(found.from, from), found.before = std::max(found.before, before);
    another_place = another_place || changes_place(wanted, place, has);
  }
  if (found.from == kNever && !another_place) return std::nullopt;
  return found;
}

Amount NodePlan::has_on(const Job &job, int node) const {
  for (const Share &share : job.reserved_shares)
    if (share.node == node) return share.chunks;
  return 0;
}

// The first time between these at which the node has something for the job, for all of its duration. The time of its
// reservation counts as free if it has this node.
Time NodePlan::start_on(const Wanted &wanted, int node, Time from, Time before, bool has_it) const {
  const Job &job = wanted.job;
  const Steps &there = steps(node);
  const std::size_t first = there.at(from);
  Time start = from;
  std::size_t i = first;
  for (; i < there.size() && start < before && there.begin(i) < start + wanted.duration; ++i) {
    const bool own = has_it && there.end(i) > job.reserved_start && there.begin(i) < job.reserved_start + job.estimate;
    if (!own && !wanted.takes(there.row(i))) start = there.end(i);
  }
  worked(i - first + 1);
  return start < before ? start : kNever;
}

// Would the job be on other nodes at the time of its reservation, now that the node has this place?
bool NodePlan::changes_place(const Wanted &wanted, const Freed &place, Amount has) const {
  const Job &job = wanted.job;
  if (place.until <= job.reserved_start) return false;
  if (has > 0) return !first_fit() || place.node != job.reserved_shares.back().node;
  if (first_fit() && place.node > job.reserved_shares.back().node) return false;
  return look(wanted, place.node, job.reserved_start).capacity > 0;
}

}  // namespace schedlab
