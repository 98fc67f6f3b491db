"""`cmake --install` gives what find_package(redoubt) needs: the C++ of the README is built against it and run."""

import re
import shutil
import subprocess

import pytest

from program import ROOT, VERSION

CONSUMER = f"""
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES C CXX)
find_package(redoubt {VERSION} REQUIRED)
add_executable(consumer main.cc)
target_link_libraries(consumer PRIVATE redoubt::redoubt)
"""


def output_of(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.skipif(not shutil.which("cmake"), reason="no cmake")
def test_a_project_links_the_installed_library(tmp_path):
    prefix, source, build = tmp_path / "prefix", tmp_path / "source", tmp_path / "build"
    output_of("cmake", "--install", ROOT / "build", "--prefix", prefix)
    source.mkdir()
    (source / "CMakeLists.txt").write_text(CONSUMER)
    (code,) = re.findall(r"```cpp\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    (source / "main.cc").write_text(code)
    output_of("cmake", "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_BUILD_TYPE=Release")
    output_of("cmake", "--build", build)
    assert re.fullmatch(r"certified 0\.957\d*\n", output_of(build / "consumer"))
    assert output_of(prefix / "bin" / "redoubt", "--version").startswith(f"redoubt {VERSION}\n")
    installed = "".join(path.read_text() for path in prefix.rglob("*.cmake"))
    assert str(ROOT) not in installed  # it works on a machine without this checkout
