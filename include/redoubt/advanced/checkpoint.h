#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "redoubt/advanced/ranks.h"
#include "redoubt/advanced/stage_store.h"
#include "redoubt/solution.h"

namespace redoubt {

// The state of work that can be continued later, as named values. One visit serves both ways: an
// archive that writes takes the values, one that reads sets them. Of work on several ranks there is
// one state, in which nothing tells how many there were: values are the same on every rank unless
// it says otherwise here.
class Archive {
 public:
  virtual ~Archive() = default;
  virtual void visit(const char* name, std::vector<double>& values) = 0;
  virtual void visit(const char* name, std::vector<std::int64_t>& values) = 0;
  virtual void visit(const char* name, std::vector<std::vector<double>>& lists) = 0;
  virtual void visit(const char* name, Trace& trace) = 0;
  // `each` values for every state that this rank owns, at(place) are those of model.own(place);
  // those of all ranks are one array.
  using ValuesAt = std::function<double*(State place)>;
  virtual void visit_states(const char* name, std::int64_t each, const ValuesAt& at) = 0;
  // The stages of a policy for those states; what the store has is visited there. Not for policies
  // that move their memory by table.
  virtual void visit_stages(const char* name, Policy& policy, StageStore* store) = 0;
  // A count of which every rank has a share: only the sum is kept, and the first rank gets it back.
  virtual void visit_sum(const char* name, double& share) = 0;
  void visit(const char* name, double& value) { visit_one(name, value); }
  void visit(const char* name, std::int64_t& value) { visit_one(name, value); }

 private:
  template <class Value>
  void visit_one(const char* name, Value& value) {
    std::vector<Value> values = {value};
    visit(name, values);
    value = values.at(0);
  }
};

// Whose state it is: that of all ranks, of which this one has a submodel. No model: the
// state has no values of states.
struct Owners {
  Communicator* ranks = &one_process();
  const Model* model = nullptr;
};

// Where long work keeps its state and finds it again; `checkpoint_file` makes one. Solvers call it
// from one thread, between two stages, and on every rank.
class Checkpoint {
 public:
  using State = std::function<void(Archive&)>;  // visits the whole state

  virtual ~Checkpoint() = default;
  // Reads the state back; false when there is none. `work` says what the state is of, in words, to
  // the last bit of the problem: the state of other work is an Error that names both.
  virtual bool restore(const std::string& work, const State& state, const Owners& owners = {}) = 0;
  virtual bool is_due() const = 0;  // some seconds have passed since the last save
  // Writes the state in place of the one before it, whole or not at all.
  virtual void save(const std::string& work, const State& state, const Owners& owners = {}) = 0;
  // A checkpoint beside this one, for a part of the work that has a state of its own.
  virtual std::shared_ptr<Checkpoint> part(const std::string& name) = 0;
  virtual void remove() = 0;  // with its parts: the work is done. By one rank
};

}  // namespace redoubt
