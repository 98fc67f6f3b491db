#pragma once

#include <span>
#include <vector>

#include "bellman/row_evaluator.h"
#include "sets/rows_abreast.h"

namespace redoubt::internal {

// The worst cases of many rows of a problem where every state has one value: rows of equally many
// outcomes stand side by side in the lanes (see RowsAbreast). A row's result does not depend on the
// rows beside it. One for each thread.
class RowBatch {
 public:
  explicit RowBatch(const Problem& problem);

  bool needs_floor() const { return nature_.floor; }
  double evaluations() const { return evaluations_; }
  // About, for one outcome.
  double nanoseconds() const { return nominal_ ? 1.0 : 5.0; }

  // Where nature's distributions go: that of rows[i] from probability + begin[i] on, and behind it,
  // where there is a floor, the mass that lands there.
  using Distributions = RowsAbreast::Distributions;

  // result[i] = row value + discount * min over P of sum P (next[state] + outcome value / discount)
  // for rows[i], in the channel's sign. `floor`: the next value of the worst landing outside.
  void worst(std::span<const Row> rows, const Channel& channel, const double* next, double floor,
             double* result, const Distributions* distributions = nullptr);
  // The same for `count` rows from `first` on.
  void worst(Row first, std::int64_t count, const Channel& channel, const double* next,
             double floor, double* result, const Distributions* distributions = nullptr);

 private:
  void worst(const RowChoice& rows, const Channel& channel, const double* next, double floor,
             double* result, const Distributions* distributions);
  // Of rows that nature may move.
  void worst_of_uncertain(const RowChoice& rows, const Channel& channel, const double* next,
                          double floor, double* result, const Distributions* distributions);
  void worst_of_some(const RowChoice& rows, const Channel& channel, const double* next,
                     double floor, double* result, const Distributions* distributions);
  void expect(const RowChoice& rows, const Channel& channel, const double* next, double* result,
              const Distributions* distributions);
  void add_own_values(const RowChoice& rows, const Channel& channel, double* result) const;

  const Problem* problem_;
  NatureOfRows nature_;
  bool nominal_;
  bool some_certain_;  // rows have radii of their own, of which some may be zero
  StoredRows stored_;
  RowsAbreast abreast_;
  ExpectedValues expected_;
  double evaluations_ = 0;
  std::vector<double> earned_;  // of each row that is nominal
  struct Part {                 // of the rows of one call
    std::vector<Row> rows;
    std::vector<std::int64_t> place;
    std::vector<std::int64_t> begin;  // of their distributions
    std::vector<double> result;

    RowChoice chosen() const {
      return {.count = static_cast<std::int64_t>(rows.size()), .list = rows.data()};
    }
  };
  Part certain_, uncertain_;
};

}  // namespace redoubt::internal
