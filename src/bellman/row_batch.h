#pragma once

#include <span>
#include <vector>

#include "bellman/row_evaluator.h"

namespace redoubt::internal {

// The worst cases of many rows of a problem where every state has one value. One value leaves the
// lanes of a row idle; so rows of equally many outcomes stand side by side in them, each with its
// own values. A row's result does not depend on the rows beside it. One for each thread.
class RowBatch {
 public:
  explicit RowBatch(const Problem& problem);

  bool needs_floor() const { return nature_.floor; }
  double evaluations() const { return evaluations_; }
  // About, for one outcome.
  double nanoseconds() const { return nominal_ ? 1.0 : 5.0; }

  // Where nature's distributions go: that of row i from probability + begin[i] on, and behind it,
  // where there is a floor, the mass that lands there.
  struct Distributions {
    const std::int64_t* begin = nullptr;
    double* probability = nullptr;
  };

  // result[i] = row value + discount * min over P of sum P (next[state] + outcome value / discount)
  // for rows[i], in the channel's sign. `floor`: the next value of the worst landing outside.
  void worst(std::span<const Row> rows, const Channel& channel, const double* next, double floor,
             double* result, const Distributions* distributions = nullptr);

 private:
  // Of rows that nature may move.
  void worst_of_uncertain(std::span<const Row> rows, const Channel& channel, const double* next,
                          double floor, double* result, const Distributions* distributions);
  void worst_of_some(std::span<const Row> rows, const Channel& channel, const double* next,
                     double floor, double* result, const Distributions* distributions);
  void expect(std::span<const Row> rows, const Channel& channel, const double* next, double* result,
              const Distributions* distributions);
  void solve_window(std::span<const Row> rows, const Channel& channel, const double* next,
                    double floor, double* result, const Distributions* distributions);
  void sort_by_outcomes(std::span<const Row> rows);
  void solve_abreast(std::span<const Row> rows, std::span<const int> members, int outcomes,
                     const Channel& channel, const double* next, double floor, double* result,
                     const Distributions* distributions);
  void fill_lane(Row row, int lane, int lanes, int outcomes, const Channel& channel,
                 const double* next);
  void add_own_values(std::span<const Row> rows, const Channel& channel, double* result) const;

  const Problem* problem_;
  NatureOfRows nature_;
  bool nominal_;
  bool some_certain_;  // rows have radii of their own, of which some may be zero
  WorstCases kernel_;
  ExpectedValues expected_;
  double evaluations_ = 0;
  std::vector<double> earned_;  // of each row that is nominal
  struct Part {                 // of the rows of one call
    std::vector<Row> rows;
    std::vector<std::size_t> place;
    std::vector<std::int64_t> begin;  // of their distributions
    std::vector<double> result;
  };
  Part certain_, uncertain_;
  Scratch scratch_;
  std::vector<int> order_, count_;  // rows of a window by their number of outcomes
  std::vector<double> probability_, lower_, upper_, values_, minimiser_;  // [outcome][lane]
  std::vector<double> radius_, floor_, worst_;                            // [lane]
  std::vector<const double*> pointers_;
};

}  // namespace redoubt::internal
