"""Runs a policy that Redoubt has exported as JSON. No dependencies; copy this file where you need it.

policy = Policy("policy.json")
policy.start()
action = policy.act(state)          # the state in which the episode begins
policy.observe(next_state)          # what the action led to
action = policy.act(next_state)     # and so on
"""

import json
import random


class Policy:
    def __init__(self, path, draw=random.random):
        with open(path) as file:
            self.data = json.load(file)
        if self.data.get("format") != "redoubt-policy" or self.data.get("version") != 1:
            raise ValueError(f"{path}: no policy of Redoubt, version 1")
        self.draw = draw  # random numbers in [0, 1)
        self.start()

    def start(self):
        """A new episode."""
        self.stage, self.state, self.memory, self.choice = 0, None, 0, None

    @property
    def ended(self):
        horizon = self.data["horizon"]
        return horizon is not None and self.stage >= horizon

    def act(self, state):
        """The number of the action for the state at hand."""
        if self.ended:
            raise ValueError(f"stage {self.stage}: the horizon is over")
        if self.state is None:
            if state not in self.data["start_state"]:
                raise ValueError(f"state {state}: no episode begins there")
            entry = self.data["start_state"].index(state)
            self.memory, self.state = self._memory("start", entry), state
        if state != self.state:
            raise ValueError(f"state {state}: the last observation led to state {self.state}")
        stage = min(self.stage, self.data["stages"] - 1)
        node = self.data["node_begin"][stage * self.data["states"] + state] + self.memory
        first, end = self.data["choice_begin"][node : node + 2]
        if first == end:
            raise ValueError(f"state {state}: there is nothing to do")
        self.choice = first + self._index(self.data["choice_weight"][first:end])
        return self.data["choice_action"][self.choice]

    def observe(self, state, outcome=None):
        """What the last action led to; where several outcomes lead there, the number of the one that happened."""
        if self.choice is None:
            raise ValueError("nothing was done since the last observation")
        entries = range(*self.data["outcome_begin"][self.choice : self.choice + 2])
        next_state, number = self.data["outcome_next"], self.data["outcome_number"]
        found = [i for i in entries if next_state[i] == state and outcome in (None, number[i])]
        elsewhere = [] if any(next_state[i] == state for i in entries) else [i for i in entries if next_state[i] < 0]
        if len(found or elsewhere) != 1 or not 0 <= state < self.data["states"]:
            raise ValueError(f"state {state}: {'say which outcome' if found else 'the action never leads there'}")
        if found:
            memory = self._memory("move", found[0])
        else:
            plan = self.data["move_memory"][self.data["move_begin"][elsewhere[0]]]
            memory = self._memory("plan", plan * self.data["states"] + state)
        self.stage, self.state, self.memory, self.choice = self.stage + 1, state, memory, None

    def _memory(self, what, entry):
        first, end = self.data[what + "_begin"][entry : entry + 2]
        return self.data[what + "_memory"][first + self._index(self.data[what + "_weight"][first:end])]

    def _index(self, weights):
        left, drawn = self.draw(), 0
        for i, weight in enumerate(weights):
            if left < 0:
                break
            left, drawn = left - weight, i
        return drawn
