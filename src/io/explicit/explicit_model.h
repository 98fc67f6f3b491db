#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "io/explicit/text.h"
#include "io/json/json_model.h"

// Models as the text formats of Storm and PRISM have them: states in order, choices of a state with
// labels, branches; rewards by name; `init` is a label. Terms stand in NAME.terms.json.
namespace redoubt::internal::io {

// What such a file says. Of the arrays, `action` is the place of a choice's label among
// `action_names` ("" where it has none), and an outcome is between `lower` and `upper`, which are
// equal where the file has a number.
struct ExplicitFile {
  ModelArrays arrays;
  std::vector<State> initial;
  bool intervals = false;
  std::size_t bytes = 0;  // of the text

  void begin_state() { arrays.state_rows.push_back(arrays.state_rows.back()); }
  void begin_choice(std::string_view label);
  void add_branch(State next, const Bounds& probability);
  void add_label(std::string_view name, State state);
  ExplicitFile();

 private:
  struct Numbers {  // of labels, in the order in which they come
    std::map<std::string, std::int32_t, std::less<>> numbers;
    std::int32_t of(std::string_view label);
  };
  Numbers choice_labels_, state_labels_;
};

// Rewards of states and choices, or of branches, of one structure.
struct ExplicitReward {
  std::string name;
  std::vector<double> states, choices, branches;  // empty: zero
};

// Adds rewards as signals; a state without choices earns nothing.
void add_rewards(std::vector<ExplicitReward> rewards, ModelArrays& arrays);

// The structure called "reward" becomes the reward or, in its place, the nameless one, which some
// programs call "default". False: there is none.
bool take_reward(ModelArrays& arrays);

// A value that all outcomes of a row share belongs to the row. `outcome` loses it.
std::vector<double> take_row_values(std::vector<double>& outcome, const ModelArrays& arrays);

double outcome_total(const Model& model, int signal, Row row, std::int64_t outcome);

// What one line of an explicit file cannot keep is an Error: values that arrivals earn.
void require_no_arrivals(const Model& model, std::string_view format);
void require_no_groups(const Model& model, std::string_view format);
void require_row_values_survive(const Draft& draft, std::string_view format);

// The terms beside a file, as far as its model needs them. What `file` has no place for is an
// Error.
struct TermsBeside {
  Json json;
  JsonNode root;
  Side side;

  TermsBeside(std::string_view terms, std::string_view name, std::size_t bytes,
              std::string_view file);
};
inline constexpr std::string_view kNoTerms = R"({"format": "redoubt-terms", "version": 1})";

// The draft of a file and of the terms beside it (empty: there are none).
Draft complete(ExplicitFile file, std::string_view name, std::string_view terms,
               std::string_view terms_name);

// Rows that depend on the stage become states of their own: state s at stage h is number
// h * S + s, and one more layer, without choices, follows the last stage.
ModelArrays unrolled(const Model& model);

// What an action is called in a file in which names have no blanks.
std::vector<std::string> choice_labels(const ModelArrays& arrays, std::int32_t actions);

// Text of a probability: a number, or an interval.
std::string probability_text(const ModelArrays& arrays, std::int64_t outcome,
                             const char* separator);

// NAME.terms.json of a draft. `labels`: those of the file would come back in another order.
std::string explicit_terms(const Draft& draft, bool labels);

}  // namespace redoubt::internal::io
