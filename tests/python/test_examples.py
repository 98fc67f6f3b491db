"""Every example runs as a script, as a reader would run it; so does the notebook."""

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
import redoubt
from nbclient import NotebookClient

EXAMPLES = Path(__file__).parents[2] / "examples"
PACKAGE = str(Path(redoubt.__file__).parents[1])
# simulator.py is a program that others start: test_estimate.py does.
SCRIPTS = sorted(path.name for path in EXAMPLES.glob("*.py") if path.name != "simulator.py")


def run(arguments):
    done = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, "MPLBACKEND": "Agg"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("script", SCRIPTS)
def test_examples_run(script):
    assert run([str(EXAMPLES / script)]).strip()


def test_the_notebook_runs(monkeypatch):
    """By a real kernel, as a reader's browser would: outputs are what the notebook shows."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [PACKAGE, os.environ.get("PYTHONPATH")])))
    notebook = nbformat.read(EXAMPLES / "quickstart.ipynb", as_version=4)
    NotebookClient(notebook, timeout=600, kernel_name="python3").execute(cwd=str(EXAMPLES))
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    shown = [output.get("data", {}) for cell in cells for output in cell.outputs]
    assert sum("text/html" in data for data in shown) >= 2  # the tables of the problem and of the solution
    assert any("certified" in data.get("text/html", "") for data in shown)
    assert any("image/png" in data for data in shown)
