#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "redoubt/error.h"
#include "sampling/confidence_sequence.h"
#include "sampling/simulator_lines.h"
#include "sampling/store.h"

namespace {

using namespace redoubt;
using namespace redoubt::internal;

using Records = std::vector<SampleStore::Record>;

void require_law(bool holds) {
  if (!holds) std::abort();
}

bool same(const SampleStore::Record& a, const SampleStore::Record& b) {
  return a.row == b.row && a.draw == b.draw && a.sample.next == b.sample.next &&
         a.sample.reward == b.sample.reward && a.sample.signals == b.sample.signals;
}

// A file in memory.
struct File {
  int descriptor = ::memfd_create("samples", MFD_CLOEXEC);
  std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  ~File() { ::close(descriptor); }
};

Records read_back(const File& file, const SimulatorShape& shape) {
  Records found;
  SampleStore(file.path, shape, 1, [&](const SampleStore::Record& one) { found.push_back(one); });
  return found;
}

// Four bytes are a sample: its row, where it leads, what it pays, and whether a block ends here.
// The first two of all say where the file will be damaged, and how.
Records samples_of(const SimulatorShape& shape, const std::string& bytes) {
  Records records;
  for (std::size_t at = 2; at + 4 <= bytes.size(); at += 4) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[at + i]); };
    SampleStore::Record one;
    one.row = byte(0) % shape.rows();
    one.draw = static_cast<std::int64_t>(records.size());
    one.sample.next = byte(1) % shape.states;
    one.sample.reward = byte(2) % 8;
    one.sample.signals.assign(shape.signals.size(), byte(2) / 8);
    records.push_back(std::move(one));
  }
  return records;
}

void check_store(const SimulatorShape& shape, const Records& records, const std::string& bytes) {
  const File file;
  {
    SampleStore store(file.path, shape, 1, [](const auto&) { std::abort(); });
    for (std::size_t i = 0; i < records.size(); ++i) {
      store.add(records[i].row, records[i].draw, records[i].sample);
      if (bytes[4 * i + 5] & 1) store.flush();
    }
  }
  const auto is_beginning = [&](const Records& found) {
    require_law(found.size() <= records.size());
    for (std::size_t i = 0; i < found.size(); ++i) require_law(same(found[i], records[i]));
  };
  require_law(read_back(file, shape).size() == records.size());
  const auto size = ::lseek(file.descriptor, 0, SEEK_END);
  const off_t where = size * static_cast<unsigned char>(bytes[0]) / 256;
  const char damage = bytes[1];
  if (damage == 0) {  // cut short by a kill: never an error, and what comes later is kept
    require_law(::ftruncate(file.descriptor, where) == 0);
    is_beginning(read_back(file, shape));
    is_beginning(read_back(file, shape));
    return;
  }
  char byte = 0;
  require_law(::pread(file.descriptor, &byte, 1, where) == 1);
  byte = static_cast<char>(byte ^ damage);
  require_law(::pwrite(file.descriptor, &byte, 1, where) == 1);
  try {
    is_beginning(read_back(file, shape));
  } catch (const Error&) {
  }
}

void check_intervals(const RowCounts& counts, Row row) {
  constexpr double kSame = 1e-9;
  const auto intervals = row_intervals(counts, row, 4);
  double low = 0, high = 0;
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    const Range& range = intervals[i];
    low += range.low, high += range.high;
    require_law(range.low >= 0 && range.low <= range.high && range.high <= 1);
    if (counts.samples(row) == 0) continue;
    const double share = static_cast<double>(counts.outcomes(row)[i].count) /
                         static_cast<double>(counts.samples(row));
    require_law(range.low <= share + kSame && share <= range.high + kSame);
  }
  require_law(low <= 1 + kSame && high >= 1 - kSame);
  const auto corners = row_corners(intervals);
  require_law(!corners.empty());
  for (const auto& corner : corners) {
    double sum = 0;
    for (const double p : corner) require_law(p >= 0), sum += p;
    require_law(std::abs(sum - 1) <= kSame);
  }
}

}  // namespace

// A simulator's hello, then samples in bytes: what is kept of them, and what they say of the rows.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto end = text.find('\n');
  if (end == std::string::npos || size - end < 7) return 0;
  try {
    const SimulatorShape shape = read_hello(text.substr(0, end));
    shape.check();
    if (shape.rows() == 0 || shape.rows() > 64 || shape.states > 64) return 0;
    const std::string bytes = text.substr(end + 1);
    const Records records = samples_of(shape, bytes);
    check_store(shape, records, bytes);
    RowCounts counts(shape);
    for (const auto& one : records) {
      try {
        counts.add(one.row, one.sample, 1 + one.draw * one.draw);
      } catch (const Error&) {
      }
    }
    for (Row row = 0; row < shape.rows(); ++row) check_intervals(counts, row);
  } catch (const Error&) {
  }
  return 0;
}
