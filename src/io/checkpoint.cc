#include "redoubt/checkpoint.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "io/file.h"
#include "io/parts_hdf5.h"
#include "io/seal.h"
#include "model/require.h"
#include "redoubt/io.h"

namespace redoubt {
namespace io {
namespace {

std::string under_state(const char* name) { return std::string("state/") + name; }

class Writer : public Archive {
 public:
  explicit Writer(hdf5::Output& out) : out_(out) {}
  void visit(const char* name, std::vector<char>& values) override {
    out_.write(under_state(name), values);
  }
  void visit(const char* name, std::vector<double>& values) override {
    out_.write(under_state(name), values);
  }
  void visit(const char* name, std::vector<std::int64_t>& values) override {
    out_.write(under_state(name), values);
  }
  void visit(const char* name, std::vector<std::vector<double>>& lists) override {
    out_.write_parts<double>(under_state(name), lists.size(),
                             [&](std::size_t i) -> const std::vector<double>& { return lists[i]; });
  }
  void visit(const char* name, std::vector<Policy::Stage>& stages) override {
    write_stages(out_, under_state(name) + "/", stages);
  }
  void visit(const char* name, Trace& trace) override {
    write_trace(out_, under_state(name) + "/", trace);
  }

 private:
  hdf5::Output& out_;
};

class Reader : public Archive {
 public:
  explicit Reader(const hdf5::Input& in) : in_(in) {}
  void visit(const char* name, std::vector<char>& values) override {
    values = in_.read<char>(under_state(name));
  }
  void visit(const char* name, std::vector<double>& values) override {
    values = in_.read<double>(under_state(name));
  }
  void visit(const char* name, std::vector<std::int64_t>& values) override {
    values = in_.read<std::int64_t>(under_state(name));
  }
  void visit(const char* name, std::vector<std::vector<double>>& lists) override {
    lists = in_.read_lists<double>(under_state(name));
  }
  void visit(const char* name, std::vector<Policy::Stage>& stages) override {
    stages = read_stages(in_, under_state(name) + "/");
  }
  void visit(const char* name, Trace& trace) override {
    trace = read_trace(in_, under_state(name) + "/");
  }

 private:
  const hdf5::Input& in_;
};

class CheckpointFile : public Checkpoint {
 public:
  CheckpointFile(std::filesystem::path path, double interval)
      : path_(std::move(path)), interval_(interval) {}

  bool restore(const std::string& work, const State& state) override {
    if (!std::filesystem::exists(path_)) return false;
    naming(path_.string(), [&] {
      check_seal(path_);
      const hdf5::QuietErrors quiet;
      const hdf5::Input in(path_);
      require(in.has("work"), "is not a checkpoint, must be one or be missing");
      const auto text = in.read<char>("work");
      const std::string found(text.begin(), text.end());
      require(found == work, "holds the state of {}; must be of {}, or be missing", found, work);
      Reader reader(in);
      state(reader);
    });
    last_ = Clock::now();
    return true;
  }

  bool is_due() const override {
    return interval_.count() == 0 || Clock::now() - last_ >= std::max(interval_, 9 * cost_);
  }

  void save(const std::string& work, const State& state) override {
    const auto begin = Clock::now();
    write_sealed(path_, [&](hdf5::Output& out) {
      out.write("work", std::vector<char>(work.begin(), work.end()));
      Writer writer(out);
      state(writer);
    });
    last_ = Clock::now();
    cost_ = last_ - begin;
  }

  std::shared_ptr<Checkpoint> part(const std::string& name) override {
    auto path = path_;
    path += "." + name;
    return parts_.emplace_back(std::make_shared<CheckpointFile>(path, interval_.count()));
  }

  void remove() override {
    for (const auto& each : parts_) each->remove();
    std::error_code failure;
    std::filesystem::remove(path_, failure);
  }

 private:
  using Clock = std::chrono::steady_clock;
  using Seconds = std::chrono::duration<double>;
  std::filesystem::path path_;
  Seconds interval_;
  Seconds cost_{0};  // of the last save
  Clock::time_point last_ = Clock::now();
  std::vector<std::shared_ptr<Checkpoint>> parts_;
};

}  // namespace
}  // namespace io

std::shared_ptr<Checkpoint> checkpoint_file(const std::filesystem::path& path, double interval) {
  require(!path.empty(), "the name of a checkpoint is empty, must be a file");
  require(interval >= 0, "checkpoint_interval = {}, must be at least 0", interval);
  return std::make_shared<io::CheckpointFile>(path, interval);
}

}  // namespace redoubt
