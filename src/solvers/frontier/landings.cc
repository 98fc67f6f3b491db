#include "solvers/frontier/landings.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "model/agree.h"
#include "model/part.h"
#include "numerics/infinity.h"
#include "sweep/row_evaluator.h"

namespace redoubt {
namespace {

// Plans take room for every landing, direction and state; beyond this many landings times states
// all rows share one landing.
constexpr std::int64_t kMostPlanned = 20000;
// Different lists of states, in the numbers of the whole model, and for each the first row of all
// that has it: stage, state, action.
using FirstRow = std::tuple<int, State, int>;
using Lists = std::map<std::vector<State>, FirstRow>;

bool too_many(const Lists& lists, const Model& model) {
  return static_cast<std::int64_t>(lists.size()) * model.all_states() > kMostPlanned;
}

std::vector<State> listed_states(const Model& model, Row row) {
  std::vector<State> listed;
  for (auto i = model.outcome_begin(row); i < model.outcome_end(row); ++i) {
    const State s = model.arrays().next[i], whole = whole_number(model, s);
    if (model.lists(row, s) && (listed.empty() || listed.back() != whole)) listed.push_back(whole);
  }
  return listed;
}

// Calls visit(stage, state, row) for each of this rank's rows, until it says false.
template <class Visit>
void for_each_row(const Model& model, Visit visit) {
  for (int h = 0; h < model.stages(); ++h) {
    for (State own = 0; own < model.own_states(); ++own) {
      const State s = model.own(own);
      for (Row row = model.row_begin(h, s); row < model.row_end(h, s); ++row) {
        if (!visit(h, s, row)) return;
      }
    }
  }
}

// The lists of all ranks' rows that leave states out; too many of them when there are.
Lists different_lists(const Model& model, Communicator& ranks) {
  Lists own, all;
  for_each_row(model, [&](int h, State s, Row row) {
    std::vector<State> listed = listed_states(model, row);
    if (static_cast<State>(listed.size()) < model.all_states())
      own.try_emplace(std::move(listed), h, whole_number(model, s),
                      static_cast<int>(row - model.row_begin(h, s)));
    return !too_many(own, model);
  });
  std::vector<std::int32_t> told;  // first row, length and states of each list
  for (const auto& [list, first] : own) {
    const auto& [stage, state, action] = first;
    told.insert(told.end(), {stage, state, action, static_cast<std::int32_t>(list.size())});
    told.insert(told.end(), list.begin(), list.end());
  }
  told = gather_lists(ranks, std::move(told));
  for (auto at = told.begin(); at != told.end();) {
    const FirstRow first(at[0], at[1], at[2]);
    const auto begin = at + 4, end = begin + at[3];
    const auto known = all.try_emplace({begin, end}, first).first;
    known->second = std::min(known->second, first);
    at = end;
  }
  return all;
}

// Every value becomes the least of all ranks' values.
std::vector<double> least_of(const Landings& landings, std::vector<double> values) {
  agree_on_least(landings.ranks(), values);
  return values;
}

// Calls visit(landing, state) for each own state that is covered by a landing.
template <class Visit>
void for_each_covered(const Landings& landings, Visit visit) {
  const Model& model = landings.model();
  for (int landing = 0; landing < landings.count(); ++landing) {
    for (State own = 0; own < model.own_states(); ++own) {
      if (landings.covers(landing, model.own(own))) visit(landing, model.own(own));
    }
  }
}

// Where the least bounds are; of equal ones in the first state.
std::vector<LandingPlans::Least> find_least(const Landings& landings, const TradeOffs& table) {
  using Least = LandingPlans::Least;
  const int size = table.directions().size();
  const auto before = [](const Least& a, const Least& b) {
    return a.bound < b.bound || (a.bound == b.bound && a.state < b.state);
  };
  const Least none{kInfinity, 0, std::numeric_limits<State>::max()};
  std::vector<Least> own(static_cast<std::size_t>(landings.count()) * size, none);
  for_each_covered(landings, [&](int landing, State s) {
    for (int k = 0; k < size; ++k) {
      double worth = 0;
      for (int j = 0; j < table.directions().signals(); ++j)
        worth += table.directions().weight(k, j) * landings.worth(s, j);
      const double bound = table.bounds(s)[k] + worth;
      const double gap = table.bounds(s)[k] - table.along(s, k, k);
      const Least here{bound, gap, whole_number(landings.model(), s)};
      Least& least = own[landing * size + k];
      if (before(here, least)) least = here;
    }
  });
  const auto all = gather_values<Least>(landings.ranks(), own);
  for (std::size_t i = 0; i < all.size(); ++i) {
    Least& least = own[i % own.size()];
    if (before(all[i], least)) least = all[i];
  }
  return own;
}

// The upper bounds of an intersection: nature may send each part of a direction to the state where
// it is worth least, so the least bound over the states at the listed directions, and between them
// the convex combination of two that is lower still.
void bound_landing(const LandingPlans::Least* least, std::int64_t place, TradeOffs& table) {
  const Directions& directions = table.directions();
  double* bounds = table.bounds(place);
  for (int k = 0; k < directions.size(); ++k) bounds[k] = least[k].bound;
  if (directions.constraints() != 1) return;
  // With one constraint, directions between two others are sums of them: (1, p) = w (1, low) + (1 -
  // w) (1, high), or with the ray.
  const int last = directions.rays_begin() - 1;
  const std::vector<double>& price = directions.prices(0);
  for (int k = 1; k <= last; ++k) {
    for (int low = 0; low < k; ++low) {
      for (int high = k + 1; high <= last + 1; ++high) {
        const bool ray = high == last + 1;
        const double share =
            ray ? price[k] - price[low] : (price[k] - price[low]) / (price[high] - price[low]);
        bounds[k] =
            std::min(bounds[k], (ray ? 1.0 : 1 - share) * bounds[low] + share * bounds[high]);
      }
    }
  }
}

// One constraint: the best common promise of each landing in every direction, by a search along the
// utility, in which the common reward is concave. All searches go step by step together, because
// the states of a landing are on all ranks.
class CommonPromises {
 public:
  CommonPromises(const Landings& landings, const std::vector<Curve>& curves, TradeOffs& table,
                 Workers& workers)
      : landings_(landings),
        curves_(curves),
        table_(table),
        workers_(workers),
        size_(table.directions().size()) {}

  void find() {
    find_range();
    narrow();
    choose();
  }

 private:
  struct Search {
    int landing, direction;
    double from, to;
    double step() const { return (to - from) / 3; }
    bool open() const { return to - from > 1e-13 * (std::abs(from) + std::abs(to)); }
  };
  struct Question {
    int landing;
    double utility;
  };

  // The largest utility that every covered state can guarantee, and the smallest at which one of
  // them would have to give up reward.
  void find_range() {
    std::vector<double> ends(2 * static_cast<std::size_t>(landings_.count()), kInfinity);
    for_each_covered(landings_, [&](int landing, State s) {
      const std::vector<double>& utility = curves_[s].utility;
      const double worth = landings_.worth(s, 1);
      ends[2 * landing] = std::min(ends[2 * landing], utility.front() + worth);
      ends[2 * landing + 1] = std::min(ends[2 * landing + 1], utility.back() + worth);
    });
    ends_ = least_of(landings_, std::move(ends));
    for (int landing = 0; landing < landings_.count(); ++landing) {
      ends_[2 * landing] = std::min(ends_[2 * landing], ends_[2 * landing + 1]);
      for (int k = 0; k < size_; ++k)
        searches_.push_back({landing, k, ends_[2 * landing], ends_[2 * landing + 1]});
    }
  }

  // The most reward that every covered state can guarantee together with a utility, for each
  // question.
  std::vector<double> common_rewards(const std::vector<Question>& questions) const {
    std::vector<double> least(questions.size(), kInfinity);
    std::vector<MemoryMove> moves;
    const Model& model = landings_.model();
    for (std::size_t q = 0; q < questions.size(); ++q) {
      workers_.check();
      for (State own = 0; own < model.own_states(); ++own) {
        const State s = model.own(own);
        if (!landings_.covers(questions[q].landing, s)) continue;
        moves.clear();
        mix_for_utility(curves_[s], questions[q].utility - landings_.worth(s, 1), moves);
        double reward = landings_.worth(s, 0);
        for (const MemoryMove& move : moves)
          reward += move.weight * table_.points(s, 0)[move.memory];
        least[q] = std::min(least[q], reward);
      }
    }
    return least_of(landings_, std::move(least));
  }

  double worth(int direction, double reward, double utility) const {
    return table_.directions().weight(direction, 0) * reward +
           table_.directions().weight(direction, 1) * utility;
  }

  void narrow() {
    std::vector<Question> questions;
    std::vector<Search*> open;
    for (int step = 0; step < 60; ++step) {
      questions.clear(), open.clear();
      for (Search& search : searches_) {
        if (!search.open()) continue;
        open.push_back(&search);
        questions.push_back({search.landing, search.from + search.step()});
        questions.push_back({search.landing, search.to - search.step()});
      }
      if (open.empty()) return;
      const std::vector<double> rewards = common_rewards(questions);
      for (std::size_t n = 0; n < open.size(); ++n) {
        const double left = questions[2 * n].utility, right = questions[2 * n + 1].utility;
        const int k = open[n]->direction;
        if (worth(k, rewards[2 * n], left) < worth(k, rewards[2 * n + 1], right))
          open[n]->from = left;
        else
          open[n]->to = right;
      }
    }
  }

  void choose() {
    std::vector<Question> questions;
    for (const Search& s : searches_) {
      for (const double utility : {s.from, ends_[2 * s.landing], s.to, ends_[2 * s.landing + 1]})
        questions.push_back({s.landing, utility});
    }
    const std::vector<double> rewards = common_rewards(questions);
    for (std::size_t n = 0; n < searches_.size(); ++n) {
      const int k = searches_[n].direction;
      std::size_t best = 4 * n;
      for (std::size_t q = 4 * n + 1; q < 4 * n + 4; ++q) {
        if (worth(k, rewards[q], questions[q].utility) >
            worth(k, rewards[best], questions[best].utility))
          best = q;
      }
      const auto place = std::int64_t{landings_.model().states()} + searches_[n].landing;
      table_.points(place, 0)[k] = rewards[best];
      table_.points(place, 1)[k] = questions[best].utility;
    }
  }

  const Landings& landings_;
  const std::vector<Curve>& curves_;
  TradeOffs& table_;
  Workers& workers_;
  int size_;
  std::vector<double> ends_;  // of the utilities of each landing: two
  std::vector<Search> searches_;
};

// Several constraints, or none: every state keeps its own point of the same direction.
void promise_by_direction(const Landings& landings, TradeOffs& table) {
  const std::int64_t size = table.directions().size(), signals = table.directions().signals();
  std::vector<double> least(landings.count() * signals * size, kInfinity);
  for_each_covered(landings, [&](int landing, State s) {
    for (int j = 0; j < signals; ++j) {
      double* points = least.data() + (landing * signals + j) * size;
      for (int k = 0; k < size; ++k)
        points[k] = std::min(points[k], table.points(s, j)[k] + landings.worth(s, j));
    }
  });
  least = least_of(landings, std::move(least));
  for (int landing = 0; landing < landings.count(); ++landing) {
    for (int j = 0; j < signals; ++j)
      std::copy_n(least.data() + (landing * signals + j) * size, size,
                  table.points(std::int64_t{landings.model().states()} + landing, j));
  }
}

}  // namespace

Landings::Landings(const Problem& problem, Communicator& ranks)
    : model_(&problem.model()), ranks_(&ranks), anywhere_(lands_anywhere(problem)) {
  if (!anywhere_) return;
  find_worth(problem);
  const Model& model = problem.model();
  const Lists lists = different_lists(model, ranks);
  if (too_many(lists, model)) {
    row_landing_.assign(model.rows(), 0);
    listed_.assign(1, std::vector<bool>(model.states(), false));
    return;
  }
  std::vector<std::pair<FirstRow, const std::vector<State>*>> order;
  for (const auto& [list, first] : lists) order.emplace_back(first, &list);
  std::sort(order.begin(), order.end());
  std::map<std::vector<State>, int> number;
  for (const auto& [first, list] : order) {
    number.emplace(*list, static_cast<int>(number.size()));
    std::vector<bool>& listed = listed_.emplace_back(model.states());
    for (State s = 0; s < model.states(); ++s)
      listed[s] = std::binary_search(list->begin(), list->end(), whole_number(model, s));
  }
  row_landing_.assign(model.rows(), -1);
  for_each_row(model, [&](int, State, Row row) {
    const auto found = number.find(listed_states(model, row));
    if (found != number.end()) row_landing_[row] = found->second;
    return true;
  });
}

void Landings::find_worth(const Problem& problem) {
  const std::vector<Channel> channels = channels_of(problem);
  const bool any = std::any_of(channels.begin(), channels.end(), [&](const Channel& channel) {
    return !model_->arrival_values(channel.signal).empty();
  });
  if (!any) return;
  for (const Channel& channel : channels) {
    std::vector<double>& worth = worth_.emplace_back(model_->states());
    for (State s = 0; s < model_->states(); ++s) worth[s] = arrival_worth(problem, channel, s);
  }
}

double Landings::most(const Problem& problem) {
  if (!lands_anywhere(problem)) return 0;
  const Model& model = problem.model();
  return static_cast<double>(std::min<std::int64_t>(
      model.rows(), std::max<std::int64_t>(1, kMostPlanned / model.all_states())));
}

std::vector<LandingPart> bound_parts(const Landings& landings, int landing, const TradeOffs& table,
                                     const LandingPlans& plans, int direction) {
  const Directions& directions = table.directions();
  const double* bounds = table.bounds(std::int64_t{landings.model().states()} + landing);
  std::vector<LandingPart> parts = {{direction, 1.0}};
  if (directions.constraints() != 1 || direction == directions.rays_begin()) return parts;
  const double single = plans.least[landing * directions.size() + direction].bound;
  double most = 1e-12 * std::max(1.0, std::abs(single));  // by how much two parts are better
  const int last = directions.rays_begin() - 1;
  const std::vector<double>& price = directions.prices(0);
  for (int low = 0; low < direction; ++low) {
    for (int high = direction + 1; high <= last + 1; ++high) {
      const double rise = price[direction] - price[low];
      const double share = high > last ? rise : rise / (price[high] - price[low]);
      const double keep = high > last ? 1.0 : 1 - share;
      const double better = single - keep * bounds[low] - share * bounds[high];
      if (better <= most) continue;
      most = better;
      parts = {{low, keep}, {high, share}};
    }
  }
  return parts;
}

LandingPlans land(const Landings& landings, const std::vector<Curve>& curves, TradeOffs& table,
                  Workers& workers) {
  LandingPlans plans;
  if (landings.count() == 0) return plans;
  const Model& model = landings.model();
  const bool one = table.directions().constraints() == 1;
  const int size = table.directions().size();
  plans.least = find_least(landings, table);
  for (int landing = 0; landing < landings.count(); ++landing)
    bound_landing(plans.least.data() + landing * size, std::int64_t{model.states()} + landing,
                  table);
  if (one)
    CommonPromises(landings, curves, table, workers).find();
  else
    promise_by_direction(landings, table);
  for (int landing = 0; landing < landings.count(); ++landing) {
    const double* utility = table.points(std::int64_t{model.states()} + landing, one ? 1 : 0);
    for (int k = 0; k < size; ++k) {
      workers.check();
      for (State own = 0; own < model.own_states(); ++own) {
        plans.begin.push_back(static_cast<std::int64_t>(plans.moves.size()));
        if (!landings.covers(landing, model.own(own))) continue;
        if (one)
          mix_for_utility(curves[model.own(own)], utility[k] - landings.worth(model.own(own), 1),
                          plans.moves);
        else
          plans.moves.push_back({k, 1.0});
      }
    }
  }
  plans.begin.push_back(static_cast<std::int64_t>(plans.moves.size()));
  return plans;
}

}  // namespace redoubt
