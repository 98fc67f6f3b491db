#include "sampling/store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "support/checksum.h"
#include "support/file.h"
#include "support/require.h"

namespace redoubt::internal {
namespace {

constexpr std::string_view kMagic = "redoubt samples 2\n";
constexpr std::size_t kHeader = kMagic.size() + 2 * sizeof(std::uint64_t);
constexpr std::size_t kBlockHead = sizeof(std::uint32_t) + sizeof(std::uint64_t);
constexpr std::uint32_t kBlockRecords = 4096;

template <class Value>
void put(std::string& out, Value value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class Value>
Value take(std::string_view& in) {
  Value value;
  std::memcpy(&value, in.data(), sizeof value);
  in.remove_prefix(sizeof value);
  return value;
}

std::uint64_t checksum_of(std::string_view bytes) {
  Checksum sum;
  sum.add(bytes);
  return sum.value();
}

std::uint64_t checksum_of(const SimulatorShape& shape) {
  Checksum sum;
  sum.add(shape.states);
  sum.add(shape.stages);
  sum.add_all(shape.state_rows);
  sum.add_all(shape.action);
  for (const std::string& name : shape.signals) sum.add_all(name);
  sum.add(shape.identity);
  return sum.value();
}

}  // namespace

SampleStore::SampleStore(const std::filesystem::path& path, const SimulatorShape& shape,
                         std::uint64_t seed, const std::function<void(const Record&)>& visit)
    : path_(path), seed_(seed), shape_sum_(checksum_of(shape)), signals_(shape.signals.size()) {
  descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  require(descriptor_ >= 0, "{}: cannot be opened ({})", path.string(), std::strerror(errno));
  try {
    lock_file();
    read(visit);
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

SampleStore::~SampleStore() {
  try {
    flush();
  } catch (const Error&) {  // whoever needs to know has called flush
  }
  ::close(descriptor_);
}

void SampleStore::lock_file() {
  require(::flock(descriptor_, LOCK_EX | LOCK_NB) == 0,
          "{}: is in use by another process, must be free", path_.string());
}

std::string SampleStore::header() const {
  std::string out(kMagic);
  put(out, seed_);
  put(out, shape_sum_);
  return out;
}

void SampleStore::read(const std::function<void(const Record&)>& visit) {
  const std::string content = read_file(path_);
  if (content.size() < kHeader && header().starts_with(content)) {  // new, or cut short
    require(::ftruncate(descriptor_, 0) == 0, "{}: cannot be written", path_.string());
    return write(header());
  }
  std::string_view rest = content;
  require(rest.starts_with(kMagic), "{}: is not a file of samples, must be one or be missing",
          path_.string());
  rest.remove_prefix(kMagic.size());
  const auto seed = take<std::uint64_t>(rest);
  require(seed == seed_, "{}: holds samples of seed {}, must be of seed {}", path_.string(), seed,
          seed_);
  require(
      take<std::uint64_t>(rest) == shape_sum_,
      "{}: holds samples of another simulator, must be of one with the same states, actions and "
      "signals",
      path_.string());

  const std::size_t record =
      sizeof(Row) + sizeof(std::int64_t) + sizeof(State) + sizeof(double) * (1 + signals_);
  Record out;
  out.sample.signals.resize(signals_);
  while (!rest.empty()) {
    const auto at = static_cast<std::size_t>(rest.data() - content.data());
    std::string_view block = rest;
    const auto records = block.size() >= kBlockHead ? take<std::uint32_t>(block) : 0;
    const auto sum = block.size() >= sizeof(std::uint64_t) ? take<std::uint64_t>(block) : 0;
    const bool whole = records > 0 && block.size() >= records * record;
    if (!whole || checksum_of(block.substr(0, records * record)) != sum) {
      // Only the end of the file may be torn: a block that others follow was written whole, and
      // none is longer than the longest.
      require(records <= kBlockRecords && (!whole || block.size() == records * record),
              "{}: block at byte {} is damaged, must be as it was written", path_.string(), at);
      require(::ftruncate(descriptor_, static_cast<off_t>(at)) == 0, "{}: cannot be written",
              path_.string());
      break;
    }
    for (std::uint32_t i = 0; i < records; ++i) {
      out.row = take<Row>(block);
      out.draw = take<std::int64_t>(block);
      out.sample.next = take<State>(block);
      out.sample.reward = take<double>(block);
      for (double& signal : out.sample.signals) signal = take<double>(block);
      visit(out);
    }
    rest = block;
  }
  require(::lseek(descriptor_, 0, SEEK_END) >= 0, "{}: cannot be read", path_.string());
}

void SampleStore::add(Row row, std::int64_t draw, const Sample& sample) {
  const std::lock_guard lock(mutex_);
  put(block_, row);
  put(block_, draw);
  put(block_, sample.next);
  put(block_, sample.reward);
  for (const double signal : sample.signals) put(block_, signal);
  ++block_records_;
  if (block_records_ == kBlockRecords || Clock::now() - last_write_ > std::chrono::seconds(1))
    write_block();
}

void SampleStore::flush() {
  const std::lock_guard lock(mutex_);
  write_block();
  require(::fdatasync(descriptor_) == 0 || errno == EINVAL, "{}: cannot be written ({})",
          path_.string(), std::strerror(errno));
}

void SampleStore::write_block() {
  last_write_ = Clock::now();
  if (block_records_ == 0) return;
  std::string head;
  put(head, block_records_);
  put(head, checksum_of(block_));
  write(head + block_);
  block_.clear();
  block_records_ = 0;
}

void SampleStore::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    require(written >= 0, "{}: cannot be written ({})", path_.string(), std::strerror(errno));
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace redoubt::internal
