#pragma once

#include <span>

#include "bellman/row_evaluator.h"

namespace redoubt::internal {

// A weighted sum of these channels as a signal.
Signal weighted_signal(const Model& model, std::string name, std::span<const Channel> channels,
                       std::span<const double> weights);

// The problem whose reward is a weighted sum of these channels, without constraints. One nature
// faces the sum, so its robust optimum bounds what any policy has of it against a nature for each
// channel.
Problem weighted_sum(const Problem& problem, std::span<const Channel> channels,
                     std::span<const double> weights);

}  // namespace redoubt::internal
