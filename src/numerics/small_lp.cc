#include "numerics/small_lp.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace redoubt::internal {

namespace {

using Real = long double;

constexpr Real kZero = 1e-15L;  // relative to the scale of a row

// Columns: the actions, one slack per constraint, the shortfall z, and the right-hand side. Rows:
// one per constraint,
//     slack[i] - z - sum (utility[i][a] - threshold[i]) x[a] = 0,
// which uses that x sums to one, and that sum itself. Two objectives are carried along: the
// shortfall, then the reward.
class Tableau {
 public:
  explicit Tableau(const MixUnderConstraints& p)
      : actions_(p.reward.size()), constraints_(p.utility.size()) {
    for (std::size_t i = 0; i < constraints_; ++i) {
      std::vector<Real> row(columns());
      Real scale = 0;
      for (std::size_t a = 0; a < actions_; ++a)
        scale = std::max(scale, std::abs(Real{p.utility[i][a]} - p.threshold[i]));
      scale_.push_back(scale > 0 ? scale : 1);
      for (std::size_t a = 0; a < actions_; ++a)
        row[a] = -(Real{p.utility[i][a]} - p.threshold[i]) / scale_[i];
      row[actions_ + i] = 1;
      row[shortfall()] = -1 / scale_[i];
      rows_.push_back(std::move(row));
      basis_.push_back(actions_ + i);
    }
    std::vector<Real> sum(columns());
    std::fill_n(sum.begin(), actions_, 1);
    sum.back() = 1;
    rows_.push_back(std::move(sum));
    basis_.push_back(columns());  // nothing yet

    reward_.resize(columns());
    for (std::size_t a = 0; a < actions_; ++a) reward_[a] = p.reward[a];
    for (std::size_t a = 0; a < actions_; ++a)
      reward_scale_ = std::max(reward_scale_, std::abs(reward_[a]));
    penalty_.resize(columns());
    penalty_[shortfall()] = -1;
  }

  void solve() {
    // The first action alone, with the shortfall that it needs, is a feasible start.
    pivot(constraints_, 0);
    std::size_t worst = 0;
    for (std::size_t i = 1; i < constraints_; ++i)
      if (rows_[i].back() * scale_[i] < rows_[worst].back() * scale_[worst]) worst = i;
    if (constraints_ > 0 && rows_[worst].back() < 0) pivot(worst, shortfall());

    // Bland's rule ends by itself as long as signs are right; every basis on the way is a mixture,
    // so that a limit beyond what numbers without rounding ever take costs nothing but exactness.
    const std::size_t most = 1000 + 100 * columns();
    std::size_t pivots = 0;
    while (improve(penalty_, 1, shortfall() + 1) && ++pivots < most) {
    }
    // From here on the shortfall stays where it is: at zero it leaves for good; above zero, nothing
    // that raises it may enter.
    const bool feasible = value(shortfall()) <= kZero;
    if (feasible) expel(shortfall());
    while (improve(reward_, reward_scale_, shortfall(), feasible ? nullptr : &penalty_) &&
           ++pivots < 2 * most) {
    }
  }

  Real value(std::size_t column) const {
    const auto place = std::find(basis_.begin(), basis_.end(), column);
    return place == basis_.end() ? 0 : rows_[place - basis_.begin()].back();
  }

  std::size_t shortfall() const { return actions_ + constraints_; }
  Real price(std::size_t constraint) const {
    return std::max(Real{0}, -reward_[actions_ + constraint]) / scale_[constraint];
  }
  Real witness(std::size_t constraint) const {
    return std::max(Real{0}, -penalty_[actions_ + constraint]) / scale_[constraint];
  }

 private:
  std::size_t columns() const { return actions_ + constraints_ + 2; }

  void pivot(std::size_t row, std::size_t column) {
    const Real by = rows_[row][column];
    for (Real& x : rows_[row]) x /= by;
    rows_[row][column] = 1;
    const auto eliminate = [&](std::vector<Real>& other) {
      const Real factor = other[column];
      if (factor == 0) return;
      for (std::size_t j = 0; j < other.size(); ++j) other[j] -= factor * rows_[row][j];
      other[column] = 0;
    };
    for (std::size_t i = 0; i < rows_.size(); ++i)
      if (i != row) eliminate(rows_[i]);
    eliminate(reward_);
    eliminate(penalty_);
    basis_[row] = column;
  }

  // Takes a column of value zero out of the basis. Where its row has no other entry it cannot move.
  void expel(std::size_t column) {
    const auto place = std::find(basis_.begin(), basis_.end(), column);
    if (place == basis_.end()) return;
    const std::size_t row = place - basis_.begin();
    for (std::size_t j = 0; j < column; ++j)
      if (std::abs(rows_[row][j]) > kZero) return pivot(row, j);
  }

  // One pivot by Bland's rule: the first column that improves the objective, and of the rows that
  // limit it the one whose basic column comes first. Columns in which `fixed` would fall are left
  // out. False at the optimum.
  bool improve(const std::vector<Real>& objective, Real scale, std::size_t candidates,
               const std::vector<Real>* fixed = nullptr) {
    for (std::size_t column = 0; column < candidates; ++column) {
      if (objective[column] <= kZero * scale) continue;
      if (fixed != nullptr && (*fixed)[column] < -kZero) continue;
      std::size_t leaves = rows_.size();
      Real least = 0;
      for (std::size_t i = 0; i < rows_.size(); ++i) {
        if (rows_[i][column] <= kZero) continue;
        const Real ratio = std::max(rows_[i].back(), Real{0}) / rows_[i][column];
        if (leaves == rows_.size() || ratio < least ||
            (ratio == least && basis_[i] < basis_[leaves])) {
          leaves = i;
          least = ratio;
        }
      }
      if (leaves == rows_.size()) continue;  // only by rounding: a mix is bounded
      pivot(leaves, column);
      return true;
    }
    return false;
  }

  std::size_t actions_, constraints_;
  std::vector<std::vector<Real>> rows_;
  std::vector<std::size_t> basis_;  // [row] column
  std::vector<Real> reward_, penalty_;
  std::vector<Real> scale_;  // [constraint]
  Real reward_scale_ = 1e-300L;
};

}  // namespace

ConstrainedMix best_constrained_mix(const MixUnderConstraints& problem) {
  Tableau tableau(problem);
  tableau.solve();

  ConstrainedMix mix;
  mix.shortfall = static_cast<double>(tableau.value(tableau.shortfall()));
  Real sum = 0;
  for (std::size_t a = 0; a < problem.reward.size(); ++a) {
    mix.weight.push_back(static_cast<double>(std::max(tableau.value(a), Real{0})));
    sum += mix.weight.back();
  }
  Real reward = 0;
  for (std::size_t a = 0; a < mix.weight.size(); ++a) {
    mix.weight[a] = static_cast<double>(mix.weight[a] / sum);
    reward += Real{mix.weight[a]} * problem.reward[a];
  }
  mix.reward = static_cast<double>(reward);
  for (std::size_t i = 0; i < problem.utility.size(); ++i)
    mix.price.push_back(static_cast<double>(tableau.price(i)));
  if (mix.shortfall <= 0) return mix;
  for (std::size_t i = 0; i < problem.utility.size(); ++i)
    mix.witness.push_back(static_cast<double>(tableau.witness(i)));
  return mix;
}

ConstrainedMix best_constrained_mix_of_many(const MixUnderConstraints& problem) {
  const std::size_t actions = problem.reward.size(), constraints = problem.utility.size();
  std::vector<char> known(actions, 0);
  std::vector<std::size_t> some;
  const auto add = [&](std::size_t a) {
    if (!known[a]) some.push_back(a);
    known[a] = 1;
  };
  add(std::max_element(problem.reward.begin(), problem.reward.end()) - problem.reward.begin());
  for (const auto& utility : problem.utility)
    add(std::max_element(utility.begin(), utility.end()) - utility.begin());
  for (;;) {
    std::vector<double> reward;
    std::vector<std::vector<double>> utility(constraints);
    for (const std::size_t a : some) {
      reward.push_back(problem.reward[a]);
      for (std::size_t i = 0; i < constraints; ++i) utility[i].push_back(problem.utility[i][a]);
    }
    ConstrainedMix mix =
        best_constrained_mix({reward, {utility.begin(), utility.end()}, problem.threshold});
    const bool feasible = mix.shortfall <= 0;
    double best_known = -std::numeric_limits<double>::infinity(), best = best_known, size = 0;
    std::size_t next = 0;
    for (std::size_t a = 0; a < actions; ++a) {
      double score = feasible ? problem.reward[a] : 0;
      for (std::size_t i = 0; i < constraints; ++i)
        score += (feasible ? mix.price[i] : mix.witness[i]) * problem.utility[i][a];
      size = std::max(size, std::abs(score));
      if (known[a]) best_known = std::max(best_known, score);
      if (score > best) best = score, next = a;
    }
    if (best <= best_known + 1e-12 * size || known[next]) {
      std::vector<double> weight(actions, 0.0);
      for (std::size_t n = 0; n < some.size(); ++n) weight[some[n]] = mix.weight[n];
      mix.weight = std::move(weight);
      return mix;
    }
    add(next);
  }
}

}  // namespace redoubt::internal
