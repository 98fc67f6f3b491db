"""Every example runs as a script, as a reader would run it; so does the notebook."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
# simulator.py is a program that others start: test_estimate.py does.
SCRIPTS = sorted(path.name for path in EXAMPLES.glob("*.py") if path.name != "simulator.py")


def run(arguments):
    done = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "MPLBACKEND": "Agg"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("script", SCRIPTS)
def test_examples_run(script):
    assert run([str(EXAMPLES / script)]).strip()


def test_the_notebook_runs(tmp_path):
    cells = json.loads((EXAMPLES / "quickstart.ipynb").read_text())["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    script = tmp_path / "notebook.py"
    script.write_text("\n\n".join(code))
    assert len(code) >= 4
    run([str(script)])
