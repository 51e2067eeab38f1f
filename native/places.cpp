// The table of places: what a job had on each of its nodes.
#include "engine.hpp"

namespace schedlab {

// It leaves its nodes now. One that has whole nodes is told, as everywhere, with what it asked for.
void Engine::write_places(Slot slot) {
  const Job &job = jobs_[slot];
  const std::vector<std::string> &names = machine_.resource_names();
  const std::vector<Device> none, &devices = job.granted ? job.granted->devices : none;
  if (!place_rows_) place_rows_.emplace(0, names, devices.size());
  auto device = devices.begin();
  for (std::size_t i = 0; i < job.shares.size(); ++i) {
    const auto first = device;
    while (device != devices.end() && device->share == static_cast<std::int32_t>(i)) ++device;
    if (place_rows_->room() == 0 || place_rows_->devices.room() < static_cast<std::size_t>(device - first)) {
      const int next = place_rows_->number() + 1;
      host_.take(std::move(*place_rows_));
      place_rows_.emplace(next, names, devices.size());
    }
    PlaceRows &rows = *place_rows_;
    const std::size_t row = rows.new_row();
    rows.sequence[row] = job.sequence, rows.id[row] = job.id;
    rows.node[row] = job.shares[i].node, rows.chunks[row] = job.shares[i].chunks;
    rows.from[row] = here_since_[slot], rows.until[row] = now_;
    for (std::size_t r = 0; r < names.size(); ++r)
      rows.amounts[r][row] = job.granted ? job.granted->on(i)[r] : job.shares[i].chunks * job.request->chunk[r];
    for (auto one = first; one != device; ++one) {
      const std::size_t at = rows.devices.new_row();
      rows.devices.resource[at] = one->resource, rows.devices.index[at] = one->index;
    }
    rows.devices_end[row] = static_cast<std::int32_t>(rows.devices.rows());
  }
}

}  // namespace schedlab
