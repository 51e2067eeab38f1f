// The Python face of the native core: binds and nothing more.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

void bind_block(nb::module_ &module);
void bind_decider(nb::module_ &module);
void bind_engine(nb::module_ &module);
void bind_execution(nb::module_ &module);
void bind_jobs(nb::module_ &module);
void bind_learn(nb::module_ &module);
void bind_rows(nb::module_ &module);
void bind_swf(nb::module_ &module);

NB_MODULE(_core, module) {
  module.doc() = "schedlab's native core";
  bind_jobs(module);
  bind_decider(module);
  bind_execution(module);
  bind_engine(module);
  bind_learn(module);
  bind_rows(module);
  bind_block(module);
  bind_swf(module);
}
