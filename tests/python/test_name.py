"""The distribution is redoubt-mdp, the module redoubt. The distribution called redoubt is another project's."""

import re
import subprocess
import sys

import pytest

from program import ROOT, VERSION

METADATA = (ROOT / "pyproject.toml").read_text()


def imported(folder):
    """Imports `redoubt` where that folder comes first; the last line of standard error, empty when all is well."""
    lines = f"import sys; sys.path.insert(0, {str(folder)!r}); import redoubt; print(redoubt.__file__)"
    done = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True, timeout=600, cwd=folder)
    assert (done.returncode == 0) == (done.stderr == ""), done.stderr
    assert done.returncode or done.stdout.startswith(str(folder))
    return done.stderr.rstrip("\n").rpartition("\n")[2]


def test_the_distribution_has_a_name_that_is_free():
    assert re.search(r'^name = "redoubt-mdp"', METADATA, re.MULTILINE)
    assert re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)[1] == VERSION


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_pages_name_the_distribution(page):
    text = (ROOT / page).read_text()
    assert "pip install redoubt-mdp" in text
    assert not re.search(r"pip install redoubt(?!-mdp)", text)


def test_another_project_of_the_name_beside_it_is_one_clear_error(tmp_path):
    pytest.importorskip("redoubt", reason="built without the Python module")
    (tmp_path / "redoubt").symlink_to(ROOT / "python" / "redoubt", target_is_directory=True)
    assert imported(tmp_path) == ""
    (tmp_path / "redoubt.py").write_text("class Scanner: ...\n")
    error = imported(tmp_path)
    assert error.startswith("ImportError: two projects are installed under the name redoubt: redoubt-mdp ("), error
    assert str(tmp_path / "redoubt.py") in error and "pip uninstall redoubt" in error
