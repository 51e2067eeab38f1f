// Work during which other threads of Python go on: a server has more than one to answer.
#pragma once

#include <nanobind/nanobind.h>

namespace schedlab {

template <class Work>
auto without_python(const Work &work) {
  const nanobind::gil_scoped_release released;
  return work();
}

}  // namespace schedlab
