#pragma once

#include <algorithm>
#include <limits>
#include <optional>

#include "redoubt/advanced/checkpoint.h"
#include "solvers/frontier/search/extremes.h"
#include "solvers/frontier/search/locate.h"
#include "solvers/frontier/search/refine.h"

namespace redoubt::internal {

// What each pass of a search looks at: the prices of every stage, and how exactly the games of
// every state are played. Each plan is finer than the last where the gap at the start comes from.
class PassPlan {
 public:
  PassPlan(const Problem& problem, const Extremes& extremes, int most_directions, Workers& workers)
      : problem_(problem),
        extremes_(extremes),
        most_directions_(most_directions),
        workers_(workers) {}

  // The first pass: around the prices of a location, at every stage as far as prices are spread by
  // then; without one, around the rates at which the best policies exchange channels.
  void begin(const Location* location);

  // Plans the next pass. False when nothing is left to do.
  struct Answer {
    const Root& root;
    double bound = 0;    // on the reward
    double allowed = 0;  // of the gap
    double gap() const { return bound - root.value; }
  };
  bool refine(const GapAttribution& gaps, const Answer& answer);

  // Another direction of the first stage, where episodes start, [signal]; with several constraints
  // and a horizon. False when that is listed already.
  bool add_at_start(const std::vector<double>& wanted);

  // The answer may have moved to where games were played less exactly, and back.
  void play_more_evenly() { least_visits_ = std::min(1.0, 10 * least_visits_); }

  // A gap at the start that may come from every direction of every state and stage, each of which
  // is passed through so often.
  double negligible(double allowed, double times) const;

  const std::vector<StagePlan>& stages() const { return stages_; }
  bool full() const;  // a stage has as many directions as it may, with one constraint
  int rounds() const { return rounds_; }  // of a game, at most

  struct Size {
    double lanes = 0, cells = 0;  // directions of states: those that are looked at, and all
  };
  Size size() const;  // on this rank

  void visit(Archive& archive);  // in a checkpoint

 private:
  std::size_t constraints() const { return extremes_.required.size(); }
  std::vector<double> exchange_rates() const;  // of the reward and each utility
  StagePlan make_stage(Directions directions, double tolerance) const;
  bool several_in_place() const { return problem_.infinite() && constraints() > 1; }
  int most_shared() const;  // directions of a stage, with several constraints
  std::optional<StagePlan> with_direction(const StagePlan& stage,
                                          const std::vector<double>& wanted) const;
  bool add_direction(const std::vector<double>& wanted);
  void look_at_start_only();
  bool make_finer(const GapAttribution& gaps, const Answer& answer);
  bool refine_states(const GapAttribution& gaps, double target);
  void visit_stages(Archive& archive);

  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Problem& problem_;
  const Extremes& extremes_;
  int most_directions_;
  Workers& workers_;
  std::vector<StagePlan> stages_;
  double for_games_ = kInfinity;  // gap at the start that games may leave open
  double share_ = 1;              // of the allowed gap that the next pass aims at
  double asked_at_ = kInfinity;   // gap when the share last changed
  // Games are played as if a direction had at least this share of the visits of an average one.
  double least_visits_ = 1e-3;
  int rounds_ = 64;
};

}  // namespace redoubt::internal
