#pragma once

#include <vector>

#include "redoubt/advanced/abstraction.h"

namespace redoubt::internal {

// How far from zero the noise is looked at.
double farthest(const AxisNoise& noise);

// The noise of an axis that moves [low, high], cut where an end of it crosses a line; pieces
// at both ends are joined as long as they have less than `least` together.
void cut_noise(const std::vector<double>& lines, const AxisNoise& noise, double low, double high,
               double least, std::vector<NoisePiece>& pieces);

// Cuts wide pieces into equal parts, but for those that are as rare as may be.
void cut_wide_pieces(const AxisNoise& noise, double least, std::vector<NoisePiece>& pieces);

}  // namespace redoubt::internal
