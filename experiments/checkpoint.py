"""What an experiment has found so far, on disk: a run that was killed goes on from there to the same results."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Lets `write` make a file beside the final name, and gives it that name once it is on disk."""
    unfinished = path.with_name(f"{path.stem}.unfinished{path.suffix}")  # the ending chooses formats
    try:
        write(unfinished)
        _sync(unfinished)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    _sync(path.parent)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class Checkpoint:
    """Results by name. `work` says what they are of; a file of other work is refused.

    Without a path nothing is kept.
    """

    def __init__(self, path: Path | None, work: str, interval: float = 2.0):
        self._path = path
        self._work = work
        self._interval = interval
        self._results: dict[str, object] = {}
        self._lock = threading.Lock()
        self._written = time.monotonic()
        if path and path.exists():
            found = json.loads(path.read_text())
            if found["work"] != work:
                raise SystemExit(f"{path}: holds results of {found['work']}; must be of {work}, or be missing")
            self._results = found["results"]

    def once(self, name: str, compute: Callable[[], object]):
        """The result of this name; computed, and kept, unless it is there. It must be what JSON can hold."""
        with self._lock:
            if name in self._results:
                return self._results[name]
        result = compute()
        with self._lock:
            self._results[name] = result
            if self._path and time.monotonic() - self._written >= self._interval:
                text = json.dumps({"work": self._work, "results": self._results})
                write_whole(self._path, lambda path: path.write_text(text))
                self._written = time.monotonic()
        return result

    def remove(self) -> None:
        """The experiment is done."""
        if self._path:
            self._path.unlink(missing_ok=True)
