"""Writes umbi_walk.umb with the independent package umbi: a walk on four cells with named actions in
a different order in each cell, exact fractions, and rewards on states, choices and branches."""

import pathlib
from fractions import Fraction

import umbi
import umbi.ats
from umbi.ats.explicit_ats import ExplicitAts, TimeType


def walk(cells=4):
    ats = ExplicitAts()
    ats.time = TimeType.DISCRETE
    ats.num_players = 1
    ats.num_initial_states = 2
    ats.num_choice_actions = 2
    ats.choice_action_to_name = ["left", "right"]
    for cell in range(cells):
        ats.add_state()
        if cell == cells - 1:
            continue  # no choice: terminal
        for action in (0, 1) if cell % 2 == 0 else (1, 0):
            choice = ats.add_state_choice(state=cell)
            choice.action = action
            target = min(cells - 1, cell + 1) if action else max(0, cell - 1)
            choice.add_branch(target=target, prob=Fraction(9, 10))
            choice.add_branch(target=cell, prob=Fraction(1, 10))
    ats.set_initial_states([1, 2])
    reward = ats.add_reward_annotation(name="r0", alias="reward")
    reward.set_choice_values([0.5 * choice.action for choice in ats.choices])
    reward.set_branch_values([branch.target / 4 for branch in ats.branches])
    energy = ats.add_reward_annotation(name="energy")
    energy.set_state_values([1, 2, 3, 0])
    energy.set_choice_values([choice.action for choice in ats.choices])
    ats.add_ap_annotation(name="home").set_state_values([s == 0 for s in ats.states])
    ats.validate()
    return ats


if __name__ == "__main__":
    umbi.ats.write(walk(), pathlib.Path(__file__).with_suffix(".umb"))
