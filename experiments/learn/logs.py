"""Recorded data of a known problem, for experiments and tests."""

import numpy as np


def write_log(path, problem, transitions, seed=0, episode=20):
    """What a policy that draws its actions sees of a problem without terminal states, episode after episode."""
    rng = np.random.default_rng(seed)
    names = list(problem.signals)
    lines = [",".join(["state,action,next,reward", *names])]
    begin, stop, action = problem.row_outcomes, problem.state_rows, problem.action
    sums = [np.cumsum(problem.probability[a:b]) for a, b in zip(begin[:-1], begin[1:], strict=True)]
    values = [problem.reward, *(problem.signals[name] for name in names)]
    tails = [",".join(str(float(value[row])) for value in values) for row in range(len(action))]
    state = 0
    for step, (first, second) in enumerate(rng.random((transitions, 2))):
        if step % episode == 0:
            state = int(rng.choice(problem.states, p=problem.start))
        row = int(stop[state] + first * (stop[state + 1] - stop[state]))
        pick = min(int(np.searchsorted(sums[row], second, side="right")), len(sums[row]) - 1)
        following = int(problem.next[begin[row] + pick])
        lines.append(f"{state},{action[row]},{following},{tails[row]}")
        state = following
    path.write_text("\n".join(lines))
