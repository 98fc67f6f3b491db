#pragma once

#include <span>
#include <vector>

#include "solvers/frontier/trade_offs.h"
#include "sweep/row_evaluator.h"

namespace redoubt {

// One row, many directions: the largest weighted sum of worst cases that can be guaranteed by
// choosing a point of the trade-off set of every place the row leads to, against one nature for
// each signal. A saddle point,
//     max over points z of sum_j d_j worst_j(z_j)  =  min over kernels P of sum_i support_i(d_0
//     P_0i, d_1 P_1i, ...),
// found by averaged best responses: points answer the average kernels, kernels answer the average
// points. Any points are achievable, any kernels are a bound, so both sides hold at every round.
// Lanes are [signal][direction].
class RowSaddle {
 public:
  RowSaddle(const Problem& problem, std::span<const Channel> channels)
      : problem_(&problem), channels_(channels), rows_(problem) {
    const Uncertainty& set = problem.uncertainty();
    smooth_ = channels.size() == 2 &&
              (std::holds_alternative<KL>(set) || std::holds_alternative<Chi2>(set));
  }

  struct Game {
    Row row = 0;
    std::span<const std::int64_t>
        places;  // of each outcome and, last, of the landing outside if nature has one
    bool landing = false;
    const TradeOffs* next = nullptr;
    const std::vector<Curve>* curves = nullptr;  // of the next places, with one constraint
    std::span<const double> weights;             // [signal][lane] of the direction of each lane
    std::span<const double> tolerance;  // of each lane: a gap of the game that is small enough
    std::span<const double>
        beat;  // of each lane: a value that this row must exceed to matter at all
    int rounds = 10;
  };
  void solve(const Game& game);

  // What the last solve found, for each lane of the game.
  double bound(int lane) const { return found_[lane].bound; }
  double value(int lane) const { return found_[lane].value; }
  double gap(int lane) const { return found_[lane].gap; }  // of the game
  double chosen(int place, int signal, int lane) const {
    return found_[lane].points[place * channels_.size() + signal];
  }
  // The kernels that the points chosen answer: [place][signal].
  const std::vector<float>& kernel(int lane) const { return found_[lane].kernel; }
  // The distribution over points of a place that makes `chosen`; only kept when there are several
  // constraints.
  void mixture(int place, int lane, std::vector<MemoryMove>& moves) const;

  RowEvaluator& rows() { return rows_; }
  const RowEvaluator& rows() const { return rows_; }

 private:
  // The first rounds against kl and chi2 look for the saddle point directly, which settles most
  // lanes. Where all points of a signal are worth the same, nature's answer jumps; lanes that end
  // there go on by averages.
  static constexpr int kSmoothRounds = 16;
  bool averaging() const { return !smooth_ || round_ >= kSmoothRounds; }

  void begin(const Game& game);
  void answer_kernels(const Game& game, double step);
  void answer_one_price(const Game& game, int place, double step);
  void answer_along_curve(const Game& game, int place);
  void find_sensitivity(const Game& game);
  void answer_many_prices(const Game& game, int place, double step);
  void answer_points(const Game& game);
  void move_kernels(double step);
  bool settled(const Game& game, int lane) const;
  void harvest(int lane);
  void drop_settled(const Game& game);
  double gap_now(int lane) const { return problem_->discount() * inner_[lane] - value_[lane]; }

  bool smooth_ = false;
  const Problem* problem_;
  std::span<const Channel> channels_;
  RowEvaluator rows_;
  struct Found {
    double bound, value, gap;
    std::vector<double> points;  // [place][signal]
    std::vector<float> kernel;   // [place][signal]
  };
  int lanes_ = 0, padded_ = 0, round_ = 0;  // lanes still playing
  std::vector<int> lane_;                   // their numbers in the game
  std::vector<double> weights_;             // and directions: [signal][lane]
  std::vector<int> keep_;
  std::vector<Found> found_;
  std::vector<std::vector<double>> points_;  // average answer: [place][signal][lane]
  std::vector<const double*> pointers_;
  std::vector<double> kernel_, answer_;  // average kernels and the latest: [place][signal][lane]
  std::vector<double> result_, bound_, value_, support_, inner_;
  std::vector<double> utility_;        // where the answer stands on the curve: [place][lane]
  std::vector<int> edge_;              // and on which edge
  std::vector<double> sensitivity_;    // of nature's answer to the points: [signal][lane]
  std::vector<int> near_;              // last position of each place and lane among the prices
  std::vector<std::int32_t> history_;  // point that answered in each round: [round][place][lane]
};

}  // namespace redoubt
