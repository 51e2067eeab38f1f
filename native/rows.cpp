// What is written down: rows of the timeline, of jobs, of the pieces of their lives and of nodes.
#include "engine.hpp"

namespace schedlab {

namespace {
const Shares kNowhere;
}

// The stretch of its life that ends now.
void Engine::write_piece(Job &job, PieceEnd how, Reason reason) {
  job.pieced = true;
  const auto nodes = static_cast<std::size_t>(machine_.nodes());
  if (!pieces_) pieces_.emplace(0, nodes);
  if (!pieces_->has_room(job.shares)) {
    const int next = pieces_->number() + 1;
    host_.take(std::move(*pieces_));
    pieces_.emplace(next, nodes);
  }
  const std::size_t row = pieces_->new_row();
  Pace &pace = pace_of(job);
  const double work = pace.changed ? pace.work : job.work;
  const double done = work < kNever ? work - job.remaining(now_) : job.done(now_);
  pieces_->sequence[row] = job.sequence, pieces_->id[row] = job.id;
  pieces_->cores[row] = job.cores, pieces_->count[row] = job.count, pieces_->request[row] = job.request_number;
  pieces_->begin[row] = pace.changed ? pace.begin : job.since, pieces_->end[row] = now_;
  pieces_->work[row] = work, pieces_->done[row] = how == PieceEnd::Completed && reason == Reason::None ? work : done;
  pieces_->whole[row] = job.whole(), pieces_->expected_end[row] = job.expected_end;
  pieces_->how[row] = static_cast<std::uint8_t>(how), pieces_->reason[row] = static_cast<std::uint8_t>(reason);
  pieces_->allocated[row] = pieces_->allocations.add(job.shares);
  ++pace.stays, pace.changed = false;
  if (how == PieceEnd::Requeued || how == PieceEnd::Suspended) pace.factors.clear();  // its next stay begins at rate 1
}

void Engine::write_node(int node, NodeMode mode) {
  modes_.resize(static_cast<std::size_t>(machine_.nodes()), NodeMode::Up);
  modes_[static_cast<std::size_t>(node)] = mode;
  const bool begun = books_ && now_ > -kNever;  // else the books begin with what the node is then
  if (begun) books_->before(now_, cluster_.state().spending, node);
  cluster_.set_mode(node, mode);
  if (begun) books_->after(now_, cluster_.state().spending);
  ++node_changes_;
  if (!node_rows_) node_rows_.emplace(0);
  if (node_rows_->room() == 0) {
    const int next = node_rows_->number() + 1;
    host_.take(std::move(*node_rows_));
    node_rows_.emplace(next);
  }
  const std::size_t row = node_rows_->new_row();
  node_rows_->time[row] = now_ > -kNever ? now_ : next_time();  // before anything happens: from the first moment on
  node_rows_->node[row] = node, node_rows_->mode[row] = static_cast<std::uint8_t>(mode);
}

void Engine::hand_over_rows() {
  if (!options_.keep_rows) return rows_.begin_again(), rows_.allocations.begin_again();
  const int next = rows_.number() + 1;
  host_.take(std::move(rows_));
  rows_ = JobRows(next, rows_.content);
}

// The row of a job that leaves now.
void Engine::write(const Job &job, State state) {
  if (!rows_.has_room(job.shares)) hand_over_rows();
  const std::size_t row = rows_.new_row();
  const bool started = !std::isnan(job.start);
  rows_.sequence[row] = job.sequence, rows_.cores[row] = job.cores;
  rows_.eligible[row] = job.eligible, rows_.start[row] = job.start, rows_.end[row] = job.end;
  rows_.estimate[row] = job.first_estimate;
  rows_.priority[row] = started ? job.key : job.start;
  rows_.state[row] = static_cast<std::uint8_t>(state), rows_.reason[row] = static_cast<std::uint8_t>(job.reason);
  rows_.backfilled[row] = started ? job.backfilled.code : 0;
  rows_.allocated[row] = rows_.allocations.add(started ? job.shares : kNowhere);
  if (rows_.content.applications) [[unlikely]]
    rows_.application[row] = job.application;
  if (!rows_.content.workload) return;
  rows_.id[row] = job.id, rows_.count[row] = job.count, rows_.request[row] = job.request_number;
  rows_.user[row] = job.user, rows_.group[row] = job.group, rows_.queue[row] = job.queue;
  rows_.partition[row] = job.partition;
  rows_.submit[row] = job.submit, rows_.runtime[row] = job.runtime, rows_.limit[row] = job.limit;
}

void Engine::record() {
  const auto running = static_cast<std::int32_t>(running_count_), queued = static_cast<std::int32_t>(waiting_count_);
  std::size_t row = timeline_.rows();
  if (row > 0) {
    const std::size_t last = row - 1;
    if (timeline_.running[last] == running && timeline_.queued[last] == queued &&
        timeline_.used_cores[last] == running_cores_ && timeline_.queued_cores[last] == waiting_cores_ &&
        (machine_.resources() == 1 || repeats_others(last)))
      return;
    if (timeline_.time[last] == now_) row = last;  // another round of the same instant
  }
  if (row == timeline_.rows()) {
    if (timeline_.room() == 0) hand_over_timeline();
    row = timeline_.new_row();
  }
  timeline_.time[row] = now_;
  timeline_.running[row] = running, timeline_.queued[row] = queued;
  timeline_.used_cores[row] = running_cores_, timeline_.queued_cores[row] = waiting_cores_;
  if (machine_.resources() > 1) [[unlikely]]
    record_others(row);
}

void Engine::hand_over_timeline() {
  if (!options_.keep_rows) return timeline_.begin_again();
  const int next = timeline_.number() + 1;
  host_.take(std::move(timeline_));
  timeline_ = TimelineRows(next, machine_.resource_names());
}

void Engine::record_others(std::size_t row) {
  for (std::size_t k = 0; k < others_.size(); ++k) timeline_.others[k][row] = others_[k];
}

// Whether nothing has changed in the other resources since that row.
bool Engine::repeats_others(std::size_t row) const {
  for (std::size_t k = 0; k < others_.size(); ++k)
    if (timeline_.others[k][row] != others_[k]) return false;
  return true;
}

}  // namespace schedlab
