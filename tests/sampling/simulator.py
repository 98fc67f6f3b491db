"""A simulator for the tests, with one fault on request: simulator.py [FAULT AT] [--shuffle]

Five states in a ring, two actions; faults: die, hang, garbage, unknown, far, error, silent.
"""
import json
import random
import sys

fault, at = (sys.argv[1], int(sys.argv[2])) if len(sys.argv) > 2 else ("", -1)
shuffle = "--shuffle" in sys.argv
sys.stdin.readline()
if fault == "silent":
    sys.exit(7)
print(json.dumps({"states": 5, "actions": 2, "signals": ["cost"], "horizon": 3, "start": 1, "shared_values": True,
                  "ranges": {"reward": [0, 1], "cost": [0, 0.1]}}), flush=True)


def answer(query, number):
    if number == at:
        if fault == "die":
            sys.exit(3)
        if fault == "hang":
            import time
            time.sleep(100)
        if fault == "garbage":
            return "not json"
        if fault == "unknown":
            return json.dumps({"id": 10**6, "next": 0})
        if fault == "far":
            return json.dumps({"id": query["id"], "next": 5, "reward": 0, "signals": {"cost": 0}})
        if fault == "error":
            return json.dumps({"id": query["id"], "error": "no such thing"})
    u = random.Random(query["seed"]).random()
    move = (1 if query["action"] else -1) if u < 0.7 else 0
    state = query["state"]
    return json.dumps({"id": query["id"], "next": (state + move) % 5, "reward": state / 4,
                       "signals": {"cost": 0.1 * query["action"]}})


held = []
for number, line in enumerate(sys.stdin, start=1):
    text = answer(json.loads(line), number)
    if shuffle:  # answers in pairs, the second one first
        held.append(text)
        if len(held) == 2:
            print(held[1], held[0], sep="\n", flush=True)
            held = []
    else:
        print(text, flush=True)
