#pragma once

#include "redoubt/model.h"

namespace redoubt::internal {

// An Error unless the model has factors whose outcomes earn what every arrival in their state does:
// which outcomes they have is what samples are to say.
void require_features(const Model& features);

// The row of this state and action; an Error that names it where there is none.
Row feature_row(const Model& features, int stage, State state, std::int32_t action);

}  // namespace redoubt::internal
