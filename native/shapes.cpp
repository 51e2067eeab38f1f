// Jobs that may have several shapes: a moldable one gets one of them at its start, a malleable one may change it.
#include "engine.hpp"

namespace schedlab {

// The other shapes that it may have.
void Engine::read_shapes(Job &job, std::size_t i) {
  const auto first = static_cast<std::size_t>(i == 0 ? 0 : input_.shape_end[i - 1]),
             last = static_cast<std::size_t>(input_.shape_end[i]);
  if (first == last) return;
  job.flexible = std::make_unique<Flexible>();
  job.flexible->shapes.push_back({job.request, job.request_number, job.count, job.runtime, job.limit});
  for (std::size_t k = first; k < last; ++k) {
    const std::int32_t request = input_.shape_request[k];
    job.flexible->shapes.push_back({known_[static_cast<std::size_t>(request)].request, request, input_.shape_count[k],
                                    input_.shape_runtime[k], input_.shape_limit[k]});
  }
  job.flexible->malleable = input_.malleable[i];
  job.flexible->interval = input_.interval[i];
}

// From now on it is the job that it would be if it had been submitted so; what it has done counts in proportion.
void Engine::take_shape(Job &job, std::int32_t shape) {
  const Shape &next = job.flexible->shapes[static_cast<std::size_t>(shape)];
  const double whole = job.whole();
  if (whole > 0 && whole < kNever && next.runtime < kNever)
    job.overhead *= next.runtime / whole, job.work *= next.runtime / whole;
  else
    job.overhead = 0, job.work = next.runtime;  // there is no proportion
  if (job.pace) job.pace->whole = -1;
  if (job.limit > 0 && job.limit < kNever && next.limit < kNever) {
    const double scale = next.limit / job.limit;
    job.estimate *= scale, job.first_estimate *= scale;
    job.used *= scale, job.allowance *= scale;
  } else {
    job.estimate = job.first_estimate = next.limit;
    job.allowance = std::max(next.limit - job.used, 0.0);
  }
  job.request = next.request, job.request_number = next.request_number;
  job.count = next.count, job.cores = next.count * next.request->cores;
  job.runtime = next.runtime, job.limit = next.limit;
  job.shape = shape;
}

Engine::ShapeMarks Engine::shape_marks(const Job &job) const {
  return {job.request,   job.request_number, job.count,
          job.cores,     job.runtime,        job.limit,
          job.work,      job.overhead,       job.pace ? job.pace->whole : -1,
          job.estimate,  job.first_estimate, job.used,
          job.allowance, job.since,          job.shape};
}

void Engine::restore(Job &job, const ShapeMarks &m) {
  job.request = m.request, job.request_number = m.request_number, job.count = m.count, job.cores = m.cores;
  job.runtime = m.runtime, job.limit = m.limit, job.work = m.work, job.overhead = m.overhead;
  if (job.pace) job.pace->whole = m.whole;
  job.estimate = m.estimate, job.first_estimate = m.first_estimate;
  job.used = m.used, job.allowance = m.allowance, job.since = m.since, job.shape = m.shape;
}

// When a malleable job may change its shape next: every so many seconds from its start on.
void Engine::set_point(Slot slot) {
  Job &job = jobs_[slot];
  const Time interval = job.flexible->interval;
  if (!job.flexible->malleable || !(interval > 0)) return;
  double number = std::floor((now_ - job.start) / interval) + 1;
  while (job.start + number * interval <= now_) ++number;  // the quotient is rounded
  job.flexible->point = timer_order_;
  set_timer(job.start + number * interval, TimerKind::Point, slot);
}

bool Engine::is_at_point(const Job &job) const {
  const Time interval = job.flexible->interval;
  if (!(interval > 0)) return true;
  const Time nearest = job.start + std::round((now_ - job.start) / interval) * interval;
  return std::abs(nearest - now_) <= 1e-9 * interval + 1e-12 * std::abs(now_);
}

}  // namespace schedlab
