"""A room that must stay between 19 and 21 degrees for ten steps, with a bound on what heating may cost."""

import redoubt as rd


def room(x, u):  # u: how far the valve is open; the heater has 50 degrees, and outside there is frost
    return [(1 - 0.022 - 0.05 * u) * x[0] + 0.05 * 50 * u - 0.022]


system = rd.abstract(
    room,
    noise=rd.Gaussian([0.02**0.5]),
    domain=[(19, 21)],
    cells=20,
    actions=[0.2, 0.3, 0.4, 0.5],
    start=[20.0],
    signals={"heating": lambda x, u: u},
    constraints=[rd.at_most("heating", 2.8)],
    horizon=10,
)
answer = system.solve(tolerance=0.01)
print(f"comfortable with probability {answer.lower:.4f} at least; no controller exceeds {answer.upper:.4f}")
print(f"heating {answer.below.constraints[0].worst:.3f} at most, in expectation and in the worst case")

episodes = answer.simulate(episodes=500, seed=1)
print(f"episodes: {1 - episodes.hit.mean():.4f}, heating {episodes.mean('heating')[0]:.3f}")

controller = answer.controller()
print("first valve positions on the way 20.0, 19.7, 19.9:", [controller.act([t]) for t in (20.0, 19.7, 19.9)])
