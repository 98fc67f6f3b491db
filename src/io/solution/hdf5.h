#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "redoubt/policy.h"

namespace redoubt::internal::io::hdf5 {

// Closes what it holds.
class Handle {
 public:
  Handle(hid_t id, herr_t (*closer)(hid_t)) : id_(id), close_(closer) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&&) = delete;
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  operator hid_t() const { return id_; }  // NOLINT: stands for its id
  bool valid() const { return id_ >= 0; }
  herr_t close() { return close_(std::exchange(id_, -1)); }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

// The library prints its errors unless it is told not to; we throw ours.
class QuietErrors {
 public:
  QuietErrors();
  ~QuietErrors();
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;

 private:
  H5E_auto2_t print_ = nullptr;
  void* data_ = nullptr;
};

// How a value lies in memory; packed, how it lies in a file.
template <class Value>
Handle type_of();

// One-dimensional arrays, and lists of them: those are stored end to end under NAME, with their
// offsets under NAME_begin. Empty arrays are left out.
class Output {
 public:
  Output();  // writes nothing; what is asked of it only counts
  explicit Output(const std::filesystem::path& path);
  void close();  // the file is whole then; an Error when that fails
  std::uint64_t bytes() const { return bytes_; }  // at most, of all that was written so far

  template <class Value>
  void write(const std::string& name, const std::vector<Value>& values) {
    write_bytes(name, type_of<Value>(), {values.size()},
                [&](std::size_t) { return values.data(); });
  }
  // part(i) is the i-th of `count` arrays.
  template <class Value, class Submodel>
  void write_parts(const std::string& name, std::size_t count, Submodel part) {
    std::vector<std::size_t> sizes;
    for (std::size_t i = 0; i < count; ++i) sizes.push_back(part(i).size());
    write_bytes(name, type_of<Value>(), sizes, [&](std::size_t i) { return part(i).data(); });
    write_offsets(name, sizes);
  }
  // One array whose pieces, of these sizes, are made only when they are written.
  template <class Value, class Piece>
  void write_pieces(const std::string& name, const std::vector<std::size_t>& sizes, Piece piece) {
    std::vector<Value> values;
    write_bytes(name, type_of<Value>(), sizes, [&](std::size_t i) {
      values = piece(i);
      return values.data();
    });
  }
  void write_offsets(const std::string& name, const std::vector<std::size_t>& sizes);
  // An array of this many values that is written later, when the file is closed: where in the file.
  // Zero of an empty one, and where nothing is written.
  template <class Value>
  std::uint64_t leave_room(const std::string& name, std::size_t count) {
    return make_room(name, type_of<Value>(), count);
  }

 private:
  // The values of one array after the other; each is asked for once, in order.
  using Fetch = std::function<const void*(std::size_t)>;
  void write_bytes(const std::string& name, const Handle& type,
                   const std::vector<std::size_t>& sizes, const Fetch& fetch);
  std::uint64_t make_room(const std::string& name, const Handle& type, std::size_t count);
  Handle make_array(const std::string& name, const Handle& type, const Handle& space) const;
  Handle file_;
  std::uint64_t bytes_ = 0;
};

class Input {
 public:
  explicit Input(const std::filesystem::path& path);
  bool has(const std::string& name) const;

  template <class Value>
  std::vector<Value> read(const std::string& name) const {
    std::vector<Value> values;
    if (!has(name)) return values;
    const Handle type = type_of<Value>();
    const Handle dataset = open(name, type, sizeof(Value));
    values.resize(size(dataset));
    read_bytes(name, dataset, type, values.data());
    return values;
  }
  // `count` of the values of an array that is there, from the given place on.
  template <class Value>
  std::vector<Value> read_range(const std::string& name, std::int64_t at,
                                std::int64_t count) const {
    const Handle type = type_of<Value>();
    const Handle dataset = open(name, type, sizeof(Value));
    check_range(name, dataset, at, count);
    std::vector<Value> values(count);
    if (count > 0) read_bytes(name, dataset, type, values.data(), at, count);
    return values;
  }
  // Hands the i-th of `count` arrays to take(i, array).
  template <class Value, class Take>
  void read_parts(const std::string& name, std::size_t count, Take take) const {
    if (!has(name)) return;
    const auto values = read<Value>(name);
    const auto begin = read_offsets(name + "_begin", count, values.size());
    for (std::size_t i = 0; i < count; ++i)
      take(i, std::vector<Value>(values.begin() + begin[i], values.begin() + begin[i + 1]));
  }
  // The same, as many as there are.
  template <class Value>
  std::vector<std::vector<Value>> read_lists(const std::string& name) const {
    const auto offsets = read<std::int64_t>(name + "_begin");
    std::vector<std::vector<Value>> lists(offsets.empty() ? 0 : offsets.size() - 1);
    read_parts<Value>(name, lists.size(), [&](std::size_t i, std::vector<Value> values) {
      lists[i] = std::move(values);
    });
    return lists;
  }

 private:
  Handle open(const std::string& name, const Handle& type, std::size_t bytes_each) const;
  static std::size_t size(const Handle& dataset);
  static void read_bytes(const std::string& name, const Handle& dataset, const Handle& type,
                         void* out);
  static void read_bytes(const std::string& name, const Handle& dataset, const Handle& type,
                         void* out, std::int64_t at, std::int64_t count);
  static void check_range(const std::string& name, const Handle& dataset, std::int64_t at,
                          std::int64_t count);
  std::vector<std::int64_t> read_offsets(const std::string& name, std::size_t count,
                                         std::size_t total) const;
  std::uintmax_t bytes_;  // of the file: no array can be larger
  Handle file_;
};

}  // namespace redoubt::internal::io::hdf5
