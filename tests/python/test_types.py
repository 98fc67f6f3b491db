"""mypy and pyright understand the package as users do: they accept what is right and refuse what is wrong."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import redoubt as rd
from program import ROOT

USE = Path(__file__).parent / "typed" / "use.py"
PACKAGE = Path(rd.__file__).parent


def wrong_lines():
    return {number for number, line in enumerate(USE.read_text().splitlines(), 1) if line.endswith("# wrong")}


def output_of(*command):
    return subprocess.run(
        [sys.executable, "-m", *map(str, command)], capture_output=True, text=True, cwd=ROOT, timeout=600
    ).stdout


def test_mypy_refuses_what_is_wrong_and_nothing_else():
    pytest.importorskip("mypy")
    said = output_of("mypy", "--strict", "--no-incremental", USE)
    assert {int(line) for line in re.findall(r"use\.py:(\d+): error", said)} == wrong_lines(), said


def test_pyright_refuses_what_is_wrong_and_nothing_else():
    pytest.importorskip("pyright")
    said = json.loads(output_of("pyright", "--outputjson", "--pythonpath", sys.executable, USE))
    errors = [one for one in said["generalDiagnostics"] if one["severity"] == "error"]
    assert {one["range"]["start"]["line"] + 1 for one in errors} == wrong_lines(), errors


def test_mypy_accepts_the_package():
    pytest.importorskip("mypy")
    assert "Success" in (said := output_of("mypy", "--no-incremental", PACKAGE)), said
