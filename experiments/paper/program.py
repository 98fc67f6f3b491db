"""Calls of the program, each remembered as the command that a reader would type."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from checkpoint import Checkpoint, write_whole  # noqa: E402, F401


class Program:
    """What it prints is a result of the experiment: a checkpoint keeps it."""

    def __init__(self, path: Path, checkpoint: Path | None = None):
        self.path = path
        if not path.exists():
            raise SystemExit(f"{path} does not exist: run make first, or name the program with --program")
        self.version = self._run(["--version"]).splitlines()[0]
        self.checkpoint = Checkpoint(checkpoint, f"paper, {self.version}")

    def json(self, *arguments: str) -> dict:
        """What the program prints with --json. A bad outcome (status 1) is a result like any other."""
        return self.checkpoint.once(command(*arguments), lambda: self.print_json(*arguments))

    def print_json(self, *arguments: str) -> dict:
        """The same, always by the program."""
        return json.loads(self._run([*arguments, "--json", "--no-progress"]))

    def compare(self, *arguments: str) -> tuple[dict, str]:
        """What `compare` prints, and the text of its traces."""

        def run() -> list:
            with tempfile.TemporaryDirectory() as folder:
                printed = self._run(["compare", *arguments, "--json", "--no-progress", "-o", folder])
                return [json.loads(printed), (Path(folder) / "traces.csv").read_text()]

        summary, traces = self.checkpoint.once(command("compare", *arguments) + " with traces", run)
        return summary, traces

    def _run(self, arguments: list[str]) -> str:
        done = subprocess.run([str(self.path), *arguments], capture_output=True, text=True, check=False)
        if done.returncode > 1:
            raise SystemExit(f"{command(*arguments)}\n{done.stderr}")
        return done.stdout


def command(*arguments: str) -> str:
    return shlex.join(["redoubt", *arguments])
