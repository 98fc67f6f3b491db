"""`pip wheel .` gives a wheel that works in an environment of its own: package, stubs and program.

What `make wheel` left in dist/ is looked at as well: it carries its libraries, and needs nothing but Python.
"""

import os
import re
import subprocess
import sys
import sysconfig
import zipfile

import pytest

from program import ROOT, VERSION


def output_of(*command, **environment):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=900,
                          env={**os.environ, **environment})  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def settings():
    """Compilers and warnings as in build/, so that ccache has most of the work already."""
    cache = (ROOT / "build" / "CMakeCache.txt").read_text()
    found = re.findall(r"^CMAKE_(C|CXX)_COMPILER:\w+=(.+)$", cache, re.MULTILINE)
    (strict,) = re.findall(r"^REDOUBT_WERROR:\w+=(.+)$", cache, re.MULTILINE)
    chosen = {"CC" if language == "C" else language: path for language, path in found}
    return chosen | {"CMAKE_ARGS": f"-DREDOUBT_WERROR={strict}"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    pytest.importorskip("scikit_build_core", reason="what builds wheels is not installed")
    folder = tmp_path_factory.mktemp("wheel")
    pip = (sys.executable, "-m", "pip")
    output_of(*pip, "wheel", ROOT, "--no-deps", "--no-build-isolation", "-w", folder, **settings())
    (made,) = folder.iterdir()
    return made


def test_a_wheel_holds_the_package_and_the_program_only(wheel):
    assert wheel.name.startswith(f"redoubt_mdp-{VERSION}-")
    names = zipfile.ZipFile(wheel).namelist()
    assert {"redoubt/__init__.py", "redoubt/py.typed", "redoubt/_core.pyi"} <= {*names}
    # For Python 3.12 and later one module of the stable ABI; else the wheel is for one version.
    stable = "-abi3-" in wheel.name
    modules = [name for name in names if name.endswith(".so")]
    assert len(modules) == 1 and stable == ("abi3" in modules[0]) == (sys.version_info >= (3, 12))
    assert [name.rpartition("/")[2] for name in names if ".data/scripts/" in name] == ["redoubt"]
    assert all(re.match(r"redoubt(/|_mdp-)", name) for name in names)


def test_a_wheel_works_where_nothing_of_the_checkout_is(wheel, tmp_path):
    output_of(sys.executable, "-m", "venv", "--without-pip", tmp_path / "env")
    python = tmp_path / "env" / "bin" / "python"
    output_of(sys.executable, "-m", "pip", "--python", python, "install", "--no-index", "--no-deps", wheel)
    lines = "import redoubt as rd; print(rd.__file__, rd.solve(rd.make('river_swim(horizon=5)')).status)"
    numpy_from = {"PYTHONPATH": sysconfig.get_path("purelib")}
    where, status = output_of(python, "-c", lines, **numpy_from).split()
    assert where.startswith(str(tmp_path)) and status == "certified"
    assert output_of(tmp_path / "env" / "bin" / "redoubt", "--version").startswith(f"redoubt {VERSION}\n")


@pytest.fixture
def carrying():
    tag = "cp312-abi3" if sys.version_info >= (3, 12) else "cp{0}{1}-cp{0}{1}".format(*sys.version_info)
    made = [*(ROOT / "dist").glob(f"redoubt_mdp-{VERSION}-{tag}-manylinux*.whl")]
    if not made:
        pytest.skip(f"dist/ has no wheel of version {VERSION} for this Python: make wheel")
    return made[0]


def test_a_released_wheel_carries_the_few_libraries_it_uses_and_their_licences(carrying):
    names = zipfile.ZipFile(carrying).namelist()
    carried = {re.match(r"lib\w+", name.rpartition("/")[2])[0] for name in names if re.match(r"redoubt_mdp.libs/.", name)}
    assert carried == {"libarchive", "libfmt", "libhdf5", "liblzma"}
    (notice,) = (name for name in names if name.endswith("/NOTICE"))
    licences = zipfile.ZipFile(carrying).read(notice).decode()
    assert all(f"==== {part}" in licences for part in ("hdf5", "libarchive", "liblzma5", "libfmt-dev"))


def test_a_released_wheel_needs_nothing_but_python(carrying):
    printed = output_of(sys.executable, ROOT / "scripts" / "try_wheel", carrying.parent, sys.executable)
    assert "nothing else" in printed and "problems .json .csv .umb" in printed
