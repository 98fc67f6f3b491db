"""`cmake --install` gives what find_package(redoubt) needs: the C++ of the README is built against it and run."""

import re
import shutil
import subprocess

import pytest

from program import ROOT, VERSION

CONSUMER = """
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES C CXX)
find_package(redoubt {version} REQUIRED COMPONENTS {components})
add_executable(solver solver.cc)
target_link_libraries(solver PRIVATE redoubt::redoubt)
if(TARGET redoubt::io)
  add_executable(reader reader.cc)
  target_link_libraries(reader PRIVATE redoubt::io)
endif()
"""
READER = """
#include <redoubt/io.h>
#include <redoubt/solve.h>

#include <iostream>

int main(int, char** files) {
  const redoubt::Problem problem = redoubt::load(files[1]);
  const redoubt::Solution solution = redoubt::robust(problem);
  redoubt::save_solution(solution, files[2]);
  std::cout << problem.model().states() << ' ' << redoubt::load_solution(files[2]).policy.stages.size() << '\\n';
}
"""


def output_of(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    if not shutil.which("cmake"):
        pytest.skip("no cmake")
    prefix = tmp_path_factory.mktemp("installed")
    output_of("cmake", "--install", ROOT / "build", "--prefix", prefix)
    return prefix


def build(folder, prefix, components=""):
    source, built = folder / "source", folder / "build"
    source.mkdir()
    (source / "CMakeLists.txt").write_text(CONSUMER.format(version=VERSION, components=components))
    (code,) = re.findall(r"```cpp\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    (source / "solver.cc").write_text(code)
    (source / "reader.cc").write_text(READER)
    output_of("cmake", "-S", source, "-B", built, f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_BUILD_TYPE=Release")
    output_of("cmake", "--build", built)
    return built


def test_a_project_links_the_installed_library(tmp_path, prefix):
    built = build(tmp_path, prefix)
    assert re.fullmatch(r"certified 0\.957\d*\n", output_of(built / "solver"))
    needs = output_of("ldd", built / "solver")  # the solvers need no library of files
    assert "hdf5" not in needs and "archive" not in needs and "libstdc++" in needs
    assert not (built / "reader").exists()


def test_a_project_reads_and_writes_files_by_the_other_library(tmp_path, prefix):
    built = build(tmp_path, prefix, "io")
    (tmp_path / "fork.json").write_text(output_of(prefix / "bin" / "redoubt", "make", "fork"))
    assert output_of(built / "reader", tmp_path / "fork.json", tmp_path / "fork.h5") == "4 3\n"


def test_what_is_installed_works_on_a_machine_without_this_checkout(prefix):
    assert output_of(prefix / "bin" / "redoubt", "--version").startswith(f"redoubt {VERSION}\n")
    installed = "".join(path.read_text() for path in prefix.rglob("*.cmake"))
    assert str(ROOT) not in installed
