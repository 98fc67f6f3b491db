#pragma once

#include "model/submodel.h"

namespace redoubt::internal::io {

// Calls visit(begin, end, first, last) for ranges of at most `most` states of the whole model that
// together have all those that the model owns. Of these a range has model.own(first) up to
// model.own(last - 1), with which it ends.
template <class Visit>
void for_each_range_of_own(const Model& model, std::int64_t most, Visit visit) {
  const auto number = [&](State place) { return whole_number(model, model.own(place)); };
  for (State first = 0, last; first < model.own_states(); first = last) {
    const State begin = number(first);
    for (last = first + 1; last < model.own_states() && number(last) - begin < most;) ++last;
    visit(begin, number(last - 1) + 1, first, last);
  }
}

}  // namespace redoubt::internal::io
