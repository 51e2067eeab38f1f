// What is not carried here: schedlab's Python program takes over, which carries all, and has the words for all
// mistakes.
#pragma once

#include <stdexcept>

namespace schedlab::batsim {

struct Unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace schedlab::batsim
