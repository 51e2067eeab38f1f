#include "compression.hpp"

#include "engine.hpp"

namespace schedlab {

// start + estimate <= end may hold where estimate <= end - start does not.
constexpr double kRounding = 0x1p-50;

Compression::Compression(View &view, Counted &plan, ReservedList &waiting)
    : view_(view), free_(plan.free), waiting_(waiting), until_(-kNever) {
  Extremes all;
  for (std::size_t b = 0; b < waiting.block_count(); ++b) {
    const Extremes &some = waiting.summary(b);
    all.cores = std::min(all.cores, some.cores), all.longest = std::max(all.longest, some.longest);
  }
  least_cores_ = all.cores, longest_ = all.longest;
  few_ = !waiting.deep();
  may_shift_ = !few_ && waiting.exact() && free_.exact() && longest_ < kNever;
  for (const Span &span : plan.freed) open(span.from, span.until);
  plan.freed.clear();
}

bool Compression::run() {
  const Time now = view_.now();
  for (Position p; !waiting_.at_end(p);) {
    const Time start = waiting_.time(p);
    if (run_ > 0 && start > run_alone_ && start < kNever) {
      bring_forward(p);
      continue;
    }
    if (p.index == 0 && (few_ || start > until_) && nothing_for_block(p.block)) {
      p = waiting_.skip_block(p);
      know_ends_ = false, run_ = 0;
      continue;
    }
    const Reserved who = waiting_[p];
    const Time to = start > now ? new_start(who, start) : start;
    if (to < start) {
      p = move(p, to);
    } else {
      last_end_ = std::max(last_end_, start + who.estimate), run_ = 0;
      p = waiting_.next(p);
    }
  }
  return shifted_;
}

// ---- what has become free ----

void Compression::open(Time from, Time until) {
  from = std::max(from, view_.now());
  if (!(until > from)) return;
  until_ = std::max(until_, until);
  if (few_) return;
  if (collect_offers({from, until})) opened_.push_back({from, until});
}

// All largest rectangles of free cores that touch this time. Does one of them offer something to anybody?
bool Compression::collect_offers(const Span &span) {
  Profile::Position p = free_.at(span.from);
  while (!free_.first(p) && free_.free(p) >= least_cores_ && span.from - free_.begin(p) <= longest_) {
    const Profile::Position before = free_.previous(p);
    if (free_.free(before) < least_cores_) break;
    p = before;
  }
  rises_.clear();
  bool any = false;
  std::int64_t steps = 0;
  for (Time time = free_.begin(p);; ++steps) {
    const bool over = free_.at_end(p);
    Amount cores = over ? 0 : free_.free(p);
    if (cores < least_cores_) cores = 0;
    Time since = time;
    while (!rises_.empty() && rises_.back().second >= cores) {
      since = rises_.back().first;
      if (rises_.back().second > cores && since < span.until && time > span.from)
        any = offer(rises_.back().second, time - since + time * kRounding) || any;
      rises_.pop_back();
    }
    if (cores > 0) rises_.emplace_back(since, cores);
    if (over || (time >= span.until && (cores == 0 || time - span.until > longest_))) break;
    time = free_.end(p), p = free_.next(p);
  }
  for (const auto &[since, cores] : rises_)
    if (since < span.until) any = offer(cores, kNever) || any;  // for longer than anybody wants
  view_.worked(steps);
  return any;
}

bool Compression::offer(Amount cores, Time duration) {
  if (!waiting_.want(cores, duration)) return false;
  if (offered(cores, duration)) return true;
  std::erase_if(offers_, [&](const Offer &other) { return other.cores <= cores && other.duration <= duration; });
  offers_.push_back({cores, duration});
  return true;
}

bool Compression::offered(Amount cores, Time duration) const {
  for (const Offer &each : offers_)
    if (each.cores >= cores && each.duration >= duration) return true;
  return false;
}

// Others have taken some of it meanwhile.
void Compression::collect_offers_anew() {
  offers_.clear();
  std::erase_if(opened_, [this](const Span &span) { return !collect_offers(span); });
  offers_may_be_less_ = false;
}

bool Compression::nothing_for_block(std::size_t block) {
  const Extremes &some = waiting_.summary(block);
  if (few_) return free_.earliest({}, some.cores, 0, until_) == kNever;
  if (!offered(some.cores, some.estimate)) return true;
  const auto &corners = waiting_.corners(block);
  return std::none_of(corners.begin(), corners.end(),
                      [this](const Extremes::Corner &corner) { return offered(corner.cores, corner.estimate); });
}

// ---- one reservation ----

// Either cores are free right before its start, so that it comes forward, or all of it goes to another place.
Time Compression::new_start(const Reserved &who, Time start) {
  if (few_) return std::min(start, free_.earliest({}, who.cores, who.estimate, std::min(until_, start), start));
  const Time beside = start <= until_ ? next_to_it(who.cores, start) : start;
  if (!offered(who.cores, who.estimate)) return beside;
  const Time elsewhere = search(who, start);
  if (elsewhere == kNever && offers_may_be_less_) collect_offers_anew();
  return std::min(beside, elsewhere);
}

Time Compression::next_to_it(Amount cores, Time start) const {
  Profile::Position p = free_.before(start);
  if (free_.free(p) < cores) return start;
  while (!free_.first(p) && free_.free(free_.previous(p)) >= cores) p = free_.previous(p);
  return free_.begin(p);
}

Time Compression::search(const Reserved &who, Time start) {
  Time found = kNever;
  std::erase_if(opened_, [&](const Span &span) {
    if (free_.earliest(free_.at(span.from), least_cores_, 0, span.until) == kNever) return true;  // all of it is taken
    const Time before = std::min({span.until, start, found}), from = span.from - who.estimate;
    if (from < before) found = std::min(found, free_.earliest(free_.at(from), who.cores, who.estimate, before, start));
    return false;
  });
  return found;
}

Compression::Position Compression::move(Position p, Time to) {
  const Reserved who = waiting_[p];
  const Time from = waiting_.time(p);
  if (may_shift_) follow(p, from, to, who);
  const Time end = from + who.estimate, new_end = to + who.estimate;
  if (!(from < kNever)) {
    free_.add(to, new_end, -who.cores);
  } else if (new_end > from) {
    free_.add(to, from, -who.cores), free_.add(new_end, end, who.cores);
  } else {
    free_.add(from, end, who.cores), free_.add(to, new_end, -who.cores);
  }
  offers_may_be_less_ = true;
  if (from < kNever) open(std::max(from, new_end), end);
  view_.annotate(who.slot).reserved_start = to;
  view_.worked(16);
  return waiting_.move(p, to);
}

// ---- all that follow, at once ----

// It is about to be moved.
void Compression::follow(Position p, Time from, Time to, const Reserved &who) {
  if (!know_ends_) learn_ends(p);
  const Time by = from - to;
  if (by != run_) {
    members_.clear();
    run_ = by <= longest_ ? by : 0;
    run_alone_ = std::max(until_, last_end_ + by);
  }
  if (run_ > 0) members_.push_back({from + who.estimate, who.cores});
  last_end_ = std::max(last_end_, to + who.estimate);
}

void Compression::learn_ends(Position p) {
  last_end_ = view_.now();
  const EstimatedEnds &ends = view_.estimated_ends();
  for (EstimatedEnds::Position e; !ends.at_end(e); e = ends.next(e)) last_end_ = std::max(last_end_, ends[e].end);
  const Time start = waiting_.time(p);
  while (!waiting_.at_begin(p)) {
    p = waiting_.previous(p);
    if (waiting_.time(p) + 2 * longest_ < start) break;
    last_end_ = std::max(last_end_, waiting_.time(p) + waiting_[p].estimate);
  }
  know_ends_ = true;
}

// Whoever was moved and is still there at this time was moved by the same time, so from here on the plan is to be what
// it was, only earlier: all others follow. What they can find before is looked at as for everybody.
void Compression::bring_forward(Position p) {
  const Time start = waiting_.time(p), to = start - run_;
  for (const Member &each : members_)
    if (each.end > start) free_.add(std::max(each.end - run_, start), each.end, -each.cores);
  free_.bring_forward(start, run_);
  waiting_.shift(p, -run_);
  shifted_ = true;
  run_ = 0, know_ends_ = false;
  std::erase_if(opened_, [to](const Span &span) { return span.from >= to; });
  offers_may_be_less_ = true;
  until_ = -kNever;
  if (to > view_.now()) open(free_.begin(free_.before(to)), to);
}

}  // namespace schedlab
