#include "evaluation/state_nodes.h"

#include <algorithm>

namespace redoubt::internal {

StateNodes::Action& StateNodes::add(Row row, std::span<const std::int32_t> lanes,
                                    std::span<const double> weight,
                                    std::span<const std::int64_t> choice) {
  if (count_ == actions_.size()) actions_.emplace_back();
  Action& action = actions_[count_++];
  action.row = row;
  action.lanes.assign(lanes.begin(), lanes.end());
  action.weight.assign(weight.begin(), weight.end());
  action.choice.assign(choice.begin(), choice.end());
  return action;
}

void StateNodes::solve(std::span<const Channel> channels, double* sums, std::int64_t stride,
                       KeptNature* kept) {
  taken_.clear();
  for (std::size_t a = 0; a < count_; ++a) {
    for (std::size_t n = 0; n < actions_[a].lanes.size(); ++n)
      taken_.push_back(
          {actions_[a].lanes[n], static_cast<std::int32_t>(a), static_cast<std::int32_t>(n)});
  }
  std::stable_sort(taken_.begin(), taken_.end(),
                   [](const Taken& a, const Taken& b) { return a.lane < b.lane; });
  items_.clear();
  channel_of_.clear();
  of_choice_.clear();
  row_.clear();
  weight_.clear();
  for (std::size_t c = 0; c < channels.size(); ++c) {
    for (std::size_t i = 0; i < taken_.size(); ++i) {
      if (i == 0 || taken_[i].lane != taken_[i - 1].lane) {
        items_.push_back({static_cast<std::int64_t>(row_.size()), 0, channels[c]});
        channel_of_.push_back(static_cast<int>(c));
      }
      ++items_.back().count;
      of_choice_.push_back(taken_[i]);
      row_.push_back(actions_[taken_[i].action].row);
      weight_.push_back(actions_[taken_[i].action].weight[taken_[i].place]);
    }
  }
  struct Next {
    const StateNodes& nodes;

    double at(const std::vector<double>& values, const Taken& taken, int item) const {
      const auto count = nodes.actions_[taken.action].lanes.size();
      return values[nodes.channel_of_[item] * count + taken.place];
    }
    double operator()(int item, std::int64_t choice, int outcome, State) const {
      const Taken& taken = nodes.of_choice_[choice];
      return at(nodes.actions_[taken.action].next[outcome], taken, item);
    }
    double floor(int item, std::int64_t choice) const {
      const Taken& taken = nodes.of_choice_[choice];
      return at(nodes.actions_[taken.action].floor, taken, item);
    }
  };
  result_.resize(items_.size());
  for (std::size_t a = 0; kept != nullptr && a < count_; ++a) {
    const int lanes = static_cast<int>(actions_[a].lanes.size() * channels.size());
    actions_[a].minimiser.resize((actions_[a].next.size() + 1) * padded_lanes(lanes));
  }
  batch_.worst(items_, {row_.data(), weight_.data()}, Next{*this}, result_.data(), kept != nullptr,
               [&](int item, const StateLanes& lanes, int lane) {
                 keep(item, lanes, lane, channels.size());
               });
  for (std::size_t i = 0; i < items_.size(); ++i)
    sums[channel_of_[i] * stride + of_choice_[items_[i].first].lane] = result_[i];
  for (std::size_t a = 0; kept != nullptr && a < count_; ++a) {
    const Action& action = actions_[a];
    kept->keep(action.row, action.choice, action.weight, action.minimiser.data(),
               batch_.needs_floor() ? action.floor.data() : nullptr);
  }
}

void StateNodes::keep(int item, const StateLanes& lanes, int lane, std::size_t channels) {
  for (int n = 0; n < items_[item].count; ++n) {
    const Taken& taken = of_choice_[items_[item].first + n];
    Action& action = actions_[taken.action];
    const auto padded = padded_lanes(static_cast<int>(action.lanes.size() * channels));
    double* to = action.minimiser.data() + channel_of_[item] * action.lanes.size() + taken.place;
    const int outcomes = static_cast<int>(action.next.size());
    for (int i = 0; i < outcomes; ++i)
      to[static_cast<std::size_t>(i) * padded] = lanes.chosen(lane, n, i);
    to[static_cast<std::size_t>(outcomes) * padded] = lanes.landing(lane, n);
  }
}

}  // namespace redoubt::internal
