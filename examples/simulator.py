#!/usr/bin/env python3
"""A simulator that Redoubt can ask: a machine that wears out and may be repaired.

    redoubt estimate --simulator "python3 examples/simulator.py" --samples 1000 -o machine.json

The protocol is one JSON object per line (docs/sampling.md): a greeting, answered with the sizes; then
queries, each answered with the next state, the reward and the signals.
"""
import json
import random
import sys

STATES = 5                                   # 0: as new ... 4: broken
RUN, REPAIR = 0, 1


def step(state, action, dice):
    """Next state, profit and downtime of one day."""
    if action == REPAIR:
        return 0, -0.5, 1.0
    if state == STATES - 1:
        return state, 0.0, 1.0               # broken machines earn nothing
    worse = dice.random() < 0.2 + 0.1 * state
    return state + worse, 1.0 - 0.1 * state, 0.0


def say(message):
    print(json.dumps(message), flush=True)   # without flush, the answer would wait in a buffer


sys.stdin.readline()                         # the greeting
say({"states": STATES, "actions": ["run", "repair"], "signals": ["downtime"], "horizon": 20, "start": 0,
     # What `redoubt learn` may rely on: where each action of each state can lead. Leave it out if you do not know.
     "outcomes": [[[s, min(s + 1, STATES - 1)], [0]] for s in range(STATES - 1)] + [[[STATES - 1], [0]]]})
for line in sys.stdin:
    query = json.loads(line)
    # Randomness from the query's seed: the same answers in any order, and after a restart.
    dice = random.Random(query["seed"])
    following, profit, downtime = step(query["state"], query["action"], dice)
    say({"id": query["id"], "next": following, "reward": profit, "signals": {"downtime": downtime}})
