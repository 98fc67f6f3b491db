#pragma once

#include <span>
#include <vector>

#include "bellman/row_evaluator.h"
#include "solvers/frontier/games/game.h"

namespace redoubt::internal {

// The game by averaged best responses: points answer the average kernels, kernels answer the
// average points. Lanes are [signal][direction].
class AveragedResponseGame {
 public:
  AveragedResponseGame(const Problem& problem, std::span<const Channel> channels)
      : problem_(&problem), channels_(channels), rows_(problem) {
    smooth_ = channels.size() == 2 && std::holds_alternative<Chi2>(problem.uncertainty());
  }

  void solve(const RowGame& game, std::vector<GameEnd>& ends);

  // The distribution over points of a place that a game ended with; only kept when there are
  // several constraints.
  void mixture(int place, int lane, std::vector<MemoryMove>& moves) const;

  RowEvaluator& rows() { return rows_; }
  const RowEvaluator& rows() const { return rows_; }

 private:
  // The first rounds against chi2 look for the saddle point directly, which settles most
  // lanes. Where all points of a signal are worth the same, nature's answer jumps; lanes that end
  // there go on by averages.
  static constexpr int kSmoothRounds = 16;
  bool averaging() const { return !smooth_ || round_ >= kSmoothRounds; }

  void begin(const RowGame& game);
  void answer_kernels(const RowGame& game, double step);
  void answer_one_price(const RowGame& game, int place, double step);
  void answer_along_curve(const RowGame& game, int place);
  void find_sensitivity(const RowGame& game);
  void answer_many_prices(const RowGame& game, int place, double step);
  void find_bound(const RowGame& game, int lane);
  bool several() const { return channels_.size() > 2; }
  void answer_points(const RowGame& game);
  void move_kernels(double step);
  bool settled(const RowGame& game, int lane) const;
  void harvest(int lane);
  void drop_settled(const RowGame& game);
  double gap_now(int lane) const { return problem_->discount() * inner_[lane] - value_[lane]; }

  bool smooth_ = false;
  const Problem* problem_;
  std::span<const Channel> channels_;
  RowEvaluator rows_;
  int lanes_ = 0, padded_ = 0, round_ = 0;  // lanes still playing
  std::vector<int> lane_;                   // their numbers in the game
  std::vector<double> weights_;             // and directions: [signal][lane]
  std::vector<int> keep_;
  std::vector<GameEnd>* ends_ = nullptr;
  std::vector<std::vector<double>> points_;  // average answer: [place][signal][lane]
  std::vector<const double*> pointers_;
  std::vector<double> kernel_, answer_;  // average kernels and the latest: [place][signal][lane]
  std::vector<double> result_, bound_, value_, support_, inner_;
  std::vector<double> utility_;        // where the answer stands on the curve: [place][lane]
  std::vector<int> edge_;              // and on which edge
  std::vector<double> sensitivity_;    // of nature's answer to the points: [signal][lane]
  std::vector<int> near_;              // last position of each place and lane among the prices
  int all_ = 0;                        // lanes of the game
  std::vector<int> played_;            // rounds of each of them
  std::vector<std::int32_t> history_;  // point that answered in each round: [round][place][lane]
};

}  // namespace redoubt::internal
