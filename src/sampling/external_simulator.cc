#include <map>

#include "redoubt/simulator.h"
#include "sampling/line_process.h"
#include "sampling/query_name.h"
#include "sampling/simulator_lines.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;
namespace {

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
      shape_ = read_hello(line);
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
    Answer answer;
    try {
      answer = internal::read_answer(line, shape_, [&](auto id) { return waiting_.contains(id); });
    } catch (const Error& error) {
      fail("wrote '{}' while {} waited: {}", excerpt(line), oldest(), error.what());
    }
    receive(waiting_.extract(answer.id).mapped(), answer.sample);
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
