#pragma once

#include <nanobind/nanobind.h>

#include "redoubt/simulator.h"

// A Python function that answers many queries in one call. The lock is taken for the call only.
class PythonSimulator : public redoubt::Simulator {
 public:
  PythonSimulator(redoubt::SimulatorShape shape, nanobind::object function, int batch)
      : shape_(std::move(shape)), function_(std::move(function)), batch_(batch) {}

  const redoubt::SimulatorShape& shape() const override { return shape_; }
  void answer(const Next& next, const Receive& receive) override;

 private:
  void answer_batch(const std::vector<redoubt::Query>& queries, const Receive& receive) const;

  redoubt::SimulatorShape shape_;
  nanobind::object function_;
  int batch_;
};
