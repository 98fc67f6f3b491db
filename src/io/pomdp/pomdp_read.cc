#include <cctype>
#include <map>

#include "io/explicit/text.h"
#include "redoubt/io.h"
#include "support/file.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;
namespace internal::io {
namespace {

struct Token {
  std::string_view text;
  std::int64_t line = 0;
};

// Words, numbers and colons; comments begin with #.
std::vector<Token> tokens_of(std::string_view text) {
  std::vector<Token> tokens;
  TextLines lines(text);
  while (lines.next()) {
    std::string_view line = lines.line().substr(0, lines.line().find('#'));
    for (std::size_t at = 0; at < line.size();) {
      if (std::isspace(static_cast<unsigned char>(line[at])) != 0) {
        ++at;
        continue;
      }
      const auto end =
          line[at] == ':' ? at + 1 : std::min(line.find_first_of(": \t\r\v\f", at), line.size());
      tokens.push_back({line.substr(at, end - at), lines.number()});
      at = end;
    }
  }
  return tokens;
}

// States, actions or observations: how many, and their names.
struct PomdpNames {
  std::int64_t count = 0;
  std::vector<std::string> names;
  std::map<std::string, std::int64_t, std::less<>> numbers;
};

class PomdpReader {
 public:
  explicit PomdpReader(std::string_view text) : text_(text), tokens_(tokens_of(text)) {}

  Draft read() {
    read_preamble();
    while (at_ < tokens_.size()) read_entry();
    return draft();
  }

  // What was left out.
  std::vector<std::string> notes() const {
    if (observations_.count <= 1) return {};
    return {
        fmt::format("{} observations are ignored: what a policy sees here is the state, so its "
                    "value is an upper bound for policies that see only observations",
                    observations_.count)};
  }

 private:
  // ---- Tokens ----
  bool ended() const { return at_ >= tokens_.size(); }
  std::string_view peek(std::size_t ahead = 0) const {
    return at_ + ahead < tokens_.size() ? tokens_[at_ + ahead].text : std::string_view();
  }
  [[noreturn]] void fail(std::string_view rule) const {
    const auto line = tokens_.empty() ? 1 : tokens_[std::min(at_, tokens_.size() - 1)].line;
    throw Error(fmt::format("line {}: {}, {}", line, ended() ? "the end" : excerpt(peek()), rule));
  }
  std::string_view take() {
    if (ended()) fail("must go on");
    return tokens_[at_++].text;
  }
  void take_colon() {
    if (peek() != ":") fail("must be a colon");
    ++at_;
  }
  double take_number() {
    const auto value = ended() ? std::nullopt : number_of(peek());
    if (!value) fail("must be a finite number");
    ++at_;
    return *value;
  }
  static bool is_keyword(std::string_view word) {
    for (const char* known :
         {"discount", "values", "states", "actions", "observations", "start", "T", "O", "R"}) {
      if (word == known) return true;
    }
    return false;
  }
  // The next token begins something new: a keyword and a colon, or "start include:".
  bool at_keyword() const {
    if (ended()) return true;
    if (!is_keyword(peek())) return false;
    return peek(1) == ":" || (peek() == "start" && (peek(1) == "include" || peek(1) == "exclude"));
  }

  // ---- Preamble ----
  void read_preamble() {
    while (!ended() && peek() != "T" && peek() != "O" && peek() != "R") {
      if (!at_keyword()) fail("must be a keyword of the preamble, such as states, and a colon");
      const std::string_view word = take();
      if (word == "start") {
        read_start();
        continue;
      }
      take_colon();
      if (word == "discount") {
        discount_ = take_number();
      } else if (word == "values") {
        cost_ = peek() == "cost";
        if (!cost_ && peek() != "reward") fail("must be reward or cost");
        ++at_;
      } else {
        read_names(word == "states" ? states_ : word == "actions" ? actions_ : observations_);
      }
    }
    require(states_.count >= 1, "states are missing, must be given");
    require(actions_.count >= 1, "actions are missing, must be given");
    const double entries = static_cast<double>(states_.count) * static_cast<double>(states_.count) *
                           static_cast<double>(actions_.count);
    require(entries < 1e12, "{} states and {} actions, must be fewer", states_.count,
            actions_.count);
    require_plausible(static_cast<std::int64_t>(entries), "transitions", text_.size());
    probability_.assign(static_cast<std::size_t>(entries), 0.0);
    reward_.assign(static_cast<std::size_t>(entries), 0.0);
    if (start_.empty()) start_.assign(states_.count, 1.0 / static_cast<double>(states_.count));
  }

  void read_names(PomdpNames& into) {
    require(into.count == 0, "line {}: names are given twice, must be given once",
            tokens_[at_ - 1].line);
    const auto count = count_of(peek());
    if (count && (at_ + 1 >= tokens_.size() || is_keyword(peek(1)))) {
      ++at_;
      if (*count < 1 || *count > 1'000'000) fail("must be a number of names from 1 to 1000000");
      into.count = *count;
      return;
    }
    while (!at_keyword()) {
      if (peek() == ":") fail("must be a name");
      const std::string name(take());
      require(into.numbers.emplace(name, into.count++).second, "'{}' is named twice, must be once",
              excerpt(name));
      into.names.push_back(name);
    }
    if (into.count == 0) fail("must be a number or names");
  }

  void read_start() {
    require(states_.count >= 1, "start comes before states, must come after them");
    start_.assign(states_.count, 0.0);
    const bool include = peek() == "include", exclude = peek() == "exclude";
    if (include || exclude) ++at_;
    take_colon();
    if (include || exclude) return read_start_states(exclude);
    if (peek() == "uniform") {
      ++at_;
      start_.assign(states_.count, 1.0 / static_cast<double>(states_.count));
    } else if (states_.numbers.contains(peek()) ||
               (states_.count > 1 && (at_ + 1 >= tokens_.size() || is_keyword(peek(1))))) {
      start_[index(states_, "a state")] = 1;
    } else {
      for (double& p : start_) p = take_number();
    }
  }

  void read_start_states(bool exclude) {
    std::vector<bool> named(states_.count, false);
    while (!at_keyword()) named[index(states_, "a state")] = true;
    double count = 0;
    for (std::int64_t s = 0; s < states_.count; ++s) count += named[s] != exclude;
    require(count > 0, "start has no state, must have one");
    for (std::int64_t s = 0; s < states_.count; ++s)
      start_[s] = named[s] != exclude ? 1 / count : 0;
  }

  std::int64_t index(const PomdpNames& of, const char* what) {
    const auto named = of.numbers.find(peek());
    const auto number = named != of.numbers.end() ? named->second : count_of(peek()).value_or(-1);
    if (number < 0 || number >= of.count) fail(fmt::format("must be {}, by name or number", what));
    ++at_;
    return number;
  }

  // One, or all of them for *.
  struct Span {
    std::int64_t begin = 0, end = 0;
  };
  Span indices(const PomdpNames& of, const char* what) {
    if (peek() == "*") {
      ++at_;
      return {0, of.count};
    }
    const auto one = index(of, what);
    return {one, one + 1};
  }

  // ---- Entries ----
  void read_entry() {
    if (!at_keyword()) fail("must be T, O or R and a colon");
    const std::string_view word = take();
    if (word == "T")
      read_transition();
    else if (word == "O")
      skip_observation();
    else if (word == "R")
      read_reward();
    else
      fail("must be T, O or R: the preamble is over");
  }

  std::size_t place(std::int64_t action, std::int64_t state, std::int64_t next) const {
    return static_cast<std::size_t>((state * actions_.count + action) * states_.count + next);
  }

  template <class Visit>
  static void for_each(const Span& first, const Span& second, Visit visit) {
    for (auto i = first.begin; i < first.end; ++i) {
      for (auto j = second.begin; j < second.end; ++j) visit(i, j);
    }
  }

  void read_transition() {
    take_colon();
    const Span actions = indices(actions_, "an action");
    const std::int64_t n = states_.count;
    if (peek() != ":") {  // a whole matrix
      std::vector<double> matrix = square(peek());
      for (std::int64_t s = 0; s < n; ++s)
        set_rows(actions, {s, s + 1}, std::span(matrix).subspan(s * n, n));
      return;
    }
    take_colon();
    const Span states = indices(states_, "a state");
    if (peek() != ":") {  // a row
      std::vector<double> row(n, 0.0);
      if (peek() == "uniform") {
        ++at_;
        row.assign(n, 1.0 / static_cast<double>(n));
      } else if (peek() == "reset") {
        ++at_;
        row = start_;
      } else {
        for (double& p : row) p = take_number();
      }
      return set_rows(actions, states, row);
    }
    take_colon();
    const Span nexts = indices(states_, "a state");
    const double p = take_number();
    for_each(actions, states, [&](auto a, auto s) {
      for (auto t = nexts.begin; t < nexts.end; ++t) probability_[place(a, s, t)] = p;
    });
  }

  std::vector<double> square(std::string_view word) {
    const std::int64_t n = states_.count;
    std::vector<double> matrix(n * n, word == "uniform" ? 1.0 / static_cast<double>(n) : 0.0);
    if (word == "uniform" || word == "identity") ++at_;
    if (word == "identity") {
      for (std::int64_t s = 0; s < n; ++s) matrix[s * n + s] = 1;
    } else if (word != "uniform") {
      for (double& p : matrix) p = take_number();
    }
    return matrix;
  }

  void set_rows(const Span& actions, const Span& states, std::span<const double> row) {
    for_each(actions, states, [&](auto a, auto s) {
      std::copy(row.begin(), row.end(), probability_.begin() + place(a, s, 0));
    });
  }

  void skip_observation() {
    while (!at_keyword()) ++at_;
  }

  void read_reward() {
    take_colon();
    const Span actions = indices(actions_, "an action");
    if (peek() != ":") fail("must be a colon and a state");
    take_colon();
    const Span states = indices(states_, "a state");
    Span nexts{0, states_.count};
    if (peek() == ":") {
      take_colon();
      nexts = indices(states_, "a state");
      if (peek() == ":") {
        take_colon();
        require_any_observation();
        return set_reward(actions, states, nexts, take_number());
      }
      return set_reward(actions, states, nexts, same_numbers(observations_.count));
    }
    for (auto t = nexts.begin; t < nexts.end; ++t)
      set_reward(actions, states, {t, t + 1}, same_numbers(observations_.count));
  }

  void require_any_observation() {
    if (peek() != "*" && observations_.count > 1)
      fail("must be *: what is earned must not depend on what is observed");
    ++at_;
  }

  // One number for each observation, all equal.
  double same_numbers(std::int64_t count) {
    const double first = take_number();
    for (std::int64_t i = 1; i < count; ++i) {
      if (peek() != "" && number_of(peek()) != first)
        fail("must be equal for all observations: what is earned must not depend on them");
      take_number();
    }
    return first;
  }

  void set_reward(const Span& actions, const Span& states, const Span& nexts, double value) {
    for_each(actions, states, [&](auto a, auto s) {
      for (auto t = nexts.begin; t < nexts.end; ++t) reward_[place(a, s, t)] = value;
    });
  }

  // ---- The model ----
  Draft draft() {
    ModelArrays a;
    a.states = static_cast<State>(states_.count);
    a.state_names = states_.names;
    a.action_names = actions_.names;
    a.state_rows = {0};
    a.row_outcomes = {0};
    std::vector<double> row, outcome;
    for (std::int64_t s = 0; s < states_.count; ++s) {
      for (std::int64_t action = 0; action < actions_.count; ++action)
        add_row(s, action, a, row, outcome);
      a.state_rows.push_back(static_cast<Row>(a.action.size()));
    }
    Terms terms;
    terms.discount = discount_;
    terms.start = Start::uniform(a.states);
    terms.start.probability = start_;
    if (cost_) {
      a.signals.push_back({"cost", std::move(row), std::move(outcome)});
      terms.objective = {.signal = "cost", .minimise = true};
    } else {
      a.reward = std::move(row);
      a.outcome_reward = std::move(outcome);
    }
    return {Model(std::move(a)), std::move(terms)};
  }

  void add_row(std::int64_t s, std::int64_t action, ModelArrays& a, std::vector<double>& row,
               std::vector<double>& outcome) const {
    a.action.push_back(static_cast<std::int32_t>(action));
    const auto first = a.next.size();
    bool same = true;
    for (std::int64_t t = 0; t < states_.count; ++t) {
      if (probability_[place(action, s, t)] == 0) continue;
      a.next.push_back(static_cast<State>(t));
      a.probability.push_back(probability_[place(action, s, t)]);
      outcome.push_back(reward_[place(action, s, t)]);
      same = same && outcome.back() == outcome[first];
    }
    a.row_outcomes.push_back(static_cast<std::int64_t>(a.next.size()));
    row.push_back(same && a.next.size() > first ? outcome[first] : 0.0);
    for (auto i = first; same && i < a.next.size(); ++i) outcome[i] = 0;
  }

  std::string_view text_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  PomdpNames states_, actions_, observations_;
  double discount_ = 1;
  bool cost_ = false;
  std::vector<double> start_;
  std::vector<double> probability_, reward_;  // [state][action][next]
};

}  // namespace
}  // namespace internal::io

Draft read_pomdp(std::string_view text, std::string_view name, std::vector<std::string>* notes) {
  return naming(name, [&] {
    io::PomdpReader reader(text);
    Draft draft = reader.read();
    if (notes != nullptr) *notes = reader.notes();
    return draft;
  });
}

}  // namespace redoubt
