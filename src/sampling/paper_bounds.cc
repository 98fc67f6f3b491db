#include "sampling/paper_bounds.h"

#include <algorithm>
#include <cmath>

namespace redoubt::internal {
namespace {

// The paper's symbols. Values are scaled to [-1, 1], as it assumes.
struct Setting {
  double rows;     // |S||A|
  double H;        // horizon
  double epsilon;  // in units of the largest value
  double delta;
  double outcomes;  // of the row with the most
  double zeta;      // least probability of an outcome
};

struct Bounds {
  double lemma_per_row = 0, theorem_total = 0;
};

// The error of a stage: twice H of them make epsilon. A quarter of it goes into the net.
double stage_error(const Setting& s) { return s.epsilon / (2 * s.H); }
double net(const Setting& s) { return stage_error(s) / 4; }
double events(const Setting& s) { return 3 * s.rows * s.H / s.delta; }  // union over rows, stages

Bounds tv_bounds(const Setting& s) {
  const double half = stage_error(s) / 2;
  return {s.H * s.H * std::log(4 * s.H * events(s) / net(s)) / (2 * half * half),
          s.rows * std::pow(s.H, 5) / (s.epsilon * s.epsilon) *
              std::log(48 * s.rows * std::pow(s.H, 3) / (s.epsilon * s.delta))};
}

Bounds chi2_bounds(const Setting& s, double rho) {
  const double half = stage_error(s) / 2, C = std::sqrt(1 + rho);
  const double root = std::sqrt(std::log(2 * (1 + C * s.H / (net(s) * (C - 1))) * events(s))) + 1;
  return {2 * C * C * s.H / (C - 1) * root * root / (half * half),
          (1 + rho) * s.rows * std::pow(s.H, 5) / (s.epsilon * s.epsilon) *
              std::log(2 * s.rows * s.H * s.H / (s.epsilon * s.delta))};
}

// The theorem prints |S|^2 |A|^2 and the text below it |S||A|, which is what its proof gives.
Bounds kl_bounds(const Setting& s, double rho) {
  const double scale = rho * s.zeta;
  return {
      s.H * s.H * std::log(2 * s.outcomes * events(s)) / (2 * std::pow(scale * stage_error(s), 2)),
      std::pow(s.H, 4) * s.rows / std::pow(scale * s.epsilon, 2) *
          std::log(8 * s.H * s.rows * scale / s.delta)};
}

double largest_value(const Problem& problem) {
  const Model& model = problem.model();
  double most = 0;
  const auto look = [&](int signal) {
    for (Row row = 0; row < model.rows(); ++row) {
      for (auto i = model.outcome_begin(row); i < model.outcome_end(row); ++i)
        most = std::max(most, std::abs(model.value(signal, row) + model.outcome_value(signal, i)));
    }
  };
  look(-1);
  for (std::size_t c = 0; c < problem.constraints().size(); ++c)
    look(problem.signal_of(static_cast<int>(c)));
  return most;
}

}  // namespace

void add_paper_bounds(const Problem& problem, double epsilon, SampleSize& size) {
  const double scale = largest_value(problem);
  if (problem.infinite() || problem.horizon() == 0 || scale == 0 || epsilon <= 0) return;
  const Model& model = problem.model();
  if (model.rows() == 0) return;
  const auto& p = model.arrays().probability;
  const Setting setting{static_cast<double>(model.rows()) / model.stages(),
                        static_cast<double>(problem.horizon()),
                        epsilon / scale,
                        size.delta,
                        static_cast<double>(model.most_outcomes()),
                        *std::min_element(p.begin(), p.end())};
  Bounds bounds;
  std::visit(
      [&](const auto& set) {
        using Set = std::decay_t<decltype(set)>;
        if constexpr (requires { set.radius; }) {
          const double rho = set.radius.rows.empty() ? set.radius.all
                                                     : *std::min_element(set.radius.rows.begin(),
                                                                         set.radius.rows.end());
          if (rho <= 0) return;
          if constexpr (std::is_same_v<Set, TV>) bounds = tv_bounds(setting);
          if constexpr (std::is_same_v<Set, Chi2>) bounds = chi2_bounds(setting, rho);
          if constexpr (std::is_same_v<Set, KL>) bounds = kl_bounds(setting, rho);
        }
      },
      problem.uncertainty());
  // Logarithms below one: the paper's terms are not meant for such a problem.
  if (bounds.lemma_per_row > 0) {
    size.lemma_per_row = std::ceil(bounds.lemma_per_row);
    size.lemma_total = *size.lemma_per_row * setting.rows * setting.H;
  }
  if (bounds.theorem_total > 0) size.theorem_total = bounds.theorem_total;
}

}  // namespace redoubt::internal
