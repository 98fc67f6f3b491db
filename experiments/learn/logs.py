"""Recorded data of a known problem, for experiments and tests."""

import numpy as np


def write_log(path, problem, transitions, seed=0):
    """What a policy that draws its actions sees of a problem, episode after episode."""
    rng = np.random.default_rng(seed)
    lines = ["state,action,next,reward,cost"]
    begin, stop, action = problem.row_outcomes, problem.state_rows, problem.action
    state = 2
    for step in range(transitions):
        row = int(rng.integers(stop[state], stop[state + 1]))
        pick = rng.choice(np.arange(begin[row], begin[row + 1]), p=problem.probability[begin[row] : begin[row + 1]])
        following = int(problem.next[pick])
        lines.append(f"{state},{action[row]},{following},{problem.reward[row]},{problem.signals['cost'][row]}")
        state = following if step % 20 else 2
    path.write_text("\n".join(lines))
