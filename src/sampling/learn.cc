#include "redoubt/learn.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>

#include "parallel/stopwatch.h"
#include "redoubt/frontier.h"
#include "sampling/allocation.h"
#include "sampling/questions.h"
#include "sampling/store.h"
#include "sampling/two_sides.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;
namespace {

constexpr double kShareOfSolver = 0.05;  // of epsilon or the gap
constexpr double kLeastTolerance = 1e-6, kLargestTolerance = 0.1;

void check(const LearnOptions& options, const Terms& terms) {
  require(options.epsilon > 0 && std::isfinite(options.epsilon),
          "epsilon = {}, must be positive and finite", options.epsilon);
  require(options.delta > 0 && options.delta < 1, "delta = {}, must be in (0, 1)", options.delta);
  require(options.first_samples >= 1, "first_samples = {}, must be at least 1",
          options.first_samples);
  require(options.most_samples >= 0, "most_samples = {}, must be at least 0", options.most_samples);
  require(terms.horizon || terms.discount < 1,
          "no horizon and discount {}, must have a horizon or a discount below 1", terms.discount);
  require(!terms.helpful_nature, "nature helpful, must be against the policy");
  composed(terms.uncertainty);  // an Error for sets that have no composed one
}

// The constraints of the policy that is sought: within epsilon of their bounds. Probabilities are
// asked for as they are: epsilon has the unit of a total.
Terms relaxed(Terms terms, double slack) {
  for (Constraint& c : terms.constraints)
    if (!c.probability) c.bound += c.sense == Sense::at_most ? slack : -slack;
  return terms;
}

// Samples as they come: from the store where it has them, otherwise from the simulator.
class Drawing {
 public:
  Drawing(Simulator& simulator, const LearnOptions& options, int threads)
      : shape_(simulator.shape()),
        questions_(simulator, options.seed, threads),
        counts_(shape_),
        kept_(shape_.rows()) {
    if (options.store.empty()) return;
    path_ = options.store.string();
    store_.emplace(options.store, shape_, options.seed, [&](const SampleStore::Record& record) {
      require(record.row >= 0 && record.row < shape_.rows() && record.draw >= 0,
              "{}: holds a sample of row {}, must be of a row in 0..{}", path_, record.row,
              shape_.rows() - 1);
      check_sample(shape_, record.sample);
      kept_[record.row].emplace(record.draw, record.sample);
    });
  }

  const RowCounts& counts() const { return counts_; }
  std::int64_t queries = 0, reused = 0;

  // Until every row has as many samples as `to` says. Errors say where samples are kept.
  void draw(const std::vector<std::int64_t>& to, Stopwatch& watch) {
    try {
      ask(to, watch);
    } catch (const Stopped&) {
      if (store_) store_->flush();
      throw;
    } catch (const Error& error) {
      if (!store_) throw;
      store_->flush();
      throw Error(fmt::format("{}; samples so far are kept in {}", error.what(), path_));
    }
    if (store_) store_->flush();
  }

 private:
  void ask(const std::vector<std::int64_t>& to, Stopwatch& watch) {
    std::vector<DrawRange> ranges;
    for (Row row = 0; row < shape_.rows(); ++row) {
      const std::int64_t from = counts_.samples(row);
      for (auto draw = from; draw < to[row]; ++draw) {
        const auto found = kept_[row].find(draw);
        if (found == kept_[row].end()) continue;
        counts_.add(row, found->second);
        ++reused;
      }
      if (from < to[row]) ranges.push_back({row, from, to[row]});
    }
    questions_.ask(
        ranges, [&](Row row, std::int64_t draw) { return kept_[row].contains(draw); },
        [&](const Query& query, const Sample& sample, int worker) {
          {
            const std::lock_guard lock(mutex_);
            counts_.add(query.row, sample);
            ++queries;
          }
          if (store_) store_->add(query.row, query.draw, sample);
          if (worker == 0) watch.check();
        });
  }

  const SimulatorShape& shape_;
  Questions questions_;
  RowCounts counts_;
  std::vector<std::map<std::int64_t, Sample>> kept_;  // of the store, of each row
  std::string path_;
  std::optional<SampleStore> store_;
  std::mutex mutex_;
};

// One run: rounds of drawing, solving from both sides, and choosing where to draw next.
class LearnRun {
 public:
  LearnRun(Simulator& simulator, const Terms& terms, const LearnOptions& options,
           const Execution& execution)
      : shape_(simulator.shape()),
        terms_(terms),
        options_(options),
        watch_(execution),
        drawing_(simulator, options, execution.threads),
        active_(find_active()),
        evidence_(find_evidence()) {}

  Learned operator()() {
    std::vector<std::int64_t> to = first_round();
    for (bool more = true; more;) {
      try {
        drawing_.draw(to, watch_);
        solve();
      } catch (const Stopped&) {
        unfinished_ = true;
        if (!best_) throw Stopped("learn was stopped before its first round was solved");
        break;
      }
      const LearnRound round = report();
      rounds_.push_back(round);
      if (certified() || optimistic_->status == Status::infeasible) break;
      unfinished_ = watch_.stop(share_done()) || (options_.round && !options_.round(round));
      more = !unfinished_ && next_round(to);
    }
    sharpen();
    if (options_.method && optimistic_->status != Status::infeasible) choose_by_method();
    return answer();
  }

 private:
  // Rows whose outcomes are in doubt and that episodes can come to.
  std::vector<char> find_active() {
    const std::vector<char> reached = reachable_states(drawing_.counts(), terms_);
    std::vector<char> active(shape_.rows(), 0);
    for (std::size_t slot = 0; slot + 1 < shape_.state_rows.size(); ++slot)
      for (Row row = shape_.state_rows[slot]; row < shape_.state_rows[slot + 1]; ++row)
        active[row] = reached[slot % shape_.states] && shape_.asks(row) &&
                      drawing_.counts().outcomes(row).size() > 1;
    return active;
  }

  // Of each interval, such that all of them together fail with probability delta at most.
  double find_evidence() const {
    std::int64_t intervals = 1;
    for (Row row = 0; row < shape_.rows(); ++row)
      if (active_[row]) intervals += intervals_of_row(drawing_.counts().outcomes(row).size());
    return std::log(static_cast<double>(std::max<std::int64_t>(intervals - 1, 1)) / options_.delta);
  }

  std::vector<std::int64_t> first_round() const {
    std::vector<std::int64_t> to(shape_.rows(), 0);
    std::int64_t rows = 0;
    for (Row row = 0; row < shape_.rows(); ++row) {
      const auto& values = drawing_.counts().outcomes(row)[0].values;
      const bool unknown = values[0].known == RowCounts::Value::Known::nothing;
      to[row] = active_[row] ? options_.first_samples : unknown ? 1 : 0;
      rows += to[row] > 0;
    }
    require(options_.most_samples == 0 || options_.most_samples >= rows,
            "most_samples = {}, must be at least {}: one for each row", options_.most_samples,
            rows);
    const std::int64_t all = std::accumulate(to.begin(), to.end(), std::int64_t{0});
    if (options_.most_samples > 0 && all > options_.most_samples)
      for (std::int64_t& count : to) count = std::min(count, options_.most_samples / rows);
    return to;
  }

  std::int64_t samples() const {
    std::int64_t sum = 0;
    for (Row row = 0; row < shape_.rows(); ++row) sum += drawing_.counts().samples(row);
    return sum;
  }

  // Both solves may leave a twentieth of this gap open.
  double tolerance_for(double gap) const {
    const double size = std::abs(optimistic_->reward.bound.value_or(0));
    const double tolerance = size > 0 ? kShareOfSolver * gap / size : 1.0;
    return std::clamp(tolerance, kLeastTolerance, kLargestTolerance);
  }
  // A round has twice the samples of the one before at most, so it leaves half of the gap or more.
  double first_tolerance() const {
    if (!optimistic_ || !optimistic_->reward.bound) return kLargestTolerance;
    return tolerance_for(std::max(options_.epsilon, gap() / 2));
  }

  // The samples that are there, of those that would do.
  double share_done() const {
    if (!best_ || !feasible() || !optimistic_->reward.bound) return 0;
    return std::min(1.0, std::pow(options_.epsilon / std::max(gap(), options_.epsilon), 2));
  }

  // Of a part of a round: it may be stopped, but what it says of its progress is of no use here.
  Execution part() const {
    Execution run = watch_.rest();
    run.planned = {};
    run.stages = nullptr;
    run.checkpoint = {};
    if (run.progress)
      run.progress = [tell = run.progress, done = share_done()](double) { return tell(done); };
    return run;
  }

  void solve() {
    const KnownRows known(drawing_.counts(), evidence_);
    const Terms sought = relaxed(terms_, options_.strict ? 0 : options_.epsilon);
    solve(pessimistic_problem(known, sought), optimistic_problem(known, terms_), first_tolerance());
  }

  void solve(Problem problem, OptimisticProblem upper, double tolerance) {
    Solution policy = frontier(problem, {.tolerance = tolerance}, part());
    Solution bound = frontier(upper.problem, {.tolerance = tolerance}, part());
    if (policy.unfinished || bound.unfinished) throw Stopped("stopped while a round was solved");
    tolerance_ = tolerance;
    problem_.emplace(std::move(problem));
    upper_.emplace(std::move(upper));
    best_ = std::move(policy);
    // The intervals hold in all rounds at once, and so do the bounds.
    if (optimistic_ && optimistic_->reward.bound && bound.reward.bound)
      bound.reward.bound = std::min(*bound.reward.bound, *optimistic_->reward.bound);
    optimistic_ = std::move(bound);
  }

  // The bracket that is left when there are no more samples is solved as well as a small one.
  void sharpen() {
    if (certified() || optimistic_->status == Status::infeasible || !feasible()) return;
    const double tolerance = tolerance_for(std::max(options_.epsilon, gap()));
    if (tolerance_ <= 2 * tolerance) return;
    try {
      solve(*problem_, *upper_, tolerance);
      rounds_.back() = report();
    } catch (const Stopped&) {
      unfinished_ = true;
    }
  }

  // A run that was stopped keeps the policy of its last round.
  void choose_by_method() {
    Solution chosen;
    try {
      if (!unfinished_) chosen = options_.method(*problem_, part());
    } catch (const Stopped&) {
      chosen.unfinished = true;
    }
    if (unfinished_ || chosen.unfinished) {
      unfinished_ = true;
      best_->notes.emplace_back("stopped before the method was done: the policy is frontier's");
    } else {
      best_ = std::move(chosen);
    }
  }

  bool feasible() const {
    return std::all_of(best_->constraints.begin(), best_->constraints.end(),
                       [](const ConstraintResult& c) { return c.satisfied; });
  }
  double gap() const { return *optimistic_->reward.bound - best_->reward.worst; }
  bool certified() const {
    return feasible() && optimistic_->status != Status::infeasible && optimistic_->reward.bound &&
           gap() <= options_.epsilon;
  }

  LearnRound report() const {
    LearnRound round;
    round.samples = samples();
    round.worst = best_->reward.worst;
    if (optimistic_->status != Status::infeasible)
      round.bound = optimistic_->reward.bound.value_or(kUnknown);
    round.feasible = feasible();
    for (Row row = 0; row < shape_.rows(); ++row)
      if (round.most_drawn < 0 ||
          drawing_.counts().samples(row) > drawing_.counts().samples(round.most_drawn))
        round.most_drawn = row;
    return round;
  }

  // The width falls with the root of the samples: how many would do is known roughly.
  std::int64_t next_total() const {
    constexpr double kLeastGrowth = 1.1, kMostGrowth = 2, kMargin = 1.05;
    double growth = kMostGrowth;
    if (feasible() && optimistic_->reward.bound)
      growth =
          std::clamp(kMargin * std::pow(gap() / options_.epsilon, 2), kLeastGrowth, kMostGrowth);
    const auto now = static_cast<double>(samples());
    const auto total = static_cast<std::int64_t>(std::ceil(growth * now));
    return options_.most_samples > 0 ? std::min(total, options_.most_samples) : total;
  }

  // False when no more samples are allowed, or would tell anything.
  bool next_round(std::vector<std::int64_t>& to) {
    std::vector<double> contribution(shape_.rows(), 0.0);
    if (options_.uniform) {
      for (Row row = 0; row < shape_.rows(); ++row) contribution[row] = active_[row];
    } else {
      std::vector<Row> same(shape_.rows());
      std::iota(same.begin(), same.end(), Row{0});
      add_contributions(*problem_, best_->policy, same, drawing_.counts(), contribution);
      add_contributions(upper_->problem, optimistic_->policy, upper_->origin, drawing_.counts(),
                        contribution);
      for (Row row = 0; row < shape_.rows(); ++row)
        if (!active_[row]) contribution[row] = 0;
    }
    std::vector<std::int64_t> now = to;
    to = allocate(now, contribution, next_total());
    return to != now;
  }

  Learned answer() {
    Learned learned{*best_, asked_problem(), {}, rounds_, 0, 0};
    Solution& solution = learned.solution;
    const bool infeasible = optimistic_->status == Status::infeasible;
    solution.method = "learn";
    solution.reward.static_bound.reset();
    solution.reward.bound.reset();
    if (!infeasible) solution.reward.bound = optimistic_->reward.bound;
    for (std::size_t c = 0; c < solution.constraints.size(); ++c) {
      solution.constraints[c].bound = terms_.constraints[c].bound;
      solution.constraints[c].probability = terms_.constraints[c].probability;
      solution.constraints[c].best_achievable = optimistic_->constraints[c].best_achievable;
    }
    solution.status = infeasible    ? Status::infeasible
                      : certified() ? Status::certified
                      : feasible()  ? Status::feasible
                                    : Status::stopped;
    solution.unfinished = unfinished_;
    solution.curve.clear();
    solution.trace = {};
    solution.iterations = static_cast<std::int64_t>(rounds_.size());
    solution.seconds = watch_.seconds();
    for (Row row = 0; row < shape_.rows(); ++row)
      learned.samples.push_back(drawing_.counts().samples(row));
    learned.queries = drawing_.queries;
    learned.reused = drawing_.reused;
    return learned;
  }

  // What is known, with the constraints as they were asked for.
  Problem asked_problem() const {
    Terms terms = pessimistic_terms(shape_, terms_);
    if (shape_.factors > 0) return {problem_->given().model, std::move(terms)};
    return problem_->with(std::move(terms));
  }

  const SimulatorShape& shape_;
  const Terms& terms_;
  const LearnOptions& options_;
  Stopwatch watch_;
  Drawing drawing_;
  std::vector<char> active_;
  double evidence_;
  std::optional<Problem> problem_;          // of the last round that was solved
  std::optional<OptimisticProblem> upper_;  // and its other side
  std::optional<Solution> best_, optimistic_;
  double tolerance_ = 0;  // of both
  std::vector<LearnRound> rounds_;
  bool unfinished_ = false;
};

}  // namespace

Learned learn(Simulator& simulator, const Terms& terms, const LearnOptions& options,
              const Execution& execution) {
  check(options, terms);
  simulator.shape().check();
  return LearnRun(simulator, terms, options, execution)();
}

}  // namespace redoubt
