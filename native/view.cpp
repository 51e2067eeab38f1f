// What deciders see and do.
#include "view.hpp"

#include <algorithm>

#include "engine.hpp"
#include "plan.hpp"

namespace schedlab {

View::View(Engine &engine) : engine_(&engine) {}
View::~View() = default;

std::shared_ptr<void> View::keep_alive() const { return engine_->shared_from_this(); }

std::span<const Event> View::events() const { return engine_->events(); }
const EstimatedEnds &View::estimated_ends() const { return engine_->estimated_ends(kNever); }
const EstimatedEnds &View::estimated_ends(Time until) const { return engine_->estimated_ends(until); }
const std::vector<Slot> &View::suspended() const { return engine_->suspended_; }
std::vector<Move> View::take_moves() { return std::exchange(engine_->moves_, {}); }
std::int64_t View::node_changes() const { return engine_->node_changes_; }
NodeMode View::mode(int node) const {
  return engine_->modes_.empty() ? NodeMode::Up : engine_->modes_[static_cast<std::size_t>(node)];
}

std::span<const Finished> View::history(std::int32_t user) const {
  const auto found = engine_->history_.find(user);
  return found == engine_->history_.end() ? std::span<const Finished>() : std::span<const Finished>(found->second);
}

std::string View::node_name(int node) const {
  const auto i = static_cast<std::size_t>(node);
  return i < node_names.size() ? node_names[i] : std::to_string(node);
}

// ---- time and nodes ----

const Usage *View::usage() const { return engine_->usage_.get(); }

void View::wake_at(Time time, std::int64_t waker) {
  if (!(time > engine_->now_)) engine_->refuse_waking(waker >= 0 ? "an observer" : "the policy", time);
  note(Act::WakeAt, waker, time);
  if (time < kNever) engine_->timers_.push({time, Engine::TimerKind::Wake, engine_->timer_order_++, kNoSlot, waker});
  if (engine_->led_ && time < kNever) engine_->led_->wakes.push_back(time);
}

std::int64_t View::waker() const {
  const auto found = std::find(wakers.begin(), wakers.end(), owner);
  return found == wakers.end() ? -1 : found - wakers.begin();
}

bool View::anybody_woken() const { return !engine_->woken_.empty(); }

std::vector<std::int64_t> View::take_woken() {
  std::vector<std::int64_t> numbers = std::exchange(engine_->woken_, {});
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

void View::close(int node, NodeMode mode) {
  if (node < 0 || node >= machine().nodes()) engine_->refuse_node("close", node, "there is no such node");
  note(Act::Close, node, 0, 0, static_cast<std::int32_t>(mode));
  if (!cluster().closed(node)) engine_->cluster_.close(node);
  ++engine_->changes_;
  engine_->write_node(node, mode);
  engine_->tell(Event::Kind::Closed, kNoSlot, node);
}

void View::open(int node) {
  if (node < 0 || node >= machine().nodes()) engine_->refuse_node("open", node, "there is no such node");
  if (!cluster().closed(node)) engine_->refuse_node("open", node, "it is open");
  note(Act::Open, node);
  engine_->cluster_.open(node);
  ++engine_->changes_;
  engine_->write_node(node, NodeMode::Up);
  engine_->tell(Event::Kind::Opened, kNoSlot, node);
}

const BudgetBooks *View::books() {
  if (engine_->books_ && now() > -kNever) engine_->books_->pass_time(now(), cluster().state().spending);
  return engine_->books_.get();
}

void View::refuse(const char *what, Slot slot, const std::string &why) const { engine_->refuse(what, slot, why); }

void View::touch() { ++engine_->changes_; }

}  // namespace schedlab
