#pragma once

#include <vector>

#include "sets/worst_case.h"
#include "support/array_memory.h"

namespace redoubt::internal {

// Rows in compressed storage, as nature sees them. Probabilities are those of NominalRow.
struct StoredRows {
  const std::int64_t* row_outcomes = nullptr;
  bool equal = false;                  // all rows are known to have equally many
  const std::int32_t* next = nullptr;  // which value an outcome has
  const double* probability = nullptr;
  const double* lower = nullptr;  // of interval sets, which need no probabilities
  const double* upper = nullptr;
  const double* radius = nullptr;  // of each row; null: all have the same
  double same_radius = 0;
  const double* added = nullptr;  // of each outcome, what it earns; null: nothing
  double sign = 1;                // of what outcomes earn,
  double discount = 1;            // by which it is divided: values are those of the next stage
  bool far = false;               // values are so many that they must be waited for
};

// What landings outside of a row are worth, as RowsAbreast takes it.
struct LandingFloor {
  const double* floor = nullptr;  // null: there are none
  bool of_each = false;           // a number for each of the chosen rows; otherwise one for all
};

// The worst cases of many rows where each needs one lane only. One value leaves the other lanes of
// a row idle; so rows of equally many outcomes stand side by side in them. A row's result does not
// depend on the rows beside it. One for each thread.
class RowsAbreast {
 public:
  explicit RowsAbreast(const Uncertainty& set);

  // Where nature's distributions go: that of chosen row number i from probability + begin[i] on,
  // and behind it, where there is a floor, the mass that lands there.
  struct Distributions {
    const std::int64_t* begin = nullptr;
    double* probability = nullptr;
  };

  // result[i] = min over P of sum P * value, of the chosen row number i.
  void worst(const StoredRows& rows, const RowChoice& chosen, const double* values,
             const LandingFloor& landings, double* result,
             const Distributions* distributions = nullptr);

 private:
  void solve_window(const StoredRows& rows, const RowChoice& chosen, const double* values,
                    const LandingFloor& landings, double* result,
                    const Distributions* distributions);
  static bool are_equal(const StoredRows& rows, const RowChoice& chosen);  // in length
  bool sort_by_outcomes(const StoredRows& rows, const RowChoice& chosen);
  void take_rows(const StoredRows& rows, const RowChoice& chosen, const int* members, int count,
                 const LandingFloor& landings);
  void fetch_values(const StoredRows& rows, const RowChoice& chosen, std::int64_t first,
                    const double* values) const;
  void lay_out(const StoredRows& rows, const RowsInStorage& members, const double* values);
  void write_distributions(const int* members, int count, int outcomes, bool has_floor,
                           const Distributions& distributions) const;
  void make_room(int outcomes, int lanes, bool intervals, bool distributions);

  WorstCases kernel_;
  LayOut lay_out_;
  Scratch scratch_;
  std::vector<int> order_, count_;   // rows of a window by their number of outcomes
  bool in_order_ = false;            // they are as they come
  std::vector<std::int64_t> begin_;  // of the row in each lane, its first outcome
  LineVector<double> probability_, lower_, upper_, values_, minimiser_;  // [outcome][lane]
  LineVector<double> radius_, floor_, worst_;                            // [lane]
  std::vector<const double*> pointers_;
};

}  // namespace redoubt::internal
