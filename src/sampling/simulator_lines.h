#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "redoubt/simulator.h"

// What a simulator program writes, a line at a time; docs/sampling.md describes it. A line that
// breaks a rule is an Error.
namespace redoubt::internal {

// Its first line: what can be asked of it.
SimulatorShape read_hello(const std::string& line);

struct Answer {
  std::int64_t id = -1;
  Sample sample;
};

// Every other line. `waits` tells whether the query of this id has had no answer yet.
Answer read_answer(const std::string& line, const SimulatorShape& shape,
                   const std::function<bool(std::int64_t)>& waits);

}  // namespace redoubt::internal
