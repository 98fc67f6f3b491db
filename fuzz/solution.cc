#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "io/hdf5.h"
#include "io/seal.h"
#include "redoubt/environments.h"
#include "redoubt/io.h"
#include "redoubt/policy.h"

namespace {

using namespace redoubt;

// Names in a solution, in the order that the corpus counts them.
constexpr std::array names = {"summary",
                              "policy/stages/memory",
                              "policy/stages/node_begin",
                              "policy/stages/mixed",
                              "policy/stages/choice_begin",
                              "policy/stages/choice_action",
                              "policy/stages/choice_weight",
                              "policy/stages/outcome_slot",
                              "policy/stages/move_begin",
                              "policy/stages/moves",
                              "policy/stages/landing_begin",
                              "policy/stages/landing_moves",
                              "policy/budget/low",
                              "policy/budget/cells",
                              "policy/budget/slack",
                              "policy/start_states",
                              "policy/start_begin",
                              "policy/start_moves",
                              "trace/iteration",
                              "trace/reward",
                              "trace/constraints",
                              "curve/reward",
                              "curve/memory",
                              "curve/constraints"};

// One array of the input: a byte each for its name (128 more: the offsets that go with it) and its
// type, two bytes for its length, and its values.
class Arrays {
 public:
  Arrays(const std::uint8_t* data, std::size_t size) : at_(data), end_(data + size) {}

  void write(io::hdf5::Output& out) {
    while (end_ - at_ > 4) {
      std::string name = names[(at_[0] & 127) % names.size()];
      if (at_[0] >= 128) name += "_begin";
      const int type = at_[1] % 6;
      const std::size_t bytes = at_[2] + 256u * at_[3];
      at_ += 4;
      write(out, name, type, std::min<std::size_t>(bytes, end_ - at_));
    }
  }

 private:
  void write(io::hdf5::Output& out, const std::string& name, int type, std::size_t bytes) {
    switch (type) {
      case 0:
        return write<char>(out, name, bytes);
      case 1:
        return write<std::int32_t>(out, name, bytes);
      case 2:
        return write<std::int64_t>(out, name, bytes);
      case 3:
        return write<double>(out, name, bytes);
      case 4:
        return write<MixedChoice>(out, name, bytes);
      default:
        return write<MemoryMove>(out, name, bytes);
    }
  }
  template <class Value>
  void write(io::hdf5::Output& out, const std::string& name, std::size_t bytes) {
    std::vector<Value> values(bytes / sizeof(Value));
    if (!values.empty()) std::memcpy(values.data(), at_, values.size() * sizeof(Value));
    at_ += bytes;
    out.write(name, values);
  }
  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

std::filesystem::path scratch() {
  const std::filesystem::path memory = "/dev/shm";
  const auto folder =
      std::filesystem::exists(memory) ? memory : std::filesystem::temp_directory_path();
  return folder / ("redoubt-fuzz-" + std::to_string(::getpid()) + ".h5");
}

}  // namespace

// Any arrays under the names of a solution are a solution or an Error. The seal keeps changed files
// from the HDF5 library, which is not safe against them; so files are whole and their content is
// not.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::filesystem::path path = scratch();
  static const Problem problem = make("river_swim(horizon=3)");
  try {
    const io::hdf5::QuietErrors quiet;
    io::hdf5::Output out(path);
    Arrays(data, size).write(out);
    out.close();
    const std::string seal = io::seal_of(path);
    std::ofstream(path, std::ios::binary | std::ios::app) << seal;
    check_policy(problem, load_solution(path).policy);
  } catch (const Error&) {
  }
  std::filesystem::remove(path);
  return 0;
}
