#pragma once

#include <span>
#include <vector>

#include "bellman/state_batch.h"
#include "numerics/simplex.h"
#include "solvers/frontier/sets/supports.h"

namespace redoubt::internal {

// A state whose rows share a radius, and where they lead: to the places of each row, its outcomes
// and, last, its landing if it has one.
struct StateRows {
  Row first = 0;
  std::vector<std::vector<std::int64_t>> places;  // of each action
  std::vector<char> landing;                      // of each action: the last place is one
  const TradeOffs* next = nullptr;
  const std::vector<Curve>* curves = nullptr;  // of the next places, with one constraint
  const Supports* supports = nullptr;          // of the next places, with several

  int actions() const { return static_cast<int>(places.size()); }
};

// An action, and a point of the trade-off set of each place that it leads to. What the policy
// plays is a distribution over columns: its weights of the actions and, for each action, mixtures
// of points.
struct GameColumn {
  int action = 0;
  std::vector<std::int32_t> points;
  double weight = 0;
};

// How a game ended: see GameEnd.
struct StateGameEnd {
  double bound = 0, value = 0, gap = 0;
  std::vector<GameColumn> columns;  // with positive weight
  std::vector<double> kernel;       // [action][place][signal]
  std::vector<double> bounds;       // of each action against these kernels
};

// The game of a state whose rows share a radius: the policy weighs the actions and chooses the
// points, against one nature for each signal who knows the weights and divides the radius among the
// rows. A saddle point,
//     max over weights w, points z of sum_j d_j min over P of sum_a w_a (r_ja + discount P_a.z_ja)
//     = min over kernels P_j of max_a sum_j d_j r_ja + discount sum_i support_i((d_j P_jai)_j).
// In w and w z both sides are linear, so each answers the other by a mixture of its best answers so
// far: a small linear program, whose two solutions bring the next answers, until they gain nothing.
// Directions of a state are played one after the other; each begins with what the last one used.
class StateGame {
 public:
  StateGame(const Problem& problem, std::span<const Channel> channels)
      : problem_(&problem), channels_(channels), batch_(problem) {}

  void begin(const StateRows& rows);
  void solve(std::span<const double> weights, double tolerance, int rounds, StateGameEnd& end);

  // What nature leaves of distributions over columns, [signal], with the answer of each signal that
  // has weight, as kernels are laid out here. `weight` is one for each column.
  StateBatch& batch() { return batch_; }
  double evaluations() const { return batch_.evaluations(); }

 private:
  using Kernel = std::vector<double>;  // [action][place]
  struct Answers {                     // of nature in one signal
    std::vector<Kernel> kernels;
    std::vector<double> weight;              // in the last linear program
    std::vector<std::vector<double>> worth;  // [kernel][column]
  };

  bool counts(int signal) const { return weights_[signal] > 0; }
  int places_of(int action) const { return place_begin_[action + 1] - place_begin_[action]; }
  double worth_of(int signal, const Kernel& kernel, const GameColumn& column) const;
  void add_column(const GameColumn& column);
  bool has_column(const GameColumn& column) const;
  void add_kernel(int signal, const Kernel& kernel);
  void keep_used();
  void mix();
  void respond(StateGameEnd& end);
  double respond_at(int place, const double* q, double& support, std::int32_t& point);
  void average_columns();
  double answer_columns();
  bool add_answers();

  const Problem* problem_;
  std::span<const Channel> channels_;
  StateBatch batch_;
  Simplex simplex_;
  const StateRows* rows_ = nullptr;
  std::vector<int> place_begin_;     // of each action, in the lists of all places
  std::vector<std::int64_t> place_;  // of all actions
  Kernel nominal_;
  std::vector<double> own_;             // [signal][action]
  std::vector<double> extra_;           // what outcomes earn, [signal][place]
  std::vector<double> weights_;         // of the direction at hand
  std::vector<GameColumn> columns_;     // weights are those of the last linear program
  std::vector<Answers> answers_;        // of each signal
  std::vector<Kernel> mixed_, latest_;  // of each signal: nature's mixture, her last answer
  std::vector<GameColumn> responses_;   // the best answer of each action to the mixture
  std::vector<double> outside_;         // a bound on what any answer is worth
  std::vector<double> inside_;          // what it is worth
  double upper_ = 0;                    // the least that nature has brought all of them to
  std::vector<double> share_;           // weight of each action
  std::vector<double> average_;         // points of the mixture of columns, [signal][place]
  std::vector<int> corner_, near_;      // hints of each place
  std::vector<StateItem> items_;
  std::vector<Row> row_;
  std::vector<double> row_weight_, result_;
  std::vector<int> row_action_;
};

}  // namespace redoubt::internal
