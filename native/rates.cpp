// How fast jobs work: a rate is a product of factors, each set by one owner. Work is what shrinks by rate × time.
#include <algorithm>

#include "engine.hpp"

namespace schedlab {

void View::set_rate(Slot slot, double factor, std::string_view who) {
  constexpr const char *kWhat = "change the rate of";
  const Job &job = running_job(slot, kWhat);
  if (!(factor >= 0 && factor <= kFastest)) engine_->refuse(kWhat, slot, "a rate is a number from 0 to 1e9");
  const std::int32_t number = engine_->owner_number(who);
  if (factor == engine_->factor_of(job, number)) return;
  note(Act::SetRate, slot, factor, 0, 0, 0, {}, who);
  engine_->change_rate(slot, number, factor);
}

std::map<std::string, double> View::factors(const Job &job) const {
  std::map<std::string, double> named;
  if (job.pace)
    for (const Pace::Factor &each : job.pace->factors) named[engine_->owner_of(each)] = each.factor;
  return named;
}

Pace &Engine::pace_of(Job &job) {
  if (!job.pace) job.pace = std::make_unique<Pace>();
  return *job.pace;
}

std::int32_t Engine::owner_number(std::string_view name) {
  const auto found = std::find(owners_.begin(), owners_.end(), name);
  if (found != owners_.end()) return static_cast<std::int32_t>(found - owners_.begin());
  owners_.emplace_back(name);
  return static_cast<std::int32_t>(owners_.size() - 1);
}

double Engine::factor_of(const Job &job, std::int32_t owner) const {
  if (job.pace)
    for (const Pace::Factor &each : job.pace->factors)
      if (each.owner == owner) return each.factor;
  return 1;
}

// In the order of the owners' names: the same number whoever came first.
double Engine::product(const Pace &pace) const {
  double rate = 1;
  for (const Pace::Factor &each : pace.factors) rate *= each.factor;
  return rate;
}

void Engine::change_rate(Slot slot, std::int32_t owner, double factor) {
  Job &job = jobs_[slot];
  Pace &pace = pace_of(job);
  note_stay(job);
  pace.believed -= job.rate * (now_ - job.since);
  pace.done += job.rate * (now_ - job.since);
  settle(job);
  auto &factors = pace.factors;
  const auto place =
      std::lower_bound(factors.begin(), factors.end(), Pace::Factor{owner, factor},
                       [this](const Pace::Factor &a, const Pace::Factor &b) { return owner_of(a) < owner_of(b); });
  const bool known = place != factors.end() && place->owner == owner;
  if (factor == 1)
    factors.erase(place);  // it is known: without an entry its factor would be 1 already
  else if (known)
    place->factor = factor;
  else
    factors.insert(place, {owner, factor});
  job.rate = product(pace);
  job.pieced = true;
  write_rate(job, owner, factor);
  move_end(slot);
  if (options_.follow_rates) believe(slot);
}

void Engine::note_stay(Job &job) {
  Pace &pace = pace_of(job);
  if (pace.changed) return;
  pace.changed = true;
  pace.begin = job.since, pace.work = job.work, pace.done = 0, pace.believed = job.estimate - job.used;
}

void Engine::keep_rate(Slot slot, double rate) {
  Job &job = jobs_[slot];
  note_stay(job);
  job.rate = rate;
  move_end(slot);
  if (options_.follow_rates) believe(slot);
}

void Engine::write_rate(const Job &job, std::int32_t owner, double factor) {
  if (!rates_) rates_.emplace(0);
  if (rates_->room() == 0) {
    const int next = rates_->number() + 1;
    rates_->owners = owners_;
    host_.take(std::move(*rates_));
    rates_.emplace(next);
  }
  const std::size_t row = rates_->new_row();
  rates_->sequence[row] = job.sequence, rates_->id[row] = job.id, rates_->piece[row] = job.pace->stays;
  rates_->time[row] = now_, rates_->owner[row] = owner, rates_->factor[row] = factor, rates_->rate[row] = job.rate;
}

}  // namespace schedlab
