"""Calls of the program, each remembered as the command that a reader would type."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path


class Program:
    def __init__(self, path: Path):
        self.path = path
        if not path.exists():
            raise SystemExit(f"{path} does not exist: run make first, or name the program with --program")
        self.version = self._run(["--version"]).splitlines()[0]

    def json(self, *arguments: str) -> dict:
        """What the program prints with --json. A bad outcome (status 1) is a result like any other."""
        return json.loads(self._run([*arguments, "--json", "--no-progress"]))

    def _run(self, arguments: list[str]) -> str:
        done = subprocess.run([str(self.path), *arguments], capture_output=True, text=True, check=False)
        if done.returncode > 1:
            raise SystemExit(f"{command(*arguments)}\n{done.stderr}")
        return done.stdout


def command(*arguments: str) -> str:
    return shlex.join(["redoubt", *arguments])
