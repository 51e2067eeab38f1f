// The calendar: nodes that are set aside for a time, and who has to keep off them (docs/semantics.md).
#include <algorithm>

#include "engine.hpp"

namespace schedlab {

namespace {

std::string seconds(Time time) {
  char text[32];
  std::snprintf(text, sizeof text, "%.15g s", time);
  return text;
}

}  // namespace

// Time is [now, end), and the moment itself even if that is empty.
bool Window::bars(const Job &job, Time now, Time end) const {
  return until > now && (from <= now || from < end) && !allows(job);
}

bool Window::allows(const Job &job) const { return std::find(users.begin(), users.end(), job.user) != users.end(); }

bool Window::has(int node) const { return std::binary_search(nodes.begin(), nodes.end(), node); }

std::string Window::text() const {
  return "set aside" + (owner.empty() ? "" : " by " + owner) + " from " + seconds(from) + " until " + seconds(until);
}

const std::vector<Window> &View::calendar() const { return engine_->calendar_; }

Time View::believed_end(const Job &job) const {
  if (job.state == State::Waiting) return now() + job.estimate;
  return (job.state == State::Running ? job.since : now()) + (job.estimate - job.used);
}

const Window *View::window_against(const Job &job, int node) const {
  if (!has_calendar()) return nullptr;
  const Time end = believed_end(job);
  for (const Window &window : calendar())
    if (window.bars(job, now(), end) && window.has(node)) return &window;
  return nullptr;
}

std::string View::why_not(const Job &job, int node, const Window &window) const {
  return "node " + node_name(node) + " is " + window.text() + ", and the job would be there until " +
         seconds(believed_end(job));
}

bool View::restricted(const Job &job) const {
  if (!has_calendar()) return false;
  const Time end = believed_end(job);
  return std::any_of(calendar().begin(), calendar().end(),
                     [&](const Window &window) { return window.bars(job, now(), end); });
}

void View::restrict(NodeState &state, const Job &job, Time from, Time until) const {
  const auto stride = static_cast<std::size_t>(machine().resources());
  for (const Window &window : calendar()) {
    if (!window.bars(job, from, until)) continue;
    for (const int node : window.nodes) {
      const auto first = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(node) * stride);
      std::fill_n(state.free.begin() + first, stride, 0);
      state.jobs[static_cast<std::size_t>(node)] |= NodeState::kExclusive;
    }
  }
}

std::vector<Time> View::usable_until(const Job &job) const {
  std::vector<Time> times(static_cast<std::size_t>(machine().nodes()), kNever);
  for (int node = 0; node < machine().nodes(); ++node)
    if (cluster().closed(node) || !job.request->may_use(node)) times[static_cast<std::size_t>(node)] = now();
  for (const Window &window : calendar()) {
    if (!window.bars(job, now(), kNever)) continue;
    for (const int node : window.nodes) {
      Time &time = times[static_cast<std::size_t>(node)];
      time = std::min(time, std::max(window.from, now()));
    }
  }
  return times;
}

// Nobody may be there before the window is over, and then its owner opens the node: a plan can count on that.
bool View::opens_after_window(int node) const {
  return mode(node) == NodeMode::Maintenance &&
         std::any_of(calendar().begin(), calendar().end(), [&](const Window &window) {
           return window.users.empty() && window.from <= now() && now() < window.until && window.has(node);
         });
}

}  // namespace schedlab
