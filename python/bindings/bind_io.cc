#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "redoubt/advanced/file.h"
#include "redoubt/io.h"

namespace nb = nanobind;
using namespace redoubt;

void bind_io(nb::module_& m) {
  m.def(
      "load_draft",
      [](const std::filesystem::path& path, bool scenarios) {
        std::vector<std::string> notes;
        Draft draft = load_draft(path, &notes, scenarios ? Posterior::scenarios : Posterior::mean);
        return std::make_pair(std::move(draft), std::move(notes));
      },
      nb::arg("path"), nb::arg("scenarios") = false, nb::call_guard<nb::gil_scoped_release>(),
      "What a file says, and notes of what its reader had to leave out.");
  m.def(
      "save",
      [](const Problem& problem, const std::filesystem::path& path, bool uncompressed) {
        save(problem, path, uncompressed ? Packing::plain : Packing::gzip);
      },
      nb::arg("problem"), nb::arg("path"), nb::arg("uncompressed"),
      nb::call_guard<nb::gil_scoped_release>());
  m.def(
      "save",
      [](const Draft& draft, const std::filesystem::path& path, bool uncompressed) {
        save(draft, path, uncompressed ? Packing::plain : Packing::gzip);
      },
      nb::arg("draft"), nb::arg("path"), nb::arg("uncompressed"),
      nb::call_guard<nb::gil_scoped_release>());
  m.def(
      "save_solution",
      [](const Solution& solution, const std::filesystem::path& path) {
        save_solution(solution, path);
      },
      nb::arg("solution"), nb::arg("path"), nb::call_guard<nb::gil_scoped_release>());
  m.def(
      "load_solution", [](const std::filesystem::path& path) { return load_solution(path); },
      nb::arg("path"), nb::call_guard<nb::gil_scoped_release>());
  m.def("export_policy", &export_policy, nb::arg("problem"), nb::arg("policy"), nb::arg("path"),
        nb::call_guard<nb::gil_scoped_release>());
  m.def(
      "write_file",
      [](const std::filesystem::path& path, const nb::bytes& content) {
        write_file(path, {content.c_str(), content.size()});
      },
      nb::arg("path"), nb::arg("content"));
  m.def("read_json", &read_json, nb::arg("text"), nb::arg("name"));
  m.def(
      "write_json", [](const Problem& problem) { return write_json(problem); }, nb::arg("problem"));
}
