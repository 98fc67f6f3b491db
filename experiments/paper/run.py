#!/usr/bin/env python3
"""Runs the paper's experiments again and writes docs/measurements/paper.md with its figures.

    .venv/bin/python experiments/paper/run.py

Needs the built program and matplotlib; takes a few minutes on two cores. With --checkpoint FILE a run that was
killed goes on where it was. Everything that the page says comes from the program: each table names the command
that gives the same numbers.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from pathlib import Path

import cases
import claims
import figures
import page
from program import Program, write_whole

ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--program", type=Path, default=ROOT / "build" / "redoubt")
    options.add_argument("--output", type=Path, default=ROOT / "docs" / "measurements", help="folder of paper.md and paper/")
    options.add_argument("--checkpoint", type=Path, help="file that keeps what was found, and is gone on from")
    given = options.parse_args()

    begin = time.monotonic()
    folder = given.output / "paper"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    program = Program(given.program, given.checkpoint)

    steps = len(cases.CASES) + len(claims.MEASUREMENTS)
    done = 0

    def progress(text: str) -> None:
        nonlocal done
        done += 1
        print(f"[{done}/{steps}] {time.monotonic() - begin:5.0f} s  {text}", file=sys.stderr, flush=True)

    results = []
    for case in cases.CASES:
        progress(case.title)
        results.append(cases.run(case, program, folder))
        if case.figure:
            figures.draw(results[-1], folder)
    measured = {}
    for name, measure in claims.MEASUREMENTS.items():
        progress(name)
        measured[name] = measure(program, results)
    text = page.text(results, measured, program, time.monotonic() - begin)
    write_whole(given.output / "paper.md", lambda path: path.write_text(text))
    program.checkpoint.remove()
    print(f"Wrote {given.output / 'paper.md'} in {time.monotonic() - begin:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
