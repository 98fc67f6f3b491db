"""scripts/release_check says what is missing, and the files of a release agree with each other."""

import re
import shutil
import subprocess
import sys

import pytest

from program import ROOT, VERSION


@pytest.fixture
def checkout(tmp_path):
    """A small one of its own, with a repository, in which every file is committed."""
    for name in ("CMakeLists.txt", "CITATION.cff", "CHANGELOG.md", "scripts/release_check"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-C", str(tmp_path)]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "all"]):
        subprocess.run([*git, *command], check=True, timeout=600)
    return tmp_path


def missing(checkout):
    done = subprocess.run([sys.executable, checkout / "scripts" / "release_check"], capture_output=True, text=True,
                          timeout=600)  # fmt: skip
    assert done.returncode == 1, done.stderr  # a checkout without a program is never ready
    return dict(re.findall(r"^  MISSING  (.+?): (.+)$", done.stdout, re.MULTILINE))


def test_what_is_missing_is_named(checkout):
    changelog = checkout / "CHANGELOG.md"
    text = re.sub(rf"^## {VERSION} - .*$", f"## {VERSION} - 2026-12-01", changelog.read_text(), flags=re.MULTILINE)
    changelog.write_text(text)
    found = missing(checkout)
    assert {"program", "wheels", "clean tree"} <= {*found} and not {"changelog", "citation", "tag"} & {*found}
    assert found["clean tree"] == "1 files are not committed"
    changelog.write_text(text.replace("2026-12-01", "soon"))
    (checkout / "CITATION.cff").write_text("version: 0.0.1\n")
    found = missing(checkout)
    assert found["changelog"] == f"the date of {VERSION} is 'soon'"
    assert found["citation"] == "CITATION.cff has version 0.0.1"
    assert "cp310-cp310" in found["wheels"]


def test_the_changelog_has_a_section_for_this_version():
    assert re.search(rf"^## {VERSION} - ", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
