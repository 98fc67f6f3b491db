#include "evaluation/until_end.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bellman/nominal_rows.h"
#include "model/end_components.h"
#include "model/submodel.h"
#include "parallel/collectives.h"
#include "support/require.h"

namespace redoubt::internal {
namespace {

// Of the largest value: what is followed for its own sake, what is searched, and steps.
constexpr double kAccuracyOfPolicies = 1e-12, kAccuracyOfSearch = 1e-11, kAccuracyOfSteps = 1e-9;
constexpr int kMostResponses = 200;
constexpr double kMostSteps = 1e8;

// Where each list begins, of lists of these lengths, and the end.
std::vector<std::int64_t> begins(const std::vector<std::int64_t>& lengths) {
  std::vector<std::int64_t> found = {0};
  for (const std::int64_t length : lengths) found.push_back(found.back() + length);
  return found;
}

}  // namespace

UntilEnd::UntilEnd(const Problem& problem, const Channel& channel, const TakenRows& rows,
                   Choice choice, Workers& workers, double each_step)
    : problem_(&problem),
      channel_(channel),
      rows_(&rows),
      choice_(choice),
      workers_(&workers),
      each_step_(each_step) {
  for (int w = 0; w < workers.count(); ++w) batches_.emplace_back(problem);
  lay_out();
}

State UntilEnd::whole(State place) const {
  return whole_number(problem_->model(), problem_->model().own(place));
}

double UntilEnd::bytes(const Problem& problem, double rows) {
  const Model& model = problem.model();
  const double entries = 1 + static_cast<double>(model.outcomes()) /
                                 std::max(1.0, static_cast<double>(model.rows()));  // of a row
  const double of_row = 4 * 8 + entries * (8 + 4 + 4);  // with the graph
  return of_row * rows + 10.0 * 8 * model.states();
}

double UntilEnd::evaluations() const {
  double sum = 0;
  for (const RowBatch& batch : batches_) sum += batch.evaluations();
  return sum;
}

// Entries of a state's rows stand one after the other, so that those of a mixture are one row.
void UntilEnd::lay_out() {
  const Model& model = problem_->model();
  const bool outside = batches_.front().needs_floor(), mixed = choice_ == Choice::mixed;
  std::vector<Row> rows_of;
  std::vector<std::int64_t> kernel_begin;
  begin_.push_back(0);
  for (State place = 0; place < own_states(); ++place) {
    const auto first = rows_->begin[place], last = rows_->begin[place + 1];
    rows_of.push_back(mixed ? std::min<Row>(1, last - first) : last - first);
    for (auto i = first; i < last; ++i) {
      if (!mixed || i == first) kernel_begin.push_back(begin_.back());
      const Row row = rows_->rows[i];
      for (auto o = model.outcome_begin(row); o < model.outcome_end(row); ++o)
        next_.push_back(whole_number(model, model.arrays().next[o]));
      if (outside) next_.push_back(whole(place));
      begin_.push_back(static_cast<std::int64_t>(next_.size()));
    }
  }
  kernel_begin.push_back(begin_.back());
  probability_.resize(next_.size());
  earned_.resize(kernel_begin.size() - 1);
  worth_.resize(listed());
  better_.resize(own_states());
  kernel_.emplace(model, workers_->ranks(), rows_of, kernel_begin, next_);
}

// The state in which a landing is worth least, and what that is worth.
double UntilEnd::find_landing() {
  const Model& model = problem_->model();
  if (!batches_.front().needs_floor()) return 0;
  struct Landing {
    double worth = std::numeric_limits<double>::infinity(), earned = 0;
    State state = -1;
    bool operator<(const Landing& other) const {
      return worth != other.worth ? worth < other.worth : state < other.state;
    }
  };
  Landing least;
  for (State place = 0; place < own_states(); ++place) {
    const State s = model.own(place);
    const double earned = arrival_worth(*problem_, channel_, s);
    least = std::min(least, {here_[s] + earned, earned, whole(place)});
  }
  const std::vector<Landing> all = all_gather_one(workers_->ranks(), least);
  least = *std::min_element(all.begin(), all.end());
  landing_ = least.state;
  arrival_ = least.earned;
  return least.worth + 0.0;  // no -0
}

// A robust sweep. `keep`: with nature's distributions.
void UntilEnd::respond(const std::vector<double>& values, bool keep) {
  const Model& model = problem_->model();
  here_.resize(model.states());
  for (State s = 0; s < model.states(); ++s) here_[s] = values[whole_number(model, s)];
  const double floor = find_landing();
  const double work = batches_.front().nanoseconds() * static_cast<double>(next_.size());
  workers_->for_each(listed(), work, [&](std::int64_t begin, std::int64_t end, int worker) {
    const RowBatch::Distributions to{begin_.data() + begin, probability_.data()};
    batches_[worker].worst(std::span(rows_->rows).subspan(begin, end - begin), channel_,
                           here_.data(), floor, worth_.data() + begin, keep ? &to : nullptr);
  });
  for (double& worth : worth_) worth += each_step_;
  for (State place = 0; place < own_states(); ++place) {
    const auto begin = rows_->begin[place], end = rows_->begin[place + 1];
    const auto first = worth_.begin() + begin, last = worth_.begin() + end;
    double& here = better_[place] = 0;
    if (begin == end) continue;
    if (choice_ == Choice::best) here = *std::max_element(first, last);
    if (choice_ == Choice::least) here = *std::min_element(first, last);
    for (auto i = begin; choice_ == Choice::mixed && i < end; ++i)
      here += rows_->weight[i] * worth_[i];
  }
}

// What a row earns under nature's distribution.
double UntilEnd::earned(std::int64_t listed, const double* mass) const {
  const Model& model = problem_->model();
  const Row row = rows_->rows[listed];
  const std::vector<double>& extra = model.outcome_values(channel_.signal);
  double sum = model.value(channel_.signal, row);
  const auto first = model.outcome_begin(row), last = model.outcome_end(row);
  for (auto o = first; !extra.empty() && o < last; ++o) sum += mass[o - first] * extra[o];
  double total = channel_.sign * sum + each_step_;
  if (batches_.front().needs_floor()) total += mass[last - first] * arrival_;
  return total;
}

// By an outcome of a listed row, whether nature chooses it or not.
double UntilEnd::largest_earned() const {
  const Model& model = problem_->model();
  double most = 0;
  for (const Row row : rows_->rows)
    for (auto o = model.outcome_begin(row); o < model.outcome_end(row); ++o)
      most = std::max(most, std::abs(channel_.sign * (model.value(channel_.signal, row) +
                                                      model.outcome_value(channel_.signal, o))));
  return max_over_ranks(workers_->ranks(), most);
}

void UntilEnd::fix_kernel() {
  const bool mixed = choice_ == Choice::mixed, outside = batches_.front().needs_floor();
  std::fill(earned_.begin(), earned_.end(), 0.0);
  std::int64_t states = 0;  // that have rows
  for (State place = 0; place < own_states(); ++place) {
    for (auto i = rows_->begin[place]; i < rows_->begin[place + 1]; ++i) {
      double* mass = probability_.data() + begin_[i];
      const double weight = mixed ? rows_->weight[i] : 1.0;
      earned_[mixed ? states : i] += weight * earned(i, mass);
      if (outside) next_[begin_[i + 1] - 1] = landing_;
      for (auto k = begin_[i]; weight != 1 && k < begin_[i + 1]; ++k) probability_[k] *= weight;
    }
    states += rows_->begin[place] < rows_->begin[place + 1];
  }
  kernel_->set(next_, probability_, earned_);
}

void UntilEnd::measure(const std::vector<double>& values) {
  residual_ = scale_ = 0;
  for (State place = 0; place < own_states(); ++place)
    residual_ = std::max(residual_, std::abs(better_[place] - values[whole(place)]));
  for (const double value : values) scale_ = std::max(scale_, std::abs(value));
  for (const double value : earned_) scale_ = std::max(scale_, std::abs(value));
  residual_ = max_over_ranks(workers_->ranks(), residual_);
  scale_ = max_over_ranks(workers_->ranks(), scale_);
}

void UntilEnd::find(std::vector<double>& values, std::vector<std::int32_t>& actions) {
  constexpr double kRounding = 1e-15, kNearly = 1e-11;  // of the scale
  double last = std::numeric_limits<double>::infinity();
  const std::vector<std::int32_t> ending = actions;  // under every kernel
  for (rounds_ = 0;; ++rounds_) {
    workers_->check_together();
    respond(values, true);
    fix_kernel();
    measure(values);
    const bool done = residual_ <= kRounding * scale_ ||
                      (residual_ <= kNearly * scale_ && residual_ > last / 2) ||
                      (is_nominal(*problem_) && rounds_ > 0) || rounds_ == kMostResponses;
    if (rounds_ > 0 && done) return;
    last = residual_;
    if (problem_->improper()) actions = ending;
    const double accuracy = choice_ == Choice::mixed ? kAccuracyOfPolicies : kAccuracyOfSearch;
    KernelTotals(kernel_->rows(), {}, choice_ == Choice::least, accuracy, *workers_)
        .solve(values, actions);
  }
}

std::vector<double> UntilEnd::steps(const std::vector<char>& use,
                                    std::vector<std::int32_t> actions) const {
  KernelRows rows = kernel_->rows();
  const std::vector<double> one(rows.earned.size(), 1.0);
  rows.earned = one;
  std::vector<double> found(rows.states(), 0.0);
  KernelTotals(rows, use, false, kAccuracyOfSteps, *workers_).solve(found, actions);
  return found;
}

// The steps of any of these rows, whatever nature does: what it makes small is their opposite.
std::vector<double> UntilEnd::steps_under_any_kernel() const {
  UntilEnd longest(*problem_, {-1, 0.0}, *rows_, choice_, *workers_, -1.0);
  std::vector<double> found(problem_->model().all_states(), 0.0);
  std::vector<std::int32_t> actions(found.size(), 0);
  longest.find(found, actions);
  for (double& steps : found) steps = 0.0 - steps;
  return found;
}

// Whether a sweep moves every value that it can move up (or down, by the sign), clearly.
bool UntilEnd::moves_by(double sign, const std::vector<double>& values, double each) {
  respond(values, false);
  bool moves = true;
  for (State place = 0; place < own_states(); ++place)
    moves &= rows_->begin[place] == rows_->begin[place + 1] ||
             sign * (better_[place] - values[whole(place)]) >= each / 4;
  return all_ranks(workers_->ranks(), moves);
}

// Each state is raised by the same for every decision that rows which are nearly as good as the
// best may still take under this kernel; worse rows lose more than that. The more rows count as
// nearly as good, the longer they may take, and the less is left to lose.
double UntilEnd::most_above(const std::vector<double>& values,
                            const std::vector<std::int32_t>& actions) {
  const Model& model = problem_->model();
  constexpr double kAll = std::numeric_limits<double>::infinity();
  const std::vector<double> worth = worth_;
  for (const double share : {1e-9, 1e-6, 1e-3, kAll}) {
    std::vector<char> near(worth.size(), 0);
    for (State place = 0; place < own_states(); ++place)
      for (auto i = rows_->begin[place]; i < rows_->begin[place + 1]; ++i)
        near[i] = share == kAll || worth[i] >= values[whole(place)] - share * scale_;
    if (problem_->improper()) {
      const Support support(model, problem_->uncertainty());
      if (has_end_component(model, support, near)) return kAll;
    }
    const std::vector<double> more = steps(kernel_->of_all_rows(near), actions);
    const double most = *std::max_element(more.begin(), more.end());
    for (double each = least_step(); each * most <= std::min(share, 1e-2) * scale_; each *= 8) {
      std::vector<double> raised = values;
      for (std::size_t s = 0; s < raised.size(); ++s) raised[s] += each * more[s];
      if (moves_by(-1, raised, each)) return each * most;
      if (each == 0) break;
    }
  }
  return kAll;
}

// The values, less the same for each decision that `more` counts; empty where a sweep lowers them
// further, for all of so many sizes, each eight times the one before.
std::vector<double> UntilEnd::lowered(const std::vector<double>& values,
                                      const std::vector<double>& more, int sizes) {
  const double most = *std::max_element(more.begin(), more.end());
  // What nature leaves out is left out but for rounding, of outcomes that may earn much more.
  const double unit = std::max(scale_, largest_earned()), first = 1e-18 * unit;
  double each = least_step();
  for (int n = 0; n < sizes && each * most <= 1e-2 * unit; ++n, each = std::max(8 * each, first)) {
    std::vector<double> less = values;
    for (std::size_t s = 0; s < less.size(); ++s) less[s] -= each * more[s];
    if (moves_by(1, less, each)) return less;
  }
  return {};
}

// Decisions under nature's kernel are fewer than under any, but where nature does not care they may
// not be enough.
std::vector<double> UntilEnd::below(const std::vector<double>& values) {
  constexpr int kFew = 4, kMany = 100;
  const auto most = [](const std::vector<double>& steps) {
    return *std::max_element(steps.begin(), steps.end());
  };
  const auto require_few = [&](const std::vector<double>& steps) {
    require(most(steps) < kMostSteps,
            "an episode may take {:g} decisions in expectation before it ends, must be below {:g}",
            most(steps), kMostSteps);
  };
  const std::vector<double> more = steps({}, std::vector<std::int32_t>(values.size(), 0));
  require_few(more);
  std::vector<double> found = lowered(values, more, kFew);
  if (!found.empty()) return found;
  const std::vector<double> any = steps_under_any_kernel();
  if (most(any) < kMostSteps) found = lowered(values, any, kMany);
  if (found.empty()) found = lowered(values, more, kMany);
  if (found.empty()) require_few(any);
  require(!found.empty(),
          "values that end so late are beyond what rounding leaves of them, must end sooner");
  return found;
}

WholeKernel::WholeKernel(const Model& model, Communicator& ranks, const std::vector<Row>& rows_of,
                         const std::vector<std::int64_t>& begin, const std::vector<State>& next)
    : ranks_(&ranks) {
  if (alone()) {
    state_rows_ = begins(rows_of);
    begin_ = begin;
    next_ = next;
    return;
  }
  std::vector<State> own;
  std::vector<std::int64_t> lengths;
  for (State place = 0; place < model.own_states(); ++place)
    own.push_back(whole_number(model, model.own(place)));
  for (std::size_t r = 0; r + 1 < begin.size(); ++r) lengths.push_back(begin[r + 1] - begin[r]);
  const std::vector<State> states = all_gather_lists(ranks, own);
  const std::vector<std::int64_t> rows_at = begins(all_gather_lists(ranks, rows_of));
  const std::vector<std::int64_t> entries_at = begins(all_gather_lists(ranks, lengths));
  std::vector<std::int64_t> place(states.size());
  for (std::size_t i = 0; i < states.size(); ++i) place[states[i]] = static_cast<std::int64_t>(i);
  state_rows_ = begin_ = {0};
  for (const std::int64_t at : place) {
    for (std::int64_t row = rows_at[at]; row < rows_at[at + 1]; ++row) {
      row_from_.push_back(row);
      for (std::int64_t k = entries_at[row]; k < entries_at[row + 1]; ++k) entry_from_.push_back(k);
      begin_.push_back(static_cast<std::int64_t>(entry_from_.size()));
    }
    state_rows_.push_back(static_cast<Row>(row_from_.size()));
  }
}

template <class Value>
std::span<const Value> WholeKernel::gather(const std::vector<Value>& own,
                                           const std::vector<std::int64_t>& from,
                                           std::vector<Value>& all) const {
  if (alone()) return own;
  const std::vector<Value> lists = all_gather_lists(*ranks_, own);
  all.resize(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) all[i] = lists[from[i]];
  return all;
}

void WholeKernel::set(const std::vector<State>& next, const std::vector<double>& probability,
                      const std::vector<double>& earned) {
  next_ = gather(next, entry_from_, all_next_);
  probability_ = gather(probability, entry_from_, all_probability_);
  earned_ = gather(earned, row_from_, all_earned_);
}

std::vector<char> WholeKernel::of_all_rows(const std::vector<char>& own) const {
  std::vector<char> all;
  const std::span<const char> found = gather(own, row_from_, all);
  return {found.begin(), found.end()};
}

}  // namespace redoubt::internal
