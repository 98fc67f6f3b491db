"""Kernels compiled for AVX2 or AVX-512 must not define code that another instruction set could link to.

The linker keeps one copy of an inline function or template that several files define. Were it the copy from a file compiled for
AVX-512, a machine without it would crash far away from any kernel.
"""

import pathlib
import shutil
import subprocess

import pytest

OBJECTS = pathlib.Path(__file__).parents[2] / "build" / "src" / "CMakeFiles"


def shared_symbols(objects):
    """The symbols that the linker may share between files, and which are not in the kernel's own namespace."""
    listing = subprocess.run(["nm", "-C", "--defined-only", *map(str, objects)], check=True, capture_output=True, text=True)
    symbols = [line.split(maxsplit=2)[1:] for line in listing.stdout.splitlines() if len(line.split(maxsplit=2)) == 3]
    return [name for kind, name in symbols if kind in "WVu" and not name.startswith("redoubt::internal::avx")]


@pytest.mark.parametrize("target", ["avx2", "avx512"])
def test_kernels_define_nothing_that_others_could_link_to(target):
    objects = list((OBJECTS / f"redoubt_{target}.dir").rglob("*.o"))
    if not objects or shutil.which("nm") is None:
        pytest.skip("no kernels of this instruction set here")
    assert shared_symbols(objects) == []


def test_the_check_sees_a_shared_symbol():
    objects = [path for path in (OBJECTS / "redoubt.dir").rglob("*.o")]
    if not objects or shutil.which("nm") is None:
        pytest.skip("nothing is built here")
    assert shared_symbols(objects) != []  # ordinary files define inline functions of the standard library
