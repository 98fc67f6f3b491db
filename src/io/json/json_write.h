#pragma once

#include <string>

#include "redoubt/problem.h"

namespace redoubt::internal::io {

// Key lines of a JSON object, each ending in ",\n" and indented by two blanks.
void write_names(std::string& out, const Model& model);     // "states", "actions"
void write_labels(std::string& out, const Model& model);    // "labels", where there are any
void write_terms(std::string& out, const Draft& draft);     // all but the uncertainty
void write_arrivals(std::string& out, const Model& model);  // "arrivals", where there are any
// A "redoubt-terms" object; formats that have their own place for labels leave them out. `more` are
// further key lines.
std::string write_side(const Draft& draft, bool labels = true, std::string_view more = {});
// The last line: without the comma.
void write_uncertainty(std::string& out, const Draft& draft);

}  // namespace redoubt::internal::io
