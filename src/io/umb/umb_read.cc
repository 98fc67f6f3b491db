#include "io/umb/umb_read.h"

#include <algorithm>
#include <limits>
#include <set>

#include "io/json/json_model.h"
#include "io/transitions.h"
#include "io/umb/umb_annotations.h"
#include "io/umb/umb_values.h"
#include "parallel/collectives.h"
#include "parallel/partition.h"
#include "support/file.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;
namespace internal::io {
namespace {

using umb::Range;
using umb::Ranges;

class UmbReader {
 public:
  UmbReader(TarReader& archive, const Communicator& ranks)
      : members_(archive),
        json_(parse_index(members_.text(umb::index))),
        index_(json_),
        rank_(ranks.rank()),
        ranks_(ranks.size()) {}

  // How large everything is.
  void begin() {
    naming(umb::index, [&] { read_sizes(); });
    read_side_terms();
    read_layers();
    check_structure();
    initial_ = read_initial();
    share_blocks();
  }

  // Where the rows of our block lead.
  StateGraph read_graph() {
    const State first = blocks_[rank_], last = blocks_[rank_ + 1];
    read_structure(blocks_);
    return graph_of(a_, {first, last - first, first, last});
  }

  // Everything of our own states, in the order in which the archive usually has it.
  void read(const Partition& partition) {
    read_structure(partition);
    read_probabilities();
    read_actions();
    read_rewards();
    naming(umb::index, [&] { read_labels(members_, index_, states_, a_); });
    if (ranks_ == 1 && !layered_ && a_.state_names.empty())
      naming(umb::index, [&] { read_valuations(members_, index_, a_); });
    read_terms(initial_);
  }

  // How often an action comes again in one of our own states.
  std::int32_t repeats() const { return repeats_; }

  const std::vector<State>& blocks() const { return blocks_; }

  // `repeats` is the most of all ranks. Where actions come again and have no names by which they
  // could be told apart, an action is the place of a choice in its state.
  UmbShare finish(std::int32_t repeats, Partition partition) {
    constexpr std::int64_t most_names = 1'000'000;
    const auto& names = a_.action_names;
    const bool named =
        std::any_of(names.begin(), names.end(), [](const auto& name) { return !name.empty(); });
    if (repeats > 0 && named &&
        static_cast<std::int64_t>(names.size()) * (repeats + 1) <= most_names) {
      tell_apart(a_, repeats);
      repeats = 0;
    }
    if (choice_actions_ == 0 || repeats > 0)
      number_actions(a_);
    else
      sort_actions(a_);
    return {std::move(a_), std::move(partition), std::move(terms_), rewarded_};
  }

 private:
  static Json parse_index(const std::string& text) {
    return naming(umb::index, [&] { return parse_json(text); });
  }

  void read_sizes() {
    const JsonNode version = index_.at("format-version");
    if (version.integer(0, 0xFFFFFFFF) > 1)  // 0 and 1 do not differ in what we read
      version.fail("is newer than this program, which reads versions up to 1");
    system_.emplace(index_.at("transition-system"));
    const JsonNode& system = *system_;
    if (system.at("time").text() != "discrete")
      system.at("time").fail("must be \"discrete\": time is counted in decisions");
    system.at("#players").integer(0, 1);
    if (const auto observations = system.find("#observations"))
      observations->integer(0, 0);  // what a policy sees is the state
    constexpr std::int64_t most_states = std::numeric_limits<State>::max() - 1;
    constexpr std::int64_t most = std::int64_t{1} << 40;  // so that no size in bytes overflows
    states_ = system.at("#states").integer(1, most_states);
    choices_ = system.at("#choices").integer(0, most);
    branches_ = system.at("#branches").integer(0, most);
    choice_actions_ = system.at("#choice-actions").integer(0, most_states);
  }

  // Our own terms, when we wrote the file.
  void read_side_terms() {
    file_data_ = index_.find("file-data");
    if (!file_data_ || !file_data_->raw().is_object()) return;
    const auto tool = file_data_->find("tool");
    if (!tool || tool->raw() != "redoubt") return;
    parameters_ = file_data_->find("parameters");
    if (parameters_)
      side_ = naming(umb::index, [&] { return read_side(*parameters_, members_.bytes()); });
  }

  // Our own files say how many states there are; with one layer of them for each stage, and one
  // after the last, the rows depend on the stage.
  void read_layers() {
    a_.states = static_cast<State>(states_);
    if (!side_.states) return;
    const std::int64_t states = side_.states->count();
    a_.states = side_.states->count();
    a_.state_names = side_.states->names();
    a_.groups = side_.groups;
    a_.factors = side_.factors;
    require((a_.groups == 0 && a_.factors == 0) || ranks_ == 1,
            "{} groups and {} factors on {} ranks, must run on one", a_.groups, a_.factors, ranks_);
    if (states == states_) return;
    const std::int64_t stages = side_.horizon.value_or(0);
    require(stages >= 1 && states_ == states * (stages + 1),
            "{} states in the file and {} in its terms, must be equal or one layer for each stage "
            "and one more",
            states_, states);
    a_.stages = static_cast<int>(stages);
    layered_ = true;
  }

  // Every branch has its bytes in the archive, which then limits all other counts.
  void check_structure() {
    if (branches_ > 0) {
      probability_type_ = system_->find("branch-probability-type");
      require(probability_type_.has_value(),
              "{}: branch-probability-type is missing, must be given", umb::index);
      members_.check_values(umb::branch_to_probability, branches_, *probability_type_);
      interval_ = umb::is_interval(*probability_type_);
    }
    members_.check_offsets(umb::choice_to_branches, choices_, branches_);
    members_.check_offsets(umb::state_to_choices, states_, choices_);
    if (!layered_) return;
    require(first_choice(std::int64_t{a_.states} * a_.stages) == choices_,
            "a state after the last stage has a choice, must have none");
  }

  std::int64_t first_choice(std::int64_t state) {
    return members_.offsets(umb::state_to_choices, states_, choices_, {state, state}).front();
  }
  std::int64_t first_branch(std::int64_t choice) {
    return members_.offsets(umb::choice_to_branches, choices_, branches_, {choice, choice}).front();
  }

  Start read_initial() {
    Start start;
    start.states = members_.bits(umb::state_is_initial, states_);
    start.probability.assign(start.states.size(), 1.0 / static_cast<double>(start.states.size()));
    return start;
  }

  // Blocks of states with about equally many branches, as balanced_blocks makes them.
  void share_blocks() {
    blocks_.assign(ranks_ + 1, a_.states);
    blocks_[0] = 0;
    if (ranks_ > 1) {
      const auto branches = layered_ ? first_branch(first_choice(a_.states)) : branches_;
      std::vector<std::int64_t> shares;
      for (int r = 1; r < ranks_; ++r) shares.push_back(branches * r / ranks_);
      const auto choices =
          members_.lower_bounds(umb::choice_to_branches, choices_, branches_, shares);
      const auto states = members_.lower_bounds(umb::state_to_choices, states_, choices_, choices);
      for (int r = 1; r < ranks_; ++r)
        blocks_[r] = static_cast<State>(std::min<std::int64_t>(states[r - 1], a_.states));
    }
  }

  // Our own states at a stage, in the file.
  void add_layer(std::int64_t stage, Ranges& ranges) const {
    for (const Range& run : own_runs_)
      ranges.push_back({stage * a_.states + run.begin, stage * a_.states + run.end});
  }

  void find_own(const Partition& partition) {
    own_runs_.clear();
    own_states_.clear();
    if (partition.owner.empty()) own_runs_ = {{blocks_[rank_], blocks_[rank_ + 1]}};
    for (std::size_t s = 0; s < partition.owner.size(); ++s) {
      const auto state = static_cast<std::int64_t>(s);
      if (partition.owner[s] == rank_) add_range(own_runs_, {state, state + 1});
    }
    for (std::int64_t stage = 0; stage < a_.stages; ++stage) add_layer(stage, own_states_);
  }

  void read_structure(const Partition& partition) {
    find_own(partition);
    own_choices_.clear();
    own_branches_.clear();
    a_.state_rows.assign(1, 0);
    a_.row_outcomes.assign(1, 0);
    for (const Range& states : own_states_)
      add_range(own_choices_,
                append(umb::state_to_choices, states_, choices_, states, a_.state_rows));
    for (const Range& choices : own_choices_)
      add_range(own_branches_,
                append(umb::choice_to_branches, choices_, branches_, choices, a_.row_outcomes));
    a_.next =
        members_.numbers<std::uint64_t>(umb::branch_to_target, branches_, states_, own_branches_);
    if (layered_) fold_targets();
  }

  // Adds what a range of an offset array maps to after what is there; returns which entries of the
  // next array those are.
  Range append(const char* name, std::int64_t count, std::int64_t total, const Range& range,
               std::vector<std::int64_t>& to) {
    std::vector<std::int64_t> offsets = members_.offsets(name, count, total, range);
    const Range found{offsets.front(), offsets.back()};
    const std::int64_t shift = to.back() - found.begin;
    if (to.size() == 1 && shift == 0) {  // the first is all there is
      to = std::move(offsets);
      return found;
    }
    to.reserve(to.size() + offsets.size());
    for (std::size_t i = 1; i < offsets.size(); ++i) to.push_back(offsets[i] + shift);
    return found;
  }

  // Branches lead to the layer of the next stage; there, states are those of the model.
  void fold_targets() {
    const std::int64_t states = a_.states;
    std::size_t slot = 0;
    for (const Range& range : own_states_) {
      for (std::int64_t s = range.begin; s < range.end; ++s, ++slot) {
        const std::int64_t first = (s / states + 1) * states;
        const auto end = a_.row_outcomes[a_.state_rows[slot + 1]];
        for (auto b = a_.row_outcomes[a_.state_rows[slot]]; b < end; ++b) {
          require(a_.next[b] >= first && a_.next[b] < first + states,
                  "a branch from state {} to state {}, must lead to the next stage", s, a_.next[b]);
          a_.next[b] -= static_cast<State>(first);
        }
      }
    }
  }

  void read_probabilities() {
    if (branches_ == 0) return;
    auto values =
        members_.values(umb::branch_to_probability, branches_, *probability_type_, own_branches_);
    if (!interval_) {
      a_.probability = std::move(values.lower);
      return;
    }
    a_.lower = std::move(values.lower);
    a_.upper = std::move(values.upper);
    a_.probability.assign(a_.lower.size(), std::numeric_limits<double>::quiet_NaN());
    const std::string nominal = umb::annotation(umb::own_group, "nominal", "branches");
    if (parameters_ && members_.has(nominal))
      a_.probability = members_.values(nominal, branches_, doubles(), own_branches_).lower;
    place_between_bounds(a_);
  }

  void read_rewards() {
    Ranges states = own_states_;
    if (layered_) add_layer(a_.stages, states);
    rewarded_ = io::read_rewards(
        members_, index_,
        {{states_, std::move(states)}, {choices_, own_choices_}, {branches_, own_branches_}}, a_);
  }

  void read_actions() {
    a_.action.resize(a_.row_outcomes.size() - 1);
    if (choice_actions_ == 0) return;
    a_.action = members_.numbers<std::uint32_t>(umb::action_values, choices_, choice_actions_,
                                                own_choices_);
    repeats_ = most_repeats(a_);
    read_action_names();
  }

  void read_action_names() {
    if (side_.actions) {
      a_.action_names = side_.actions->names();
      return;
    }
    if (!members_.has(umb::action_string_mapping)) return;
    const std::string strings = members_.text(umb::action_strings);
    const auto offsets =
        members_.offsets(umb::action_string_mapping, choice_actions_,
                         static_cast<std::int64_t>(strings.size()), {0, choice_actions_});
    std::set<std::string> distinct;
    for (std::int64_t i = 0; i < choice_actions_; ++i) {
      a_.action_names.push_back(strings.substr(offsets[i], offsets[i + 1] - offsets[i]));
      distinct.insert(a_.action_names.back());
    }
    if (distinct.size() < a_.action_names.size()) a_.action_names.clear();
  }

  void read_terms(const Start& initial) {
    if (!parameters_) {
      if (!initial.states.empty()) terms_.start = initial;
      if (interval_) terms_.uncertainty = Interval{};
      return;
    }
    const auto set = parameters_->find("uncertainty");
    const auto radius = set && set->raw().is_object() ? set->find("radius") : std::nullopt;
    if (ranks_ > 1 && radius && radius->raw().is_array())
      radius->fail(
          fmt::format("must be a number on {} ranks: radii of rows are an array of "
                      "the archive, of which each rank reads its own",
                      ranks_));
    terms_ = naming(umb::index, [&] { return io::read_terms(*parameters_, a_); });
    naming(umb::index, [&] { read_arrivals(*parameters_, a_); });
    const std::string member = umb::annotation(umb::own_group, "radius", "choices");
    if (!members_.has(member)) return;
    const auto radii = members_.values(member, choices_, doubles(), own_choices_).lower;
    std::visit(
        [&](auto& own) {
          if constexpr (requires { own.radius; }) own.radius = Radius(radii);
        },
        terms_.uncertainty);
  }

  static const JsonNode& doubles() {
    static const Json type = {{"type", "double"}};
    static const JsonNode node(type);
    return node;
  }

  umb::Members members_;
  Json json_;
  JsonNode index_;
  int rank_, ranks_;
  std::optional<JsonNode> system_, file_data_, parameters_, probability_type_;
  Side side_;
  std::int64_t states_ = 0, choices_ = 0, branches_ = 0, choice_actions_ = 0;
  bool interval_ = false;
  bool layered_ = false;  // the file has a layer of states for each stage and one more
  std::vector<State> blocks_;
  Start initial_;
  Ranges own_runs_;                                 // our own states in the model
  Ranges own_states_, own_choices_, own_branches_;  // in the file, stage by stage
  std::int32_t repeats_ = 0;
  bool rewarded_ = false;
  ModelArrays a_;
  Terms terms_;
};

}  // namespace

UmbShare read_share(TarReader& archive, Communicator& ranks, const PartitionOptions& options) {
  std::optional<UmbReader> reader;
  StateGraph graph;
  all_or_none(ranks, [&] {
    reader.emplace(archive, ranks);
    reader->begin();
    if (options.partition && ranks.size() > 1) graph = reader->read_graph();
  });
  const auto everybodys = all_gather<State>(ranks, reader->blocks());
  const auto blocks = std::span(everybodys).first(reader->blocks().size());
  for (std::size_t i = 0; i < everybodys.size(); ++i)
    require(everybodys[i] == blocks[i % blocks.size()],
            "ranks read different files, must read the same");
  const Partition partition = make_partition(ranks, reader->blocks(), graph, options);
  all_or_none(ranks, [&] { reader->read(partition); });
  const auto repeats = static_cast<std::int32_t>(max_over_ranks(ranks, reader->repeats()));
  return reader->finish(repeats, partition);
}

Draft read_whole(TarReader& archive) {
  UmbShare whole = read_share(archive, one_process());
  return {Model(std::move(whole.block)), std::move(whole.terms), whole.rewarded};
}

}  // namespace internal::io

Draft read_umb(std::string_view bytes, std::string_view name) {
  return naming(name, [&] {
    io::TarReader archive(bytes);
    return io::read_whole(archive);
  });
}

}  // namespace redoubt
