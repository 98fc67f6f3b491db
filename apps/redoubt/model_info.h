#pragma once

#include "json.h"
#include "redoubt/problem.h"

namespace redoubt::app {

// What a model is, before anything is asked of it.
void print_sizes(const Model& model);
void print_labels(const Model& model);
void print_values(const Draft& draft);
void add_model_json(Json& object, const Draft& draft);

// All of that, for a draft that is not a problem yet, and what it needs to become one.
int print_draft(const Draft& draft, const std::string& incomplete, bool json);

}  // namespace redoubt::app
