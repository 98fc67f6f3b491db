#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "redoubt/io.h"
#include "redoubt/problem.h"
#include "support/json_node.h"

namespace redoubt::internal::io {

// States or actions of a file: a count, or a list of names. Elsewhere in the file each is called by
// its number or its name.
class Names {
 public:
  Names(std::int32_t count, std::vector<std::string> names);
  Names(const JsonNode& node, std::string_view what, int least, std::size_t bytes);

  std::int32_t count() const { return count_; }
  const std::vector<std::string>& names() const { return names_; }
  std::int32_t read(const JsonNode& node) const;
  // The number of a name; `node` is what an error points at.
  std::int32_t find(const JsonNode& node, const std::string& name) const;

 private:
  std::int32_t count_ = 0;
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::int32_t> numbers_;
};

// How deep lists are nested: 0 for a number, 1 for a list by state, 2 for S x A, 3 for H x S x A.
int table_depth(const Json& value);

// One value for each row. Entries of actions that a state does not have must be null or zero.
std::vector<double> read_table(const JsonNode& table, const ModelArrays& rows);

// `bytes` is the size of the file, which limits what it may ask for; `horizon` that of its terms.
Model read_model(const JsonNode& root, std::size_t bytes, const std::optional<int>& horizon);

// A problem file, whose terms and reward may still be replaced.
Draft read_json_draft(std::string_view text, std::string_view name);

// What a "redoubt-terms" object says beside a model of another format, as far as the model needs
// it.
struct Side {
  std::optional<Names> states, actions;
  std::optional<int> horizon;
  State groups = 0, factors = 0;
};
Side read_side(const JsonNode& root, std::size_t bytes);

// What arrivals earn, by signal and state; the model has its states and the names of its signals.
void read_arrivals(const JsonNode& root, ModelArrays& model);

// How many of the states, the last, are groups or factors: the number of this key.
State read_count(const JsonNode& root, const char* key);

// Named sets of states; the model has its states.
void read_labels(const JsonNode& root, ModelArrays& model);

std::optional<int> read_horizon(const JsonNode& root);
// Keys that are missing leave the default. Of the model its states are asked for, and its rows
// where radii are given by row.
Terms read_terms(const JsonNode& root, const ModelArrays& model);

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
