"""Runs the program under mpirun; tests share it."""

import os
import shutil
import subprocess

import pytest
from program import ROOT

PROGRAM = ROOT / "build" / "redoubt-mpi"
# Open MPI keeps its session in a folder whose path must be short.
ENVIRONMENT = os.environ | {"OMPI_MCA_btl_vader_single_copy_mechanism": "none", "TMPDIR": "/tmp"}

needs_mpi = pytest.mark.skipif(
    not PROGRAM.exists() or shutil.which("mpirun") is None,
    reason="needs the program for mpirun: make mpi",
)


def mpi_command(ranks, *arguments, quiet=True, through=()):
    """`through`: a command that starts the program on each rank."""
    options = ["--oversubscribe", "--allow-run-as-root", *(["--quiet"] if quiet else [])]
    return ["mpirun", *options, "-n", str(ranks), *through, PROGRAM, *map(str, arguments)]


def mpirun(ranks, *arguments, cwd=None, through=()):
    return subprocess.run(mpi_command(ranks, *arguments, through=through), capture_output=True, text=True, timeout=600, cwd=cwd,
                          env=ENVIRONMENT)  # fmt: skip
