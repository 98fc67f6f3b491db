#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "io/solution/hdf5.h"

namespace redoubt::internal::io {

// The HDF5 library is not safe against damaged files, so every file that we write ends in a seal: a
// mark, the length of what comes before, and a sum of it. Nothing is handed to the library before
// the seal has been checked. Other programs ignore bytes after the end of the HDF5 part.
std::string seal_of(const std::filesystem::path& path);  // of the file as it is, without a seal
void check_seal(const std::filesystem::path& path);      // an Error unless it ends in its seal

// Writes a whole file, sealed, or none. `write` is called twice, to count and to write: the library
// does not survive a full disk either, so the space is asked for before it begins. `fill` is called
// with where the file is until it is whole, to write what was left room for.
void write_sealed(const std::filesystem::path& path,
                  const std::function<void(hdf5::Output&)>& write,
                  const std::function<void(const std::filesystem::path&)>& fill = {});

}  // namespace redoubt::internal::io
