"""Boards whose squares are numbered at random, so that neighbours have far numbers."""

import json
import random

from program import run


def make_shuffled_board(path, environment, *flags):
    """Writes the board to the JSON file."""
    assert run("make", environment, *flags, "-o", path).returncode == 0
    board = json.loads(path.read_text())
    number = list(range(board["states"]))
    random.Random(1).shuffle(number)
    board["start"] = number[board["start"]]
    for transition in board["transitions"]:
        for key in ("state", "next"):
            transition[key] = number[transition[key]]
    for name, rows in board["signals"].items():
        moved = [None] * len(rows)
        for state, row in enumerate(rows):
            moved[number[state]] = row
        board["signals"][name] = moved
    path.write_text(json.dumps(board))
