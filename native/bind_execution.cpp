// Binds how placed jobs fare.
#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "execution.hpp"

namespace nb = nanobind;
using namespace nb::literals;

void bind_execution(nb::module_ &module) {
  using namespace schedlab;

  nb::class_<Pairs>(module, "Pairs", "How fast applications run beside one another.")
      .def(
          "__init__",
          [](Pairs *place, std::vector<std::string> names, std::vector<double> speedups, std::vector<double> alone,
             bool multiply, bool cap) {
            if (speedups.size() != names.size() * names.size() || alone.size() != names.size())
              throw nb::value_error("a speed-up for each pair of names is needed");
            new (place) Pairs{std::move(names), std::move(speedups), std::move(alone), multiply, cap};
          },
          nb::kw_only(), "names"_a, "speedups"_a, "alone"_a, "multiply"_a, "cap"_a)
      .def_ro("names", &Pairs::names);

  nb::class_<Execution>(module, "Execution",
                        "How placed jobs fare, in the core: their work, and factors of their rates.")
      .def_prop_ro("name", &Execution::name, "as an owner of factors");
  module.def("sharing", &make_sharing, "name"_a, "factor"_a, "Jobs that share a node with others work at this rate.");
  module.def(
      "interference",
      [](std::string name, std::shared_ptr<Pairs> pairs) {
        return make_interference(std::move(name), std::move(pairs));
      },
      "name"_a, "pairs"_a, "Jobs that share nodes work as fast as they let each other.");
  module.def("speeds", &make_speeds, "name"_a, "speeds"_a,
             "A job takes as long as its slowest node lets it; a speed for each node, 1 is that of the log.");
}
