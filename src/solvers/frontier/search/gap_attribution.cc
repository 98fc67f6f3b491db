#include "solvers/frontier/search/gap_attribution.h"

#include <algorithm>
#include <cmath>

#include "model/submodel.h"
#include "parallel/collectives.h"
#include "solvers/frontier/search/gap_attribution_sums.h"

namespace redoubt::internal {
namespace {

// Parts of a direction that carry less than this share of the whole are not followed.
constexpr double kNegligible = 1e-12;

// How a direction that lies between listed ones goes on.
enum class Via {
  listed,  // as the listed directions that its bound is made of: shows where the present gap comes
           // from
  itself,  // unchanged, by the action and kernels of a listed neighbour: shows where the directions
           // of a finer grid would lead
};

// The number here of a state of the whole model; -1: it is not known here.
State place_of(const Model& model, State whole) {
  return model.arrays().submodel ? find_in_submodel(*model.arrays().submodel, whole) : whole;
}

// Where the last direction stood that came to a place from the same row: the next one is close.
struct Hint {
  int direction = 0, corner = 0;
};

class Follow {
 public:
  Follow(const AnsweredPass& pass, StateBackup& backup, Via via, double negligible)
      : problem_(pass.problem),
        landings_(pass.landings),
        stages_(pass.stages),
        states_(pass.problem.model().states()),
        signals_(pass.stages.front()->table.directions().signals()),
        backup_(backup),
        via_(via),
        scales_(pass.scales),
        negligible_(negligible),
        steps_(pass.steps),
        sums_(pass.stages, weights_of(pass.root), pass.scales) {
    for (const FrontierStage* stage : stages_) {
      const Directions& directions = stage->table.directions();
      gaps_.visits.emplace_back(std::int64_t{states_} * directions.size(), 0.0);
      auto& states = gaps_.state_loss.emplace_back();
      auto& near = gaps_.near.emplace_back();
      if (signals_ == 2)
        states.assign(states_ * directions.prices().size(), 0.0);
      else
        near.resize(std::int64_t{states_} * directions.size() * signals_);
    }
  }

  GapAttribution run(const Root& root, Exchange& exchange, Workers& workers) {
    expect(0);
    const Model& model = problem_.model();
    std::vector<double> q(signals_);
    for (std::size_t i = 0; i < problem_.start().states.size(); ++i) {
      const State s = problem_.start().states[i];
      if (!model.owns(s)) continue;
      q[0] = problem_.start().probability[i];
      for (std::size_t c = 0; c < root.prices.size(); ++c) q[c + 1] = q[0] * root.prices[c];
      Hint hint;
      arrive(0, s, q.data(), hint);
    }
    for (int h = 0; h < steps_; ++h) step(h, exchange, workers);
    for (std::vector<double>& losses : gaps_.state_loss) send_to_owners(model, exchange, losses);
    for (auto& losses : gaps_.near) send_to_owners(model, exchange, losses);
    sums_.finish(exchange.ranks(), gaps_);
    return std::move(gaps_);
  }

 private:
  // The last stage is passed through for ever.
  int slot(int stage) const { return std::min(stage, static_cast<int>(stages_.size()) - 1); }
  const FrontierStage& at(int stage) const { return *stages_[slot(stage)]; }

  void expect(int stage) {
    const TradeOffs& table = at(stage).table;
    open_.assign(static_cast<std::size_t>(states_) * table.directions().size(), 0.0);
    arriving_.assign(open_.size() * signals_, 0.0);
    landed_.assign(static_cast<std::size_t>(landings_.anywhere()) * table.directions().size(), 0.0);
    if (signals_ == 2)
      landing_loss_.assign(landings_.anywhere() * table.directions().prices().size(), 0.0);
    else
      landing_near_.assign(landed_.size() * signals_, {});
  }

  double gap(int stage, std::int64_t place, int k) const {
    const TradeOffs& table = at(stage).table;
    return table.bounds(place)[k] - table.along(place, k, k);
  }

  // A part of the direction, of weight q, comes to a place of a stage: notes what is lost there
  // because q lies between listed directions. Returns the gap of the place in its direction.
  double arrive(int stage, std::int64_t place, const double* q, Hint& hint) {
    const TradeOffs& table = at(stage).table;
    Directions::Parts parts;
    split(at(stage), place, q, hint.direction, parts);
    if (parts.count == 0) return 0;
    double outer = 0, inherited = 0;
    for (int n = 0; n < parts.count; ++n) {
      outer += parts.weight[n] * table.bounds(place)[parts.direction[n]];
      inherited += parts.weight[n] * gap(stage, place, parts.direction[n]);
    }
    const double inside = best_inside(at(stage), place, q, hint.corner);
    const double loss = std::max(0.0, outer - inside - inherited);
    const int largest = static_cast<int>(
        std::max_element(parts.weight.begin(), parts.weight.begin() + parts.count) -
        parts.weight.begin());
    if (signals_ != 2)
      note(stage, place, parts.direction[largest], q, loss);
    else if (q[0] > kNegligible)
      note(stage, place, hint.direction, q[1] / q[0], loss);
    if (place >= states_) {
      for (int n = 0; n < parts.count; ++n) {
        const int k = parts.direction[n];
        landed_[k] += sums_.weight(table.directions().lead(k), parts.weight[n]);
      }
    } else if (via_ == Via::listed || (signals_ == 2 && q[0] <= kNegligible)) {
      for (int n = 0; n < parts.count; ++n)
        go_on(stage, place, parts.direction[n], parts.weight[n]);
    } else {
      const auto lane = place * table.directions().size() + parts.direction[largest];
      for (int j = 0; j < signals_; ++j) arriving_[lane * signals_ + j] += sums_.weight(j, q[j]);
      open_[lane] += sums_.loss(outer - inside);
    }
    return outer - inside;
  }

  void go_on(int stage, std::int64_t state, int k, double weight) {
    const Directions& directions = at(stage).table.directions();
    const auto lane = state * directions.size() + k;
    for (int j = 0; j < signals_; ++j)
      arriving_[lane * signals_ + j] += sums_.weight(j, weight * directions.weight(k, j));
    open_[lane] += sums_.loss(weight * gap(stage, state, k));
  }

  // What has come to landings in a stage goes on to the states. The bound of a landing is a
  // sum of bounds of states; what that leaves open beyond their own gaps is lost between the prices
  // of the states whose curves meet.
  void leave_landings(int stage, Exchange& exchange) {
    if (!landings_.anywhere()) return;
    add_up(exchange.ranks(), landed_);
    add_up(exchange.ranks(), landing_loss_);
    add_up(exchange.ranks(), landing_near_);
    spread_loss(stage);
    for (int k = 0; k < at(stage).table.directions().size(); ++k)
      if (landed_[k] > 0) leave_landing(stage, k, landed_[k]);
  }

  static void add_up(Communicator& ranks, std::vector<double>& values) {
    if (ranks.size() == 1 || values.empty()) return;
    const std::vector<double> all = all_gather<double>(ranks, values);
    std::fill(values.begin(), values.end(), 0.0);
    for (std::size_t i = 0; i < all.size(); ++i) values[i % values.size()] += all[i];
  }
  static void add_up(Communicator& ranks, std::vector<GapAttribution::Near>& values) {
    if (ranks.size() == 1 || values.empty()) return;
    const auto all = all_gather<GapAttribution::Near>(ranks, values);
    std::fill(values.begin(), values.end(), GapAttribution::Near{});
    for (std::size_t i = 0; i < all.size(); ++i) values[i % values.size()].add(all[i]);
  }

  // A finer grid at a landing is one at all states.
  void spread_loss(int stage) {
    if (signals_ != 2) {
      const std::int64_t size = std::int64_t{at(stage).table.directions().size()} * signals_;
      for_each_own([&](State s) {
        for (std::int64_t k = 0; k < size; ++k)
          gaps_.near[slot(stage)][s * size + k].add(landing_near_[k]);
      });
      return;
    }
    const auto intervals = static_cast<std::int64_t>(at(stage).table.directions().prices().size());
    std::vector<double>& losses = gaps_.state_loss[slot(stage)];
    for_each_own([&](State s) {
      for (std::int64_t n = 0; n < intervals; ++n) losses[s * intervals + n] += landing_loss_[n];
    });
  }

  void leave_landing(int stage, int k, double weight) {
    const FrontierStage& here = at(stage);
    const Model& model = problem_.model();
    double open = gap(stage, states_, k);
    const LandingPart* parts = here.landings.parts.data() + 2 * k;
    for (const LandingPart& part : {parts[0], parts[1]}) {
      if (part.weight <= 0) continue;
      const auto& least = here.landings.least[part.direction];
      open -= part.weight * least.gap;
      const State s = place_of(model, least.state);
      if (s >= 0 && model.owns(s)) go_on(stage, s, part.direction, weight * part.weight);
    }
    if (signals_ != 2 || open <= 0) return;
    for_each_own([&](State s) {
      const double utility = here.table.points(states_, 1)[k] - landings_.worth(s, 1);
      const double reward = here.table.points(states_, 0)[k] - landings_.worth(s, 0);
      const Curve& curve = here.curves[s];
      const auto above = std::upper_bound(curve.utility.begin(), curve.utility.end(), utility) -
                         curve.utility.begin();
      if (above == 0 || above == curve.corners()) return;
      const double own =
          curve.reward[above - 1] - curve.price[above - 1] * (utility - curve.utility[above - 1]);
      if (own - reward > 1e-9 * std::max(1.0, std::abs(reward))) return;
      const double price = curve.price[above - 1];
      note(stage, s, interval_of(stage, price), price, weight * open);
    });
  }

  template <class Visit>
  void for_each_own(Visit visit) const {
    const Model& model = problem_.model();
    for (State own = 0; own < model.own_states(); ++own) visit(model.own(own));
  }

  // The listed prices that a price lies between, by the lower one.
  std::int64_t interval_of(int stage, double price) const {
    const std::vector<double>& prices = at(stage).table.directions().prices();
    return std::upper_bound(prices.begin(), prices.end(), price) - prices.begin() - 1;
  }

  // With several constraints a loss is noted with the direction that stands for most of q.
  void note(int stage, std::int64_t place, int k, const double* q, double loss) {
    sums_.add_loss(loss);
    GapAttribution::Near here;
    here.loss = here.most = sums_.loss(loss);
    if (here.loss <= 0) return;
    std::copy_n(q, signals_, here.which.begin());
    const Directions& directions = at(stage).table.directions();
    const auto side = k * signals_ + side_of(q, directions.weights_of(k), scales_);
    const std::int64_t size = std::int64_t{directions.size()} * signals_;
    if (place < states_)
      gaps_.near[slot(stage)][place * size + side].add(here);
    else
      landing_near_[side].add(here);
  }

  void note(int stage, std::int64_t place, std::int64_t n, double price, double loss) {
    if (loss <= 0) return;
    sums_.add_interval(slot(stage), n, loss, price);
    loss = sums_.loss(loss);
    std::vector<double>& losses = gaps_.state_loss[slot(stage)];
    const auto intervals = static_cast<std::int64_t>(at(stage).table.directions().prices().size());
    if (place < states_) {
      losses[place * intervals + n] += loss;
      return;
    }
    landing_loss_[n] += loss;
  }

  void step(int stage, Exchange& exchange, Workers& workers) {
    workers.check_together();
    const Model& model = problem_.model();
    const int size = at(stage).table.directions().size();
    leave_landings(stage, exchange);
    send_to_owners(model, exchange, arriving_);
    send_to_owners(model, exchange, open_);
    leaving_.swap(arriving_);
    left_open_.swap(open_);
    expect(stage + 1);
    for (State own = 0; own < model.own_states(); ++own) {
      workers.check();
      const State s = model.own(own);
      if (model.row_begin(stage, s) == model.row_end(stage, s)) continue;
      if (signals_ == 2) leave_to_neighbours(stage, s);
      for (std::int32_t k = 0; k < size; ++k) {
        const auto lane = std::int64_t{s} * size + k;
        const double* q = leaving_.data() + lane * signals_;
        gaps_.visits[slot(stage)][lane] += weight_of(stage, k, q);
        if (left_open_[lane] > negligible_) step_direction(stage, s, k, q);
      }
    }
  }

  double weight_of(int stage, int k, const double* q) const {
    return q[at(stage).table.directions().lead(k)];
  }

  // What has come to directions that the state does not look at goes on by the neighbours that it
  // does look at: what is lost by that is lost between their prices.
  void leave_to_neighbours(int stage, State state) {
    const Directions& directions = at(stage).table.directions();
    const std::vector<std::int32_t>& action = at(stage).causes[state].action;
    const int rays = directions.rays_begin();
    const auto first = std::int64_t{state} * directions.size();
    for (int low = 0, high; low < rays; low = high) {
      for (high = low + 1; action[high] < 0;) ++high;
      const double from = directions.weight(low, 1);
      const double width = high < rays ? directions.weight(high, 1) - from : 1;
      for (int k = low + 1; k < high; ++k) {
        double* q = leaving_.data() + (first + k) * 2;
        if (q[0] <= 0) continue;
        const double up = (directions.weight(k, 1) - from) / width, down = high < rays ? 1 - up : 1;
        const double mixed = down * gap(stage, state, low) + up * gap(stage, state, high);
        const double lost = std::max(0.0, gap(stage, state, k) - mixed);
        note(stage, state, k, directions.weight(k, 1), q[0] * lost);
        if (via_ == Via::listed) {
          leave(stage, first, low, q[0] * down);
          leave(stage, first, high, q[0] * up);
        } else {
          const int nearest = high < rays && up > 0.5 ? high : low;
          for (int j = 0; j < 2; ++j) leaving_[(first + nearest) * 2 + j] += q[j];
          left_open_[first + nearest] += left_open_[first + k];
        }
        q[0] = q[1] = left_open_[first + k] = 0;
      }
    }
  }

  void leave(int stage, std::int64_t first, int k, double weight) {
    const TradeOffs& table = at(stage).table;
    for (int j = 0; j < 2; ++j)
      leaving_[(first + k) * 2 + j] += weight * table.directions().weight(k, j);
    left_open_[first + k] += weight * gap(stage, first / table.directions().size(), k);
  }

  // All that has come to a direction of a state goes on by the actions and the kernels that its
  // bound comes from.
  void step_direction(int stage, State state, std::int32_t k, const double* q) {
    const FrontierStage& here = at(stage);
    const Model& model = problem_.model();
    double part[Directions::kMostSignals];
    double open = 0;
    for_each_cause(here.causes[state], k, [&](int action, double weight, const double* kernel) {
      if (weight <= 0) return;
      const std::span<const std::int64_t> places =
          backup_.places_of(model.row_begin(stage, state) + action);
      // With several constraints a direction between cells goes to the first that it comes to,
      // which must not depend on what came before.
      if (signals_ == 2)
        hints_.resize(std::max(hints_.size(), places.size()));
      else
        hints_.assign(places.size(), {});
      for (std::size_t i = 0; i < places.size(); ++i) {
        for (int j = 0; j < signals_; ++j)
          part[j] = problem_.discount() * weight * q[j] * kernel[i * signals_ + j];
        open += arrive(stage + 1, places[i], part, hints_[i]);
      }
    });
    // What is open here beyond what is open there is for a longer game to close.
    sums_.add_games(std::max(0.0, weight_of(stage, k, q) * gap(stage, state, k) - open));
  }

  const Problem& problem_;
  const Landings& landings_;
  const std::vector<const FrontierStage*>& stages_;
  State states_;
  int signals_;
  StateBackup& backup_;
  Via via_;
  std::span<const double> scales_;
  double negligible_;
  int steps_;
  GapAttribution gaps_;
  GapAttributionSums sums_;
  std::vector<double> arriving_, leaving_;  // directions: [state][direction][signal]
  std::vector<double> open_, left_open_;    // gap at the start that they bring: [state][direction]
  std::vector<double> landed_;              // weight that came to landings: [direction]
  std::vector<double> landing_loss_;        // what is lost there: [between prices]
  std::vector<GapAttribution::Near> landing_near_;  // the same with several constraints
  std::vector<Hint> hints_;                         // of each place of the row at hand
};

}  // namespace

GapAttribution attribute_gap(const AnsweredPass& pass, double negligible, StateBackup& backup,
                             Exchange& exchange, Workers& workers) {
  const auto follow = [&](Via via) {
    return Follow(pass, backup, via, negligible).run(pass.root, exchange, workers);
  };
  GapAttribution gaps = follow(Via::listed);
  const GapAttribution finer = follow(Via::itself);
  take_larger(finer, gaps);
  return gaps;
}

}  // namespace redoubt::internal
