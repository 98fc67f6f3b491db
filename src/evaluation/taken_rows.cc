#include "evaluation/taken_rows.h"

#include <algorithm>

#include "model/set_traits.h"
#include "parallel/collectives.h"

namespace redoubt::internal {

std::int64_t count_taken_rows(const Model& model, int stage, const Policy::Stage& decisions) {
  std::int64_t count = 0;
  for_each_taken_row(model, stage, decisions, [&](State, Row, double) { ++count; });
  return count;
}

double bytes_of_taken_rows(const Model& model, std::int64_t rows) {
  return static_cast<double>(sizeof(Row) + sizeof(double)) * static_cast<double>(rows) +
         static_cast<double>(sizeof(std::int64_t)) * model.own_states();
}

// Arrays that grow as they are filled would take up to twice the memory.
void find_taken_rows(const Model& model, int stage, const Policy::Stage& decisions,
                     TakenRows& taken) {
  const std::int64_t count = count_taken_rows(model, stage, decisions);
  taken.begin.assign(model.own_states() + 1, 0);
  taken.rows.resize(count);
  taken.weight.resize(count);
  std::int64_t n = 0;
  for_each_taken_row(model, stage, decisions, [&](State place, Row row, double weight) {
    taken.rows[n] = row;
    taken.weight[n++] = weight;
    taken.begin[place + 1] = n;
  });
  for (std::size_t i = 1; i < taken.begin.size(); ++i)  // terminal states take none
    taken.begin[i] = std::max(taken.begin[i], taken.begin[i - 1]);
}

void take_rows(const Model& model, const std::vector<std::int32_t>& actions, TakenRows& taken) {
  taken.begin.resize(actions.size() + 1);
  taken.rows.resize(actions.size());
  std::int64_t count = 0;
  for (State place = 0; place < model.own_states(); ++place) {
    taken.begin[place] = count;
    taken.rows[count] = model.row_begin(0, model.own(place)) + actions[place];
    count += actions[place] >= 0;
  }
  taken.begin.back() = count;
  taken.rows.resize(count);
  taken.weight.assign(count, 1.0);
}

std::vector<char> is_taken(const Model& model, const TakenRows& taken) {
  std::vector<char> is(model.rows(), 0);
  for (std::size_t i = 0; i < taken.rows.size(); ++i) is[taken.rows[i]] = taken.weight[i] > 0;
  return is;
}

namespace {

// Eight at a time, which do not wait for each other: all threads wait for it.
double least_of(std::span<const double> values) {
  constexpr std::size_t kAbreast = 8;
  double least[kAbreast];
  std::fill_n(least, kAbreast, Residual::kNone);
  std::size_t i = 0;
  for (; i + kAbreast <= values.size(); i += kAbreast)
    for (std::size_t n = 0; n < kAbreast; ++n) least[n] = std::min(least[n], values[i + n]);
  for (; i < values.size(); ++i) least[0] = std::min(least[0], values[i]);
  return *std::min_element(least, least + kAbreast);
}

}  // namespace

double worst_landing(const Problem& problem, const Channel& channel, Communicator& ranks,
                     std::span<const double> values) {
  double least = Residual::kNone;
  if (problem.model().arrival_values(channel.signal).empty()) {
    least = least_of(values);
  } else {
    for (std::size_t s = 0; s < values.size(); ++s)
      least = std::min(least, values[s] + arrival_worth(problem, channel, static_cast<State>(s)));
  }
  return min_over_ranks(ranks, least) + 0.0;  // no -0
}

TakenSweep::TakenSweep(const Problem& problem, Workers& workers, Exchange& exchange)
    : problem_(&problem), group_(&workers), exchange_(&exchange) {
  for (int w = 0; w < workers.count(); ++w) workers_.emplace_back(problem);
}

TakenSweep::Worker::Worker(const Problem& problem) : rows(problem) {
  if (shares_radius(problem)) states.emplace(problem);
}

double TakenSweep::evaluations() const {
  double sum = 0;
  for (const Worker& worker : workers_)
    sum += worker.rows.evaluations() + (worker.states ? worker.states->evaluations() : 0);
  return sum;
}

Residual TakenSweep::step(const TakenRows& taken, const Channel& channel, const double* next,
                          double* values, const RowBatch::Distributions* distributions) {
  const Model& model = problem_->model();
  const auto states = static_cast<std::size_t>(model.states());
  const double floor =
      needs_floor() ? worst_landing(*problem_, channel, group_->ranks(), {next, states}) : 0;
  for (Worker& worker : workers_) worker.residual = {};
  const double share =
      static_cast<double>(taken.rows.size()) / std::max(1.0, static_cast<double>(model.rows()));
  const double work =
      workers_.front().rows.nanoseconds() * share * static_cast<double>(model.outcomes());
  exchange_->sweep_ranges(*group_, work, {values}, [&](State begin, State end, int number) {
    for (State first = begin; first < end; first += kStatesAtATime)
      run(first, std::min(end, first + kStatesAtATime), taken, channel, next, floor, values,
          distributions, workers_[number]);
  });
  Residual residual;
  for (const Worker& worker : workers_) residual.add(worker.residual);
  add_over_ranks(group_->ranks(), residual);
  return residual;
}

void TakenSweep::run(State begin, State end, const TakenRows& taken, const Channel& channel,
                     const double* next, double floor, double* values,
                     const RowBatch::Distributions* distributions, Worker& worker) {
  if (worker.states)
    return run_shared(begin, end, taken, channel, {next, floor}, values, distributions, worker);
  const auto first = taken.begin[begin], last = taken.begin[end];
  worker.result.resize(last - first);
  RowBatch::Distributions to;
  if (distributions != nullptr) to = {distributions->begin + first, distributions->probability};
  worker.rows.worst(std::span(taken.rows).subspan(first, last - first), channel, next, floor,
                    worker.result.data(), distributions != nullptr ? &to : nullptr);
  for (State place = begin; place < end; ++place) {
    double sum = 0;
    for (auto i = taken.begin[place]; i < taken.begin[place + 1]; ++i)
      sum += taken.weight[i] * worker.result[i - first];
    const State state = problem_->model().own(place);
    values[state] = sum;
    worker.residual.add(next[state], sum);
  }
}

void TakenSweep::run_shared(State begin, State end, const TakenRows& taken, const Channel& channel,
                            const NextOfStates& next, double* values,
                            const RowBatch::Distributions* distributions, Worker& worker) {
  const Model& model = problem_->model();
  worker.items.clear();
  for (State place = begin; place < end; ++place) {
    const auto first = taken.begin[place];
    const int count = static_cast<int>(taken.begin[place + 1] - first);
    if (count > 0) worker.items.push_back({first, count, channel});
  }
  worker.result.resize(worker.items.size());
  const int outside = needs_floor() ? 1 : 0;
  const auto keep = [&](int number, const StateLanes& lanes, int lane) {
    const StateItem& item = worker.items[number];
    for (int a = 0; a < item.count; ++a) {
      const auto from = distributions->begin[item.first + a];
      const auto outcomes =
          static_cast<int>(distributions->begin[item.first + a + 1] - from) - outside;
      for (int i = 0; i < outcomes; ++i)
        distributions->probability[from + i] = lanes.chosen(lane, a, i);
      if (outside > 0) distributions->probability[from + outcomes] = lanes.landing(lane, a);
    }
  };
  worker.states->worst(worker.items, {taken.rows.data(), taken.weight.data()}, next,
                       worker.result.data(), distributions != nullptr, keep);
  auto result = worker.result.begin();
  for (State place = begin; place < end; ++place) {
    const State state = model.own(place);
    values[state] = taken.begin[place] < taken.begin[place + 1] ? *result++ : 0.0;
    worker.residual.add(next.values[state], values[state]);
  }
}

}  // namespace redoubt::internal
