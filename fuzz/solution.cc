#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "io/solution/hdf5.h"
#include "io/solution/seal.h"
#include "redoubt/environments.h"
#include "redoubt/io.h"
#include "redoubt/policy.h"

namespace {

using namespace redoubt;
using namespace redoubt::internal;

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

// How an array lies in the file: the first as we write it, all others as another program could.
enum Layout {
  plain,
  one_number,
  table,
  packed,
  far_too_long,
  in_another_file,
  link,
  folder,
  layouts
};

hid_t extent(Layout layout, hsize_t size) {
  if (layout == one_number) return H5Screate(H5S_SCALAR);
  const hsize_t sides[] = {layout == far_too_long ? hsize_t{1} << 40 : size, 1};
  return H5Screate_simple(layout == table ? 2 : 1, sides, nullptr);
}

// The same bytes under the same name, in a way that we never write.
void write_strangely(hid_t file, const std::string& name, Layout layout, hid_t type, hsize_t size,
                     const void* values) {
  using io::hdf5::Handle;
  const Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  H5Pset_create_intermediate_group(links, 1);
  if (layout == link) {
    H5Lcreate_soft(size % 2 == 0 ? "/summary" : name.c_str(), file, name.c_str(), links,
                   H5P_DEFAULT);
    return;
  }
  if (layout == folder) {
    const Handle made(H5Gcreate2(file, name.c_str(), links, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
    return;
  }
  const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  const hsize_t chunk = std::min<hsize_t>(size, 100);
  if (layout == packed || layout == far_too_long) H5Pset_chunk(creation, 1, &chunk);
  if (layout == packed) H5Pset_deflate(creation, 6);
  if (layout == in_another_file) H5Pset_external(creation, "/etc/passwd", 0, H5F_UNLIMITED);
  const Handle space(extent(layout, size), H5Sclose);
  const Handle dataset(H5Dcreate2(file, name.c_str(), type, space, links, creation, H5P_DEFAULT),
                       H5Dclose);
  const bool holds_values = layout == one_number || layout == table || layout == packed;
  if (dataset.valid() && holds_values)
    H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
}

// One array of the input: a byte each for its name (128 more: the offsets that go with it) and its
// type and layout, two bytes for its length, and its values.
class Arrays {
 public:
  Arrays(const std::uint8_t* data, std::size_t size) : at_(data), end_(data + size) {}

  void write(io::hdf5::Output& out, const std::filesystem::path& path) {
    while (end_ - at_ > 4) {
      std::string name = names[(at_[0] & 127) % names.size()];
      if (at_[0] >= 128) name += "_begin";
      const int type = at_[1] % 6;
      layout_ = static_cast<Layout>(at_[1] / 6 % layouts);
      const std::size_t bytes = at_[2] + 256u * at_[3];
      at_ += 4;
      write(out, name, type, std::min<std::size_t>(bytes, end_ - at_));
    }
    out.close();
    add_strange_ones(path);
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
    if (layout_ == plain) return out.write(name, values);
    if (values.empty()) return;
    strange_.push_back([=, layout = layout_](hid_t file) {
      write_strangely(file, name, layout, io::hdf5::type_of<Value>(), values.size(), values.data());
    });
  }
  void add_strange_ones(const std::filesystem::path& path) const {
    if (strange_.empty()) return;
    const io::hdf5::Handle file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
    for (const auto& add : strange_) add(file);
  }

  const std::uint8_t* at_;
  const std::uint8_t* end_;
  Layout layout_ = plain;
  std::vector<std::function<void(hid_t)>> strange_;
};

std::filesystem::path scratch() {
  const std::filesystem::path memory = "/dev/shm";
  const auto folder =
      std::filesystem::exists(memory) ? memory : std::filesystem::temp_directory_path();
  return folder / ("redoubt-fuzz-" + std::to_string(::getpid()) + ".h5");
}

}  // namespace

// Any arrays under the names of a solution, laid out in any way, are a solution or an Error. The
// seal is right, so that everything behind it is reached; the HDF5 library is not safe against
// files whose own structure is damaged, and the seal keeps it from those that are so by accident.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::filesystem::path path = scratch();
  static const Problem problem = make("river_swim(horizon=3)");
  try {
    const io::hdf5::QuietErrors quiet;
    io::hdf5::Output out(path);
    Arrays(data, size).write(out, path);
    const std::string seal = io::seal_of(path);
    std::ofstream(path, std::ios::binary | std::ios::app) << seal;
    check_policy(problem, load_solution(path).policy);
  } catch (const Error&) {
  }
  std::filesystem::remove(path);
  return 0;
}
