// A decider whose decisions are made in Python.
#pragma once

#include <nanobind/nanobind.h>

#include "engine.hpp"

namespace schedlab {

class PythonDecider final : public Decider {
 public:
  explicit PythonDecider(nanobind::object decide) : decide_(std::move(decide)) {}
  void decide(View &view, std::span<const Event> events) override;
  bool needs_estimated_ends() const override { return true; }

 private:
  nanobind::object decide_;  // decide(view, events)
};

}  // namespace schedlab
