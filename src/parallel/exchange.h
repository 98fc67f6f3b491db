#pragma once

#include <functional>
#include <vector>

#include "parallel/workers.h"
#include "redoubt/advanced/ranks.h"
#include "redoubt/model.h"

namespace redoubt::internal {

// Where a layer of values lies: those of state s in array i are the `count` numbers from
// first + s * state_stride + i * array_stride.
struct LayerView {
  double* first = nullptr;
  std::int64_t state_stride = 1;
  int arrays = 1;
  std::int64_t array_stride = 0;
  std::int64_t count = 1;

  double* at(State state, int array) const {
    return first + state * state_stride + array * array_stride;
  }
  std::int64_t values() const { return arrays * count; }  // of one state
};

// Brings the values of states that other ranks own, and no others, to the ranks whose rows lead
// there. A submodel makes one together with all other ranks; a whole model has nothing to
// exchange.
class Exchange {
 public:
  Exchange(const Model& model, Communicator& ranks);

  Communicator& ranks() const { return *ranks_; }

  // Needed to bring layers of this many values of each state to everybody.
  double bytes(std::int64_t values) const;

  // Runs body(state, piece, worker) for every piece of the work of every state of our own, on all
  // threads, and brings the values that the bodies put into the layer to everybody who needs them.
  // States are done in slices: the values of one slice are under way while the next is computed.
  struct Work {
    double nanoseconds = 0;   // about, of all states together
    std::int64_t pieces = 1;  // of the work of one state, which different threads may do
  };
  using Body = std::function<void(State state, std::int64_t piece, int worker)>;
  void sweep(Workers& group, const Work& work, const LayerView& layer, const Body& body);

  // The same with one call for many states: own states number begin .. end - 1.
  using RangeBody = std::function<void(State begin, State end, int worker)>;
  void sweep_ranges(Workers& group, double nanoseconds, const LayerView& layer,
                    const RangeBody& body);

  // The values of all states at once.
  void update(const LayerView& layer);

  // The other way round: what we have put into states that others own goes to their owners, who
  // combine(theirs, ours) it number by number. For operations in which the order does not matter.
  using Combine = std::function<void(double* into, const double* from)>;
  void collect(const LayerView& layer, const Combine& combine);

 private:
  struct Peer {
    int rank = 0;
    std::vector<State> theirs;  // states here that the peer owns
    std::vector<State> wanted;  // our own states that the peer needs
    // Where each slice begins: of the peer in `theirs`, of ours in `wanted`; and the end.
    std::vector<std::int64_t> theirs_begin, wanted_begin;
    std::vector<double> out, in;
  };
  void learn_what_is_wanted();
  void learn_slices();
  State slice_begin(int slice) const;  // turn of its first state
  void pass_on(const LayerView& layer, int slice);
  void begin(const LayerView& layer, int slice);
  void finish(const LayerView& layer, int slice);

  const Model* model_;
  Communicator* ranks_;
  int slices_ = 1;
  std::vector<Peer> peers_;
};

}  // namespace redoubt::internal
