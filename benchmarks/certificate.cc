#include <ctime>
#include <filesystem>

#include "redoubt/environments.h"
#include "redoubt/frontier.h"
#include "redoubt/solve.h"
#include "run_python.h"
#include "topics.h"

// What a certified answer costs, by a robust value iteration of the same model. One run each,
// because a search takes seconds: processor time, so that other programs do not count.
namespace redoubt::bench {
namespace {

double once(const std::function<void()>& body) {
  const std::clock_t begin = std::clock();
  body();
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

double by_robust(const Problem& problem, double tolerance) {
  const double certified = once([&] { redoubt::frontier(problem, {.tolerance = tolerance}); });
  return certified / seconds({[&] { robust(problem); }}).front();
}

// Of two sets on the same model.
double by_kl(const std::string& model, const std::string& set) {
  const auto with = [&](const std::string& name) { return make(model + ",set=" + name + ")"); };
  const Problem other = with(set), kl = with("kl");
  const double of_other = once([&] { redoubt::frontier(other, {.tolerance = 1e-2}); });
  return of_other / once([&] { redoubt::frontier(kl, {.tolerance = 1e-2}); });
}

// Why Storm cannot be asked here; empty when it can.
std::string lacks_storm() {
  const std::filesystem::path libraries = std::filesystem::path(REDOUBT_SOURCE_DIR) / ".venv/lib";
  if (std::filesystem::exists(libraries)) {
    for (const auto& python : std::filesystem::directory_iterator(libraries)) {
      if (std::filesystem::exists(python.path() / "site-packages/stormpy")) return "";
    }
  }
  return "needs stormpy (scripts/requirements-optional.txt)";
}

struct Case {
  const char* problem;
  double tolerance, floor, stretch;
};

}  // namespace

// The floors say what the search does today, with room for a third: a robust value iteration became
// 20 to 50 times faster after the ratios that are the stretch here were asked for.
void certificate(Table& table) {
  const Case cases[] = {
      {"river_swim", 1e-3, 300, 60},
      {"river_swim(discount=.99,bound=42)", 1e-3, 3000, 60},
      {"machine_replacement", 1e-3, 950, 60},
      {"streaming", 1e-3, 3700, 60},
      {"grid", 1e-3, 1700, 60},
      {"garnet(states=100,actions=5,successors=10,horizon=50,seed=1)", 1e-2, 700, 35},
      {"garnet(states=100,actions=5,successors=10,horizon=50,seed=1)", 1e-3, 2500, 90},
      {"garnet(states=1000,actions=4,successors=10,horizon=20,seed=1)", 1e-2, 300, 35},
      {"garnet(states=1000,actions=4,successors=10,horizon=20,seed=1)", 1e-3, 1100, 90},
  };
  for (const Case& c : cases) {
    const char* gap = c.tolerance < 5e-3 ? "1e-3" : "1e-2";
    table.add(
        {std::string("certificate to ") + gap + " by robust, " + c.problem, c.floor, c.stretch},
        [&] { return by_robust(make(c.problem), c.tolerance); });
  }
  for (const std::string model : {"consensus", "power", "gathering", "scheduler"})
    table.add({"certificate without uncertainty by Storm's multi-objective engine, " + model, 2, .7,
               Better::lower, lacks_storm()},
              [&] { return run_python("multi_objective.py", model)["ratio"].get<double>(); });
  // (Total variation anywhere is another matter: every landing is a set of its own.)
  for (const char* set : {"tv,reach=support", "chi2"})
    table.add(
        {std::string("certificate, ") + set + " by kl, garnet 50x4x8, H = 20, 1e-2", 3, 1.5},
        [&] { return by_kl("garnet(states=50,actions=4,successors=8,horizon=20,seed=1", set); });
}

}  // namespace redoubt::bench
