// What the bindings of View have in common.
#pragma once

#include "job_view.hpp"

namespace schedlab {

using ViewPtr = std::shared_ptr<View>;

inline View &live(View &view) {
  if (view.over()) throw DecisionError("the simulation is over: nothing can be decided any more");
  return view;
}
inline View &live(const ViewPtr &view) { return live(*view); }

// The same, to do something.
inline View &acting(View &view) {
  live(view);
  if (const char *question = view.asking())
    throw DecisionError(std::string(question) + " is a question: do nothing there but answer it");
  return view;
}
inline View &acting(const ViewPtr &view) { return acting(*view); }

// The job that a decision is about, noted for the message if something goes wrong.
inline Slot subject(const ViewPtr &view, const JobView &job) {
  acting(view);
  const Slot slot = job.slot();
  view->last_job = job.id();
  return slot;
}

// Jobs that are submitted during the run, and those that are withdrawn, held and released (bind_submit.cpp).
void bind_submit(nanobind::class_<View> &view);
nanobind::object short_submit(nanobind::handle view);  // the same as its `submit`, without detours

}  // namespace schedlab
