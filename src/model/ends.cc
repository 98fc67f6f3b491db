#include "model/ends.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "model/collapse.h"
#include "model/end_components.h"
#include "support/require.h"

namespace redoubt::internal {
namespace {

// The least and the most that a row can pay at once when it leads to some states.
struct Pays {
  double least = 0, most = 0;
  bool nothing() const { return least == 0 && most == 0; }
};
template <class Inside>
Pays pays(const Model& model, const Support& support, const AskedTotal& total, Row row,
          const Inside& inside) {
  Pays found{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  const auto include = [&](double beyond) {
    const double paid = total.sign * (model.value(total.signal, row) + beyond);
    found.least = std::min(found.least, paid);
    found.most = std::max(found.most, paid);
  };
  for (auto i = model.outcome_begin(row); i < model.outcome_end(row); ++i)
    if (support.possible(row, i) && inside(model.arrays().next[i]))
      include(model.outcome_value(total.signal, i));
  for (State s = 0; support.lands_anywhere(row) && s < model.states(); ++s)
    if (inside(s)) include(model.arrival_value(total.signal, s));
  return found;
}

std::string names_of(const Model& model, const std::vector<State>& states) {
  constexpr std::size_t kMost = 4;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(kMost, states.size()); ++i)
    names.push_back(model.state_name(states[i]));
  if (states.size() > kMost) names.push_back(fmt::format("{} more", states.size() - kMost));
  return fmt::format("{}", fmt::join(names, "; "));
}

constexpr const char* kInstead = "give a discount below 1 or a finite horizon";

// What is left when nothing more can be collapsed: may it stay?
class Remaining {
 public:
  Remaining(const Model& model, const Terms& terms, const std::vector<AskedTotal>& totals)
      : model_(model), terms_(terms), totals_(totals), support_(model, terms_.uncertainty) {
    found_ =
        end_components(model_, support_, Keep::by_some_kernel, std::vector<char>(model_.rows(), 1));
  }
  bool none() const { return found_.states.empty(); }
  std::string names() const { return names_of(model_, found_.states.front()); }

  // Staying adds to no total.
  void check_growth() const {
    for (std::size_t c = 0; c < found_.states.size(); ++c) {
      const std::string names = names_of(model_, found_.states[c]);
      for (const AskedTotal& total : totals_) check_pays(total, c, names);
    }
  }
  // And it costs some total more and more: no policy of any worth stays then.
  void check() const {
    check_growth();
    std::vector<char> free(model_.rows(), 0);  // may pay nothing
    for (std::size_t c = 0; c < found_.states.size(); ++c) {
      for (const Row row : found_.rows[c])
        free[row] = std::all_of(totals_.begin(), totals_.end(), [&](const AskedTotal& total) {
          return pays_in(total, row, c).most >= 0;
        });
    }
    const EndComponents idle = end_components(model_, support_, Keep::by_some_kernel, free);
    if (!idle.states.empty())
      throw Error(
          fmt::format("an episode can be kept in states {} for ever, where it pays nothing, and "
                      "elsewhere where '{}' {} without end, must be one of the two; {}",
                      names_of(model_, idle.states.front()), costs().name,
                      costs().sign > 0 ? "falls" : "grows", kInstead));
  }
  // Whoever stays, stays for nothing.
  bool quiet() const {
    for (std::size_t c = 0; c < found_.states.size(); ++c)
      for (const Row row : found_.rows[c])
        for (const AskedTotal& total : totals_)
          if (!pays_in(total, row, c).nothing()) return false;
    return true;
  }

 private:
  Pays pays_in(const AskedTotal& total, Row row, std::size_t component) const {
    return pays(model_, support_, total, row,
                [&](State s) { return found_.of_state[s] == static_cast<int>(component); });
  }
  // A total that some component takes from.
  const AskedTotal& costs() const {
    for (std::size_t c = 0; c < found_.states.size(); ++c)
      for (const Row row : found_.rows[c])
        for (const AskedTotal& total : totals_)
          if (pays_in(total, row, c).least < 0) return total;
    return totals_.front();
  }
  void check_pays(const AskedTotal& total, std::size_t component, const std::string& names) const {
    for (const Row row : found_.rows[component])
      if (pays_in(total, row, component).most > 0)
        throw Error(fmt::format(
            "a policy may stay in states {} for ever, where '{}' {} without end, every policy "
            "must come to an end; {}",
            names, total.name, total.sign > 0 ? "grows" : "falls", kInstead));
  }

  const Model& model_;
  const Terms& terms_;
  const std::vector<AskedTotal>& totals_;
  Support support_;
  EndComponents found_;
};

// Leaves out what may keep an episode from its end.
Collapsed only_sure(const Collapsed& from, const std::vector<char>& unfinished, bool may_miss) {
  const Model& model = from.model;
  const Support support(model, from.terms.uncertainty);
  std::vector<char> ends(model.states(), 0);
  for (State s = 0; s < model.states(); ++s)
    ends[s] =
        model.row_begin(0, s) == model.row_end(0, s) && (unfinished.empty() || !unfinished[s]);
  const SureReach sure = sure_reach(model, support, ends);
  for (const State s : from.terms.start.states)
    require(sure.sure[s] != 0,
            "from {} no policy comes to {} with certainty, whatever nature does: the total is "
            "infinite, must be finite",
            model.state_name(s), unfinished.empty() ? "an end" : "the goal");
  std::vector<char> keep(model.rows(), 0);
  const bool all = std::all_of(sure.sure.begin(), sure.sure.end(), [](char is) { return is != 0; });
  const auto unsure = std::find(sure.sure.begin(), sure.sure.end(), 0) - sure.sure.begin();
  require(all || !from.terms.helpful_nature,
          "nature helpful where no policy comes from {} to {} with certainty, one must",
          all ? "" : model.state_name(static_cast<State>(unsure)),
          unfinished.empty() ? "an end" : "the goal");
  for (State s = 0; s < model.states(); ++s) {
    for (Row row = model.row_begin(0, s); row < model.row_end(0, s); ++row)
      keep[row] = all || support.stays(row, [&](State to) { return sure.sure[to] != 0; });
    require(may_miss || sure.sure[s],
            "from {} the goal is not reached with certainty: a total until then is infinite, every "
            "policy must reach it",
            model.state_name(s));
  }
  Collapsed found = collapse(model, from.terms, keep, {}, {});
  for (State& s : found.state) s = from.state[s];
  for (Row& row : found.row) row = from.row[row];
  std::vector<State> number = from.number;
  for (State& s : number)
    if (s >= 0) s = found.number[s];
  found.number = std::move(number);
  return found;
}

template <class Inside>
bool may_stay_for_nothing(const Model& model, const Support& support, const AskedTotal& total,
                          Row row, const Inside& inside) {
  return support.may_stay(row, [&](State to) {
    return inside(to) &&
           pays(model, support, total, row, [&](State s) { return s == to; }).nothing();
  });
}

// Rows by which nature can trap an episode, where one total is all that is asked for and nothing is
// ever taken from it. States in which nature can keep any policy for ever, and pay it nothing, are
// worth nothing: as if they had no rows. And a row that nature can lead back to its own state for
// nothing is worth no more than the state is by its other rows.
std::vector<char> rows_without_traps(const Model& model, const Support& support,
                                     const AskedTotal& total) {
  const std::vector<char> trapped =
      kept_for_nothing(model, support, total, std::vector<char>(model.rows(), 1));
  std::vector<char> keep(model.rows(), 0);
  for (State s = 0; s < model.states(); ++s)
    for (Row row = model.row_begin(0, s); row < model.row_end(0, s); ++row)
      keep[row] = !trapped[s] && !may_stay_for_nothing(model, support, total, row,
                                                       [&](State to) { return to == s; });
  return keep;
}

std::vector<char> picked(const std::vector<char>& of_given, const std::vector<State>& state) {
  std::vector<char> here;
  for (const State s : state) here.push_back(of_given[s]);
  return here;
}

void keep_asked_signals(const std::vector<AskedTotal>& totals, Collapsed& found) {
  ModelArrays arrays = found.model.arrays();
  std::erase_if(arrays.signals, [&](const Signal& signal) {
    return std::none_of(totals.begin(), totals.end(),
                        [&](const AskedTotal& total) { return total.name == signal.name; });
  });
  found.model = Model(std::move(arrays));
}

}  // namespace

std::optional<WithEnds> with_ends(const Model& model, const Terms& terms,
                                  const std::vector<AskedTotal>& totals,
                                  const Unfinished& unfinished) {
  const Support support(model, terms.uncertainty);
  std::vector<char> keep(model.rows(), 1);
  const bool waits = std::any_of(unfinished.states.begin(), unfinished.states.end(),
                                 [](char is) { return is != 0; });
  if (!waits && Remaining(model, terms, totals).none()) return {};
  const bool adds = !waits && totals.size() == 1 && !terms.helpful_nature &&
                    only_adds(model, support, totals.front());
  if (adds) keep = rows_without_traps(model, support, totals.front());
  std::vector<char> idle(model.rows(), 0);
  for (Row row = 0; row < model.rows(); ++row)
    idle[row] = keep[row] && support.is_fixed(row) &&
                std::all_of(totals.begin(), totals.end(), [&](const AskedTotal& total) {
                  return pays(model, support, total, row, [](State) { return true; }).nothing();
                });
  const EndComponents free = end_components(model, support, Keep::by_every_kernel, idle);
  for (const auto& states : free.states)
    require(!waits || unfinished.may_miss || !unfinished.states[states.front()],
            "a policy may stay in states {} for ever: a total until the goal is infinite there, "
            "every policy must reach it",
            names_of(model, states));
  Collapsed found = collapse(model, terms, keep, free, unfinished.states);
  if (!free.states.empty()) keep_asked_signals(totals, found);
  std::vector<AskedTotal> here = totals;  // signals may have other numbers now
  for (AskedTotal& total : here)
    if (total.signal >= 0) total.signal = found.model.signal_index(total.name);
  const bool quiet = !waits && !adds && Remaining(found.model, found.terms, here).quiet();
  if (!waits && !adds && !quiet) Remaining(found.model, found.terms, here).check();
  if (waits || (!adds && !quiet && !Remaining(found.model, found.terms, here).none()))
    found = only_sure(found, waits ? picked(unfinished.states, found.state) : std::vector<char>(),
                      unfinished.may_miss);
  const Remaining left(found.model, found.terms, here);
  if (adds)
    left.check_growth();
  else if (!quiet)
    left.check();
  const bool traps = (adds || quiet) && !left.none();
  require(left.none() || !terms.helpful_nature,
          "nature helpful where an episode can be kept in states {} for ever, every policy must "
          "come to an end; give a discount below 1 or a finite horizon",
          left.none() ? "" : left.names());
  if (found.model.states() == model.states() && found.model.rows() == model.rows())
    return WithEnds{model, terms, {}, left.none(), traps, nullptr};  // the same
  std::vector<char> inner(model.rows(), 0);
  for (const auto& rows : free.rows)
    for (const Row row : rows) inner[row] = 1;
  auto merged = std::make_shared<MergedStates>(
      MergedStates{model, {}, std::move(found.number), std::move(found.row), std::move(inner)});
  return WithEnds{
      std::move(found.model), std::move(found.terms), std::move(found.state), left.none(), traps,
      std::move(merged)};
}

bool only_adds(const Model& model, const Support& support, const AskedTotal& total) {
  for (Row row = 0; row < model.rows(); ++row)
    if (pays(model, support, total, row, [](State) { return true; }).least < 0) return false;
  return true;
}

std::vector<char> kept_for_nothing(const Model& model, const Support& support,
                                   const AskedTotal& total, const std::vector<char>& use) {
  std::vector<char> kept(model.states(), 1);
  const auto inside = [&](State to) { return kept[to] != 0; };
  for (bool changed = true; changed;) {
    changed = false;
    for (State s = 0; s < model.states(); ++s) {
      if (!kept[s]) continue;
      for (Row row = model.row_begin(0, s); kept[s] && row < model.row_end(0, s); ++row)
        kept[s] = !use[row] || may_stay_for_nothing(model, support, total, row, inside);
      changed |= !kept[s];
    }
  }
  return kept;
}

}  // namespace redoubt::internal
