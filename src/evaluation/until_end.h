#pragma once

#include <optional>
#include <span>
#include <vector>

#include "bellman/kernel_totals.h"
#include "evaluation/taken_rows.h"
#include "redoubt/advanced/ranks.h"

namespace redoubt::internal {

// A kernel of the rows that each rank has of its own states, as one of all states that every rank
// has. On one rank it is the same.
class WholeKernel {
 public:
  // rows_of[i]: how many rows own state number i has; `begin`: the entries of each row, and the
  // end; next states in the numbers of the whole model.
  WholeKernel(const Model& model, Communicator& ranks, const std::vector<Row>& rows_of,
              const std::vector<std::int64_t>& begin, const std::vector<State>& next);

  // With these next states, probabilities of entries and earnings of rows. They must stay as they
  // are while the kernel is used.
  void set(const std::vector<State>& next, const std::vector<double>& probability,
           const std::vector<double>& earned);
  KernelRows rows() const { return {state_rows_, begin_, next_, probability_, earned_}; }
  // What each rank has for its rows, for all rows.
  std::vector<char> of_all_rows(const std::vector<char>& own) const;

 private:
  bool alone() const { return ranks_->size() == 1; }
  template <class Value>
  std::span<const Value> gather(const std::vector<Value>& own,
                                const std::vector<std::int64_t>& from,
                                std::vector<Value>& all) const;

  Communicator* ranks_;
  std::vector<Row> state_rows_;
  std::vector<std::int64_t> begin_;
  std::span<const State> next_;
  std::span<const double> probability_, earned_;
  // On several ranks: where each row and each entry is in the ranks' lists, one after the other.
  std::vector<std::int64_t> row_from_, entry_from_;
  std::vector<State> all_next_;
  std::vector<double> all_probability_, all_earned_;
};

// Worst-case totals of an undiscounted problem until its episodes end, in one channel. Nature's
// policy iteration: a robust sweep finds its distributions for all rows, and what these are worth
// as long as they are kept is a question of one kernel. Bounds prove themselves: no sweep raises
// one from above, and none lowers one from below.
//
// Vectors of values are of all states of the whole model, also on several ranks. Undiscounted
// problems have sets that belong to rows and are no tilt.
class UntilEnd {
 public:
  enum class Choice {
    mixed,  // each state takes its rows with their weights
    best,   // the row that is worth most
    least,  // the row that is worth least
  };
  // Of the listed rows. `each_step` is earned by every row, besides what the channel has.
  UntilEnd(const Problem& problem, const Channel& channel, const TakenRows& rows, Choice choice,
           Workers& workers, double each_step = 0);

  // About, for this many rows of a problem.
  static double bytes(const Problem& problem, double rows);

  // `values`: near, if anything is known. `actions`: as for KernelTotals; all zero will do where
  // every policy ends, and where states mix.
  void find(std::vector<double>& values, std::vector<std::int32_t>& actions);

  // After find, of what it found. `best`: by how much no policy exceeds the values at most, in any
  // state; infinite where that could not be proved.
  double most_above(const std::vector<double>& values, const std::vector<std::int32_t>& actions);
  // Otherwise: values close by which no kernel goes below.
  std::vector<double> below(const std::vector<double>& values);

  // The worst case of each listed row, given what states are worth.
  const std::vector<double>& worths(const std::vector<double>& values) {
    respond(values, false);
    return worth_;
  }
  // The same, with nature's distribution of each listed row: of its outcomes and, behind them, the
  // mass that lands in the state landing() if there are landings.
  const std::vector<double>& answers(const std::vector<double>& values) {
    respond(values, true);
    return worth_;
  }
  std::span<const double> answer(std::int64_t listed) const {
    return std::span(probability_).subspan(begin_[listed], begin_[listed + 1] - begin_[listed]);
  }
  bool lands() const { return batches_.front().needs_floor(); }
  State landing() const { return landing_; }
  // What a sweep changes by rounding, and what find has left over, is far below.
  double least_step() const { return 4 * residual_ + 4e-15 * scale_; }

  double scale() const { return scale_; }  // the largest size of a value, or of what a row earns
  double evaluations() const;
  std::int64_t rounds() const { return rounds_; }

 private:
  std::int64_t listed() const { return static_cast<std::int64_t>(rows_->rows.size()); }
  State own_states() const { return problem_->model().own_states(); }
  State whole(State place) const;  // the number of an own state in the whole model
  void lay_out();
  double find_landing();
  void respond(const std::vector<double>& values, bool keep);
  double earned(std::int64_t listed, const double* mass) const;
  double largest_earned() const;
  void fix_kernel();
  void measure(const std::vector<double>& values);
  bool moves_by(double sign, const std::vector<double>& values, double each);
  std::vector<double> lowered(const std::vector<double>& values, const std::vector<double>& more,
                              int sizes);
  std::vector<double> steps(const std::vector<char>& use, std::vector<std::int32_t> actions) const;
  std::vector<double> steps_under_any_kernel() const;

  const Problem* problem_;
  Channel channel_;
  const TakenRows* rows_;
  Choice choice_;
  Workers* workers_;
  double each_step_;
  std::vector<RowBatch> batches_;  // of each thread
  State landing_ = -1;             // where mass that lands outside goes, in the whole model
  double arrival_ = 0;             // what is earned there
  double residual_ = 0, scale_ = 0;
  std::int64_t rounds_ = 0;
  std::vector<double> here_;         // the values of the states that this rank knows
  std::vector<double> worth_;        // of each listed row
  std::vector<double> better_;       // of each own state, after a sweep
  std::vector<std::int64_t> begin_;  // nature's distribution of each listed row
  // The rows of the kernel are the listed ones or, where states mix, one for each state that has
  // any.
  std::vector<State> next_;
  std::vector<double> probability_, earned_;
  std::optional<WholeKernel> kernel_;
};

}  // namespace redoubt::internal
