#include "io/solution/hdf5.h"

#include <algorithm>

#include "support/require.h"

namespace redoubt::internal::io::hdf5 {
namespace {

template <class Create>
Handle checked(Create create, herr_t (*close)(hid_t), std::string_view what) {
  Handle handle(create(), close);
  require(handle.valid(), "{} cannot be made", what);
  return handle;
}

Handle copy(hid_t type) { return Handle(H5Tcopy(type), H5Tclose); }

// What an array takes in a file besides its values: its header, its name and its share of a group.
constexpr std::uint64_t kBytesOfAHeader = 2048;

// The same type without padding and always little-endian.
Handle file_type(const Handle& memory) {
  Handle type = copy(memory);
  if (H5Tget_class(type) == H5T_COMPOUND) {
    H5Tpack(type);
  } else {
    H5Tset_order(type, H5T_ORDER_LE);
  }
  return type;
}

}  // namespace

QuietErrors::QuietErrors() {
  H5dont_atexit();  // its last rites crash after a failed write, and we close all that we open
  H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}
QuietErrors::~QuietErrors() { H5Eset_auto2(H5E_DEFAULT, print_, data_); }

template <>
Handle type_of<char>() {
  return copy(H5T_NATIVE_UINT8);
}
template <>
Handle type_of<std::int32_t>() {
  return copy(H5T_NATIVE_INT32);
}
template <>
Handle type_of<std::int64_t>() {
  return copy(H5T_NATIVE_INT64);
}
template <>
Handle type_of<double>() {
  return copy(H5T_NATIVE_DOUBLE);
}
template <>
Handle type_of<MixedChoice>() {
  Handle type(H5Tcreate(H5T_COMPOUND, sizeof(MixedChoice)), H5Tclose);
  H5Tinsert(type, "safe", offsetof(MixedChoice, safe), H5T_NATIVE_UINT8);
  H5Tinsert(type, "other", offsetof(MixedChoice, other), H5T_NATIVE_UINT8);
  H5Tinsert(type, "weight", offsetof(MixedChoice, weight), H5T_NATIVE_UINT16);
  return type;
}
template <>
Handle type_of<MemoryMove>() {
  Handle type(H5Tcreate(H5T_COMPOUND, sizeof(MemoryMove)), H5Tclose);
  H5Tinsert(type, "memory", offsetof(MemoryMove, memory), H5T_NATIVE_INT32);
  H5Tinsert(type, "weight", offsetof(MemoryMove, weight), H5T_NATIVE_DOUBLE);
  return type;
}

namespace {

// Without the locks of the library, which some file systems lack: we never write to a file that has
// a name for others.
Handle without_locks() {
  Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_file_locking(access, false, true);
  return access;
}

}  // namespace

Output::Output() : file_(-1, H5Fclose) {}

Output::Output(const std::filesystem::path& path)
    : file_(checked(
          [&] { return H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, without_locks()); },
          H5Fclose, path.string())) {}

void Output::close() {
  const bool flushed = H5Fflush(file_, H5F_SCOPE_GLOBAL) >= 0;
  const bool closed = file_.close() >= 0;
  require(flushed && closed, "cannot be written");
}

void Output::write_offsets(const std::string& name, const std::vector<std::size_t>& sizes) {
  std::vector<std::int64_t> begin{0};
  for (const std::size_t size : sizes)
    begin.push_back(begin.back() + static_cast<std::int64_t>(size));
  if (begin.back() > 0) write(name + "_begin", begin);
}

// Every array has its place in the file from the start, so that files do not depend on who writes.
Handle Output::make_array(const std::string& name, const Handle& type, const Handle& space) const {
  const Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  H5Pset_create_intermediate_group(links, 1);
  const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_obj_track_times(creation, false);
  H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
  return checked(
      [&] {
        return H5Dcreate2(file_, name.c_str(), file_type(type), space, links, creation,
                          H5P_DEFAULT);
      },
      H5Dclose, name);
}

std::uint64_t Output::make_room(const std::string& name, const Handle& type, std::size_t count) {
  if (count == 0) return 0;
  bytes_ += kBytesOfAHeader + count * H5Tget_size(type);
  if (!file_.valid()) return 0;
  const hsize_t total = count;
  const Handle space =
      checked([&] { return H5Screate_simple(1, &total, nullptr); }, H5Sclose, name);
  const haddr_t place = H5Dget_offset(make_array(name, type, space));
  require(place != HADDR_UNDEF, "{} has no place in the file", name);
  return place;
}

void Output::write_bytes(const std::string& name, const Handle& type,
                         const std::vector<std::size_t>& sizes, const Fetch& fetch) {
  hsize_t total = 0;
  for (const std::size_t size : sizes) total += size;
  if (total == 0) return;
  bytes_ += kBytesOfAHeader + total * H5Tget_size(type);
  if (!file_.valid()) return;
  const Handle space =
      checked([&] { return H5Screate_simple(1, &total, nullptr); }, H5Sclose, name);
  const Handle dataset = make_array(name, type, space);
  hsize_t at = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const hsize_t size = sizes[i];
    if (size == 0) continue;
    const Handle memory(H5Screate_simple(1, &size, nullptr), H5Sclose);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &at, nullptr, &size, nullptr);
    require(H5Dwrite(dataset, type, memory, space, H5P_DEFAULT, fetch(i)) >= 0,
            "{} cannot be written", name);
    at += size;
  }
}

Input::Input(const std::filesystem::path& path)
    : bytes_(std::filesystem::file_size(path)),
      file_(H5Fopen(path.c_str(), H5F_ACC_RDONLY, without_locks()), H5Fclose) {
  require(file_.valid(), "is not an HDF5 file, must be one");
}

bool Input::has(const std::string& name) const {
  // Every group on the way must exist before the library may be asked for what is in it.
  for (std::size_t end = 0; end != std::string::npos;) {
    end = name.find('/', end + 1);
    const std::string part = name.substr(0, end);
    if (H5Lexists(file_, part.c_str(), H5P_DEFAULT) <= 0) return false;
    H5L_info_t link;
    require(H5Lget_info(file_, part.c_str(), &link, H5P_DEFAULT) >= 0 && link.type == H5L_TYPE_HARD,
            "{} is a link, must lie where it is named", part);
  }
  return true;
}

Handle Input::open(const std::string& name, const Handle& type, std::size_t bytes_each) const {
  Handle dataset(H5Dopen2(file_, name.c_str(), H5P_DEFAULT), H5Dclose);
  require(dataset.valid(), "{} cannot be opened, must be an array", name);
  const Handle creation(H5Dget_create_plist(dataset), H5Pclose);
  require(H5Pget_layout(creation) != H5D_VIRTUAL && H5Pget_external_count(creation) == 0,
          "{} has its values in another file, must have them in this one", name);
  const Handle stored(H5Dget_type(dataset), H5Tclose);
  require(H5Tequal(stored, file_type(type)) > 0, "{} has values of another type than it must have",
          name);
  const Handle space(H5Dget_space(dataset), H5Sclose);
  require(H5Sget_simple_extent_ndims(space) == 1, "{} has {} dimensions, must have 1", name,
          H5Sget_simple_extent_ndims(space));
  require(size(dataset) <= bytes_ / bytes_each, "{} has {} values, more than the file has room for",
          name, size(dataset));
  return dataset;
}

std::size_t Input::size(const Handle& dataset) {
  const Handle space(H5Dget_space(dataset), H5Sclose);
  return static_cast<std::size_t>(std::max<hssize_t>(0, H5Sget_simple_extent_npoints(space)));
}

void Input::read_bytes(const std::string& name, const Handle& dataset, const Handle& type,
                       void* out) {
  require(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) >= 0, "{} cannot be read",
          name);
}

void Input::read_bytes(const std::string& name, const Handle& dataset, const Handle& type,
                       void* out, std::int64_t at, std::int64_t count) {
  const hsize_t start = static_cast<hsize_t>(at), size = static_cast<hsize_t>(count);
  const Handle space(H5Dget_space(dataset), H5Sclose);
  const Handle memory(H5Screate_simple(1, &size, nullptr), H5Sclose);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, nullptr, &size, nullptr);
  require(H5Dread(dataset, type, memory, space, H5P_DEFAULT, out) >= 0, "{} cannot be read", name);
}

void Input::check_range(const std::string& name, const Handle& dataset, std::int64_t at,
                        std::int64_t count) {
  const auto all = static_cast<std::int64_t>(size(dataset));
  require(at >= 0 && count >= 0 && at <= all && count <= all - at,
          "{} has {} values, must have {} from {} on", name, all, count, at);
}

std::vector<std::int64_t> Input::read_offsets(const std::string& name, std::size_t count,
                                              std::size_t total) const {
  auto begin = read<std::int64_t>(name);
  require(begin.size() == count + 1, "{} has {} entries, must have {}", name, begin.size(),
          count + 1);
  require(begin.front() == 0 && std::is_sorted(begin.begin(), begin.end()) &&
              begin.back() == static_cast<std::int64_t>(total),
          "{} must begin at 0, never decrease and end at {}", name, total);
  return begin;
}

}  // namespace redoubt::internal::io::hdf5
