#pragma once

#include "redoubt/problem.h"

// Python speaks of a sense by its word.
inline const char* word(redoubt::Sense sense) {
  return sense == redoubt::Sense::at_least ? "at_least" : "at_most";
}
