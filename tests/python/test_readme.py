"""What the README and the guide to the program print is what the program prints.

Blocks marked `console` hold commands (after "$ ") and their output. To write the output anew:

    .venv/bin/python tests/python/test_readme.py
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from program import ROOT

PAGES = ["README.md", "docs/cli.md"]
BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)
# Times, errors of rounding, and how much work a search took, which rounding on another processor may change.
VARIES = re.compile(r"\b[\d.e+-]+ (s|min|hours)\b|\b\de-1\d\b|\bgap [\d.e+-]+|^Method frontier: .*$", re.MULTILINE)
NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?")


def examples(block):
    """(command, printed output) of each command of a block."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def words_and_numbers(output):
    """Another instruction set rounds differently, and a search then ends at another policy within its gap."""
    text = VARIES.sub("~", output)
    return NUMBER.sub("#", text).split(), [float(number.replace(",", "")) for number in NUMBER.findall(text)]


def output_of(command, folder):
    result = subprocess.run(command, shell=True, cwd=folder, text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, timeout=600)  # fmt: skip
    assert result.returncode in (0, 1), f"{command}: {result.stdout}"
    return result.stdout


def workplace(folder):
    (Path(folder) / "build").symlink_to(ROOT / "build")
    (Path(folder) / ".venv").symlink_to(ROOT / ".venv")
    (Path(folder) / "examples").symlink_to(ROOT / "examples")
    return folder


def is_run(command):
    return not command.startswith("make ")  # the tests are already inside of one


@pytest.mark.parametrize("page", PAGES)
def test_commands_print_what_the_page_shows(page, tmp_path):
    folder = workplace(tmp_path)
    blocks = BLOCK.findall((ROOT / page).read_text())
    assert blocks
    for block in blocks:
        for command, printed in filter(lambda example: is_run(example[0]), examples(block)):
            words, numbers = words_and_numbers(output_of(command, folder))
            expected_words, expected = words_and_numbers(printed)
            assert words == expected_words, command
            assert numbers == pytest.approx(expected, rel=0.01), command


def test_the_readme_gets_to_the_point():
    lines = (ROOT / "README.md").read_text().splitlines()
    commands = [number for number, line in enumerate(lines, 1) if line.startswith("$ build/redoubt")]
    proofs = [number for number, line in enumerate(lines, 1) if line.startswith(("certified:", "The fast evaluation agrees"))]
    (picture,) = (number for number, line in enumerate(lines, 1) if line.startswith("!["))
    assert commands[0] <= 15 and proofs[1] <= 40 and picture <= 45 and len(lines) <= 175


def test_the_ten_lines_give_a_certified_answer_and_a_figure(tmp_path):
    pytest.importorskip("redoubt", reason="built without the Python module")
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert len(code.splitlines()) <= 10
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, timeout=600, text=True, capture_output=True,
                          env={**os.environ, "MPLBACKEND": "Agg"})  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("redoubt.Solution by frontier: certified\n")
    assert (tmp_path / "curve.png").stat().st_size > 10_000


def write_anew(page):
    with tempfile.TemporaryDirectory() as folder:
        workplace(folder)

        def renew(match):
            parts = []
            for command, printed in examples(match.group(1)):
                parts.append(f"$ {command}\n{output_of(command, folder) if is_run(command) else printed}")
            return "```console\n" + "".join(parts) + "```"

        path = ROOT / page
        path.write_text(BLOCK.sub(renew, path.read_text()))


if __name__ == "__main__":
    for name in PAGES:
        write_anew(name)
