#include <fmt/ranges.h>

#include <map>

#include "io/json_node.h"
#include "model/require.h"
#include "redoubt/simulator.h"
#include "sampling/line_process.h"
#include "sampling/query_name.h"

namespace redoubt {
namespace {

constexpr std::int64_t kMost = 100'000'000;  // rows: a first line is a promise of memory

// A count, or a list of names.
std::int64_t count_or_names(const io::Node& node, std::vector<std::string>& names) {
  if (!node.raw().is_array()) return node.integer(0, kMost);
  for (std::size_t i = 0; i < node.size(); ++i) names.push_back(node.at(i).text());
  return static_cast<std::int64_t>(names.size());
}

void read_available(const io::Node& node, std::int64_t actions, SimulatorShape& shape) {
  if (node.size() != static_cast<std::size_t>(shape.states))
    node.fail(fmt::format("must list the actions of each of the {} states", shape.states));
  shape.action.clear();
  shape.state_rows.assign(1, 0);
  for (int stage = 0; stage < shape.stages; ++stage) {
    for (std::size_t state = 0; state < node.size(); ++state) {
      const io::Node list = node.at(state);
      for (std::size_t i = 0; i < list.size(); ++i)
        shape.action.push_back(static_cast<std::int32_t>(list.at(i).integer(0, actions - 1)));
      shape.state_rows.push_back(shape.rows());
    }
  }
}

// The program's first line: what can be asked of it.
SimulatorShape read_shape(const io::Json& json) {
  const io::Node root(json);
  root.allow_only({"states", "actions", "available", "signals", "horizon", "discount", "start",
                   "stage_dependent"});
  Terms terms;
  if (const auto node = root.find("horizon"); node && !node->is_null())
    terms.horizon = static_cast<int>(node->integer(0, 2'000'000'000));
  if (const auto node = root.find("discount")) terms.discount = node->number();
  const auto by_stage = root.find("stage_dependent");
  if (by_stage && !by_stage->raw().is_boolean()) by_stage->fail("must be true or false");
  const bool stages_differ = by_stage && by_stage->raw().get<bool>();
  require(!stages_differ || terms.horizon.value_or(0) > 0,
          "stage_dependent = true without a horizon, must come with one");

  std::vector<std::string> state_names, action_names, signals;
  const auto states = count_or_names(root.at("states"), state_names);
  const auto actions = count_or_names(root.at("actions"), action_names);
  if (const auto node = root.find("signals")) {
    for (std::size_t i = 0; i < node->size(); ++i) signals.push_back(node->at(i).text());
  }
  const double rows = static_cast<double>(states) * static_cast<double>(actions) *
                      (stages_differ ? *terms.horizon : 1);
  require(rows <= static_cast<double>(kMost), "{:g} rows, must be at most {}", rows, kMost);
  SimulatorShape shape =
      regular_shape(static_cast<State>(states), static_cast<std::int32_t>(actions),
                    std::move(signals), stages_differ ? *terms.horizon : 1);
  shape.state_names = std::move(state_names);
  shape.action_names = std::move(action_names);
  if (const auto node = root.find("available")) read_available(*node, actions, shape);
  if (const auto node = root.find("start"))
    terms.start = Start(static_cast<State>(node->integer(0, shape.states - 1)));
  shape.terms = std::move(terms);
  shape.check();
  return shape;
}

class ExternalSimulator : public Simulator {
 public:
  ExternalSimulator(const std::string& command, const ExternalOptions& options)
      : command_(command), options_(options), process_(command) {
    process_.write_line(R"({"hello": "redoubt", "version": 1})");
    std::string line;
    switch (process_.read_line(line, options_.timeout)) {
      case LineProcess::Read::line:
        break;
      case LineProcess::Read::timeout:
        fail("has not said hello within {} seconds", options_.timeout);
      case LineProcess::Read::end:
        fail("{} before it said hello", process_.how_it_ended());
    }
    try {
      shape_ = read_shape(io::parse_json(line));
    } catch (const Error& error) {
      fail("says hello with '{}': {}", excerpt(line), error.what());
    }
  }

  const SimulatorShape& shape() const override { return shape_; }

  void answer(const Next& next, const Receive& receive) override {
    waiting_.clear();
    Query query;
    bool more = true;
    for (;;) {
      while (more && waiting_.size() < static_cast<std::size_t>(options_.window)) {
        more = next(query);
        if (more) ask(query);
      }
      if (waiting_.empty()) return;
      read_answer(receive);
    }
  }

 private:
  void ask(const Query& query) {
    process_.write_line(
        fmt::format(R"({{"id": {}, "stage": {}, "state": {}, "action": {}, "seed": {}}})", next_id_,
                    query.stage, query.state, query.action, query.seed));
    waiting_.emplace(next_id_++, query);
  }

  void read_answer(const Receive& receive) {
    std::string line;
    switch (process_.read_line(line, options_.timeout)) {
      case LineProcess::Read::line:
        break;
      case LineProcess::Read::timeout:
        fail("has not answered {} within {} seconds", oldest(), options_.timeout);
      case LineProcess::Read::end:
        fail("{} before it answered {}", process_.how_it_ended(), oldest());
    }
    std::int64_t id = -1;
    Sample sample;
    try {
      id = parse(line, sample);
    } catch (const Error& error) {
      fail("wrote '{}' while {} waited: {}", excerpt(line), oldest(), error.what());
    }
    receive(waiting_.extract(id).mapped(), sample);
  }

  std::int64_t parse(const std::string& line, Sample& sample) const {
    const io::Json json = io::parse_json(line);
    const io::Node root(json);
    root.allow_only({"id", "next", "reward", "signals", "error"});
    const io::Node id_node = root.at("id");
    const auto id = id_node.integer(0, std::int64_t{1} << 53);
    if (!waiting_.contains(id)) id_node.fail("must be the id of a query that waits");
    if (const auto error = root.find("error")) throw Error(error->text());
    sample.next = static_cast<State>(root.at("next").integer(0, shape_.states - 1));
    const auto reward = root.find("reward");
    sample.reward = reward ? reward->number() : 0.0;
    if (shape_.signals.empty()) return id;
    const io::Node signals = root.at("signals");
    for (const std::string& name : shape_.signals)
      sample.signals.push_back(signals.at(name).number());
    return id;
  }

  std::string oldest() const {
    const auto& [id, query] = *waiting_.begin();
    return fmt::format("query {} ({})", id, query_name(shape_, query));
  }

  static std::string excerpt(const std::string& line) {
    return line.size() <= 80 ? line : line.substr(0, 77) + "...";
  }

  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> text, Args&&... args) const {
    throw Error(
        fmt::format("simulator '{}' {}", command_, fmt::format(text, std::forward<Args>(args)...)));
  }

  std::string command_;
  ExternalOptions options_;
  LineProcess process_;
  SimulatorShape shape_;
  std::map<std::int64_t, Query> waiting_;
  std::int64_t next_id_ = 0;
};

}  // namespace

std::unique_ptr<Simulator> external_simulator(const std::string& command,
                                              const ExternalOptions& options) {
  require(options.window >= 1, "window = {}, must be at least 1", options.window);
  require(options.timeout > 0, "timeout = {}, must be positive", options.timeout);
  return std::make_unique<ExternalSimulator>(command, options);
}

}  // namespace redoubt
