#pragma once

#include "io/solution/hdf5.h"
#include "redoubt/advanced/checkpoint.h"

// The state of work in a file. The first rank writes what all of them have; each reads its own.
namespace redoubt::internal::io {

// On the first rank, with a file; and without one on every other rank, which makes the same visits
// at the same time: one in which the first only counts, and one in which it takes the values.
class ArchiveWriter : public Archive {
 public:
  ArchiveWriter(hdf5::Output* out, const Owners& owners, bool counting = false)
      : out_(out), owners_(owners), counting_(counting) {}
  void visit(const char* name, std::vector<double>& values) override;
  void visit(const char* name, std::vector<std::int64_t>& values) override;
  void visit(const char* name, std::vector<std::vector<double>>& lists) override;
  void visit(const char* name, Trace& trace) override;
  void visit_states(const char* name, std::int64_t each, const ValuesAt& at) override;
  void visit_stages(const char* name, Policy& policy, StageStore* store) override;
  void visit_sum(const char* name, double& share) override;

 private:
  hdf5::Output* out_;
  const Owners& owners_;
  bool counting_;
};

// On every rank, of which none waits for another: one may fail alone.
class ArchiveReader : public Archive {
 public:
  ArchiveReader(const hdf5::Input& in, const Owners& owners) : in_(in), owners_(owners) {}
  void visit(const char* name, std::vector<double>& values) override;
  void visit(const char* name, std::vector<std::int64_t>& values) override;
  void visit(const char* name, std::vector<std::vector<double>>& lists) override;
  void visit(const char* name, Trace& trace) override;
  void visit_states(const char* name, std::int64_t each, const ValuesAt& at) override;
  void visit_stages(const char* name, Policy& policy, StageStore* store) override;
  void visit_sum(const char* name, double& share) override;

 private:
  const hdf5::Input& in_;
  const Owners& owners_;
};

}  // namespace redoubt::internal::io
