"""Runs the program the way a person does; tests share it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
(VERSION,) = re.findall(r"^project\(redoubt VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)
PROGRAM = Path(os.environ.get("REDOUBT_PROGRAM", ROOT / "build" / "redoubt"))


def run(*arguments, cwd=None):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, cwd=cwd, timeout=600)


def run_json(*arguments, status=0, cwd=None):
    """The one object that --json prints; nothing else may be on standard output or standard error."""
    result = run(*arguments, "--json", cwd=cwd)
    assert status is None or result.returncode == status, result.stderr
    assert result.stderr == ""
    return json.loads(result.stdout)


def refused(*arguments, cwd=None):
    """The one line on standard error of a command that must be refused."""
    result = run(*arguments, cwd=cwd)
    assert result.returncode == 2, result.stdout + result.stderr
    assert result.stdout == ""
    assert result.stderr.startswith("redoubt: ") and result.stderr.count("\n") == 1, result.stderr
    return result.stderr[len("redoubt: "):].rstrip("\n")


# Starts a program and says how much memory it has taken at most, in kB: a process of its own, because a child counts
# what its parent had when it was forked. The exit status is left out: mpirun ends the other ranks when one of them has
# a bad one, before they could say anything.
PEAK = """
import os, sys
child = os.spawnv(os.P_NOWAIT, sys.argv[1], sys.argv[1:])
_, _, usage = os.wait4(child, 0)
os.write(2, f"peak {usage.ru_maxrss}\\n".encode())  # at once: ranks share the line
"""


def peak_memory(*arguments):
    """The most bytes that the program took, and what it printed."""
    result = subprocess.run([sys.executable, "-c", PEAK, PROGRAM, *map(str, arguments)], capture_output=True, text=True,
                            timeout=120)  # fmt: skip
    return 1024 * int(re.search(r"peak (\d+)", result.stderr)[1]), result.stdout
