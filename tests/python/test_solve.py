"""Solving from Python: against a plain implementation, the paper's RiverSwim, options, threads, Ctrl-C."""

import os
import signal
import threading
import time
from contextlib import contextmanager
from functools import partial

import numpy as np
import pytest
import redoubt as rd
import reference

WORST = {
    "none": (rd.Nominal(), lambda p, v: float(p @ v)),
    "kl": (rd.KL(0.05), partial(reference.worst_kl, radius=0.05)),
    "tv anywhere": (rd.TV(0.1), partial(reference.worst_tv, radius=0.1)),
    "tv support": (rd.TV(0.1, reach="support"), partial(reference.worst_tv_support, radius=0.1)),
}


def random_problem(seed, uncertainty):
    random = np.random.default_rng(seed)
    states, actions, horizon = 3, 3, 4
    P = random.dirichlet(np.ones(states), size=(states, actions)) * (random.random((states, actions, states)) < 0.8)
    P[..., seed % states] += 0.05
    P /= P.sum(axis=-1, keepdims=True)
    reward = random.random((states, actions)).round(3)
    cost = random.integers(0, 5, (states, actions)) / 4.0
    bound = round(float(cost.mean() * horizon * 0.8) * 4) / 4
    problem = rd.Problem(P, reward=reward, signals={"cost": cost}, horizon=horizon, start=seed % states,
                         constraints=[rd.at_most("cost", bound)], uncertainty=uncertainty, order="sas")  # fmt: skip
    return problem, P, reward, cost, bound


@pytest.mark.parametrize("fallback", ["reward", "utility"])
@pytest.mark.parametrize("name", WORST)
def test_rcvi_agrees_with_a_plain_implementation(name, fallback):
    uncertainty, worst = WORST[name]
    for seed in range(3):
        problem, P, reward, cost, bound = random_problem(seed, uncertainty)
        solution = rd.solve(problem, method="rcvi", fallback=fallback, threads=1 + seed % 2)
        r, u = reference.rcvi(P, reward, -cost, -bound, 4, seed % 3, worst, fallback)
        # The policy stores mixing weights in 16 bits, rounded towards the safer action.
        assert solution.reward.worst == pytest.approx(r, abs=2e-4)
        assert solution.constraints[0].worst == pytest.approx(-u, abs=2e-4)
        assert solution.constraints[0].satisfied == (solution.status != "violated")


def test_river_swim_from_each_state():
    problem = rd.make("river_swim(horizon=10)", uncertainty=rd.KL(0.05))
    rounded = [rd.solve(problem.replace(start=s), "rcvi", budget_step=0.05).reward.worst for s in range(4)]
    np.testing.assert_allclose(rounded, [0.021, 0.078, 0.313, 0.645], atol=6e-4)
    exact = [rd.solve(problem.replace(start=s), "rcvi").reward.worst for s in range(4)]
    np.testing.assert_allclose(exact, [0.021, 0.079, 0.320, 0.726], atol=6e-4)
    assert rd.solve(problem.replace(start=5), "rcvi").status == "violated"


def test_what_a_solution_says():
    problem = rd.make("river_swim(horizon=10,start=3)")
    solution = rd.solve(problem, "rcvi")
    assert (solution.status, solution.method) == ("feasible", "rcvi")
    constraint = solution.constraints[0]
    assert (constraint.name, constraint.sense, constraint.bound) == ("cost", "at_most", 4.0)
    assert constraint.satisfied and constraint.worst <= 4.0
    assert list(solution.trace) == ["iteration", "row_evaluations", "seconds", "reward", "cost"]
    assert {len(column) for column in solution.trace.values()} == {10}
    assert "kept" in repr(solution) and "<table>" in solution._repr_html_()
    np.testing.assert_allclose(solution.policy.action_weights(3).sum(), 1.0)


def test_evaluate_agrees_with_the_solution_and_takes_another_set():
    problem = rd.make("river_swim(horizon=10,start=3)")
    solution = rd.solve(problem, "rcvi")
    again = rd.evaluate(problem, solution.policy)
    assert again.reward.worst == solution.reward.worst
    assert again.constraints[0].worst == solution.constraints[0].worst
    milder = rd.evaluate(problem.replace(uncertainty=rd.Nominal()), solution)
    assert milder.reward.worst > again.reward.worst


def test_a_markov_policy_from_weights_is_evaluated_by_hand():
    P = np.array([[[0.5, 0.5], [0.0, 1.0]], [[1.0, 0.0], [1.0, 0.0]]])
    problem = rd.Problem(P, reward=[[0.0, 1.0], [2.0, 2.0]], order="sas", horizon=2)
    assert rd.evaluate(problem, rd.Policy.markov(problem, [[0.5, 0.5], [1.0, 0.0]])).reward.worst == 0.5 + 1.625
    staged = np.array([[[0.0, 1.0], [1.0, 0.0]], [[1.0, 0.0], [1.0, 0.0]]])
    assert rd.evaluate(problem, rd.Policy.markov(problem, staged)).reward.worst == 3.0
    with pytest.raises(rd.Error, match=r"weights have shape \(3,\)"):
        rd.Policy.markov(problem, [1, 2, 3])


def test_one_answer_on_any_number_of_threads():
    problem = rd.make("garnet(states=200,actions=4,successors=5,horizon=20)")
    one, two = (rd.solve(problem, "rcvi", threads=threads) for threads in (1, 2))
    assert one.reward.worst == two.reward.worst
    assert one.policy == two.policy


def test_frontier_brackets_the_answer_and_has_a_curve():
    problem = rd.make("river_swim(horizon=10,start=3)", uncertainty=rd.KL(0.05))
    solution = rd.solve(problem, method="frontier", tolerance=1e-3)
    assert solution.status == "certified"
    assert solution.constraints[0].worst <= 4.0 + 1e-9
    assert 0 <= solution.gap <= 1e-3 * solution.reward.bound
    assert solution.reward.worst > rd.solve(problem, "rcvi").reward.worst
    again = rd.evaluate(problem, solution.policy)
    assert again.reward.worst == solution.reward.worst
    assert solution.trace["bound"][-1] == pytest.approx(solution.reward.bound)
    curve = solution.curve
    assert len(curve["reward"]) == len(curve["cost"]) > 2
    tighter = rd.evaluate(problem.replace(constraints=[rd.at_most("cost", 3.5)]), solution.policy_at(3.5))
    assert tighter.satisfied and tighter.reward.worst < solution.reward.worst


@pytest.mark.parametrize("method", ["rnpg", "crpo", "epirc", "rppg", "primal-dual", "rrpo"])
def test_gradient_methods_take_their_options(method):
    problem = rd.make("machine_replacement(horizon=10)")
    first = np.full((problem.states, problem.actions), 1.0 / problem.actions)
    solution = rd.solve(problem, method=method, step=0.05, iterations=3, inner=2, start_weights=first)
    assert solution.method == method
    assert solution.trace["reward"][0] == rd.evaluate(problem, rd.Policy.markov(problem, first)).reward.worst
    assert solution.policy.memory_states == 1


def test_methods_are_compared_on_one_table():
    problem = rd.make("machine_replacement(horizon=10)")
    contestants = {"rcvi": {}, "small steps": {"method": "crpo", "step": 0.01, "iterations": 4}}
    comparison = rd.compare(problem, contestants, threads=2)
    assert [line.name for line in comparison.lines] == ["rcvi", "small steps"]
    assert comparison.solutions["rcvi"].policy == rd.solve(problem, "rcvi").policy
    assert comparison.bound >= comparison.solutions["rcvi"].reward.worst
    assert comparison.trace_csv().count("small steps") == 5
    with pytest.raises(rd.Error, match="method = 'small steps', must be one of"):
        rd.compare(problem, ["small steps"])


def test_solutions_and_policies_go_to_files(tmp_path):
    problem = rd.make("river_swim(horizon=4,start=3)")
    solution = rd.solve(problem, "rcvi")
    rd.save_solution(solution, tmp_path / "solution.h5")
    again = rd.load_solution(problem, tmp_path / "solution.h5")
    assert again.policy == solution.policy
    assert again.reward.worst == solution.reward.worst
    solution.policy.export(tmp_path / "policy.csv")
    assert len((tmp_path / "policy.csv").read_text().splitlines()) > 4
    with pytest.raises(rd.Error, match="states"):
        rd.load_solution(rd.make("fork"), tmp_path / "solution.h5")


BAD = {
    "method": (dict(method="rvci"), r"method = 'rvci' \(did you mean 'rcvi'\?\), must be one of rcvi"),
    "option": (
        dict(method="rcvi", slak=1),
        r"unknown option 'slak' of method 'rcvi' \(did you mean 'slack'\?\), must be one of slack",
    ),
    "option of no options": (dict(method="robust", slack=1), "unknown option 'slack' of method 'robust'"),
    "word": (dict(method="rcvi", rounding="down"), "rounding = 'down', must be one of up, mixed"),
    "type": (dict(method="rcvi", slack="much"), "slack = 'much', must be float"),
    "value": (dict(method="rcvi", budget_step=-1.0), "budget_step"),
    "memory": (dict(method="rcvi", memory_limit=10.0), "memory"),
    "threads": (dict(threads=0), "threads"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_options_are_errors(case):
    options, message = BAD[case]
    with pytest.raises(rd.Error, match=message):
        rd.solve(rd.make("river_swim(horizon=5)"), **options)


# Minutes of work for RCVI, an instant for an evaluation.
LONG = dict(
    problem=rd.make("garnet(states=100,actions=5,successors=10,horizon=300)"), method="rcvi", budget_cells=2000
)


def test_two_solves_run_at_once_and_leave_python_free():
    both, calls, answers = threading.Barrier(2), [0], []

    def work():
        inside = False

        def seen(done):
            nonlocal inside
            calls[0] += 1
            if not inside:
                inside = True
                both.wait(timeout=60)  # until the other one is in its solve, too

        answers.append(rd.solve(**LONG, time_limit=1.0, progress=seen))

    workers = [threading.Thread(target=work) for _ in range(2)]
    for worker in workers:
        worker.start()
    ticks = 0
    while any(worker.is_alive() for worker in workers):
        time.sleep(0.002)
        ticks += 1
    assert [answer.unfinished for answer in answers] == [True] * 2
    assert ticks > 2 * calls[0]  # with the lock held, this thread would run only while progress is called


@contextmanager
def ctrl_c(begun=None):
    """Presses it once, from another thread, when work has begun (None: half a second from now); yields the processor
    time of this process by then, so that it does not matter who else is at work."""
    pressed = []

    def press():
        begun.wait(timeout=60) if begun else time.sleep(0.5)
        pressed.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background work ignores it
    thread = threading.Thread(target=press)
    thread.start()
    try:
        yield pressed
        thread.join()
    finally:
        signal.signal(signal.SIGINT, before)


FOR_MINUTES = {
    "rcvi": dict(budget_cells=2000),
    "frontier": dict(tolerance=1e-6),
    **dict.fromkeys(["crpo", "epirc", "primal-dual"], dict(iterations=100_000)),
}


@pytest.mark.parametrize("method", FOR_MINUTES)
def test_ctrl_c_stops_a_solve_with_the_best_so_far(method):
    begun = threading.Event()
    with ctrl_c(begun) as pressed:
        solution = rd.solve(LONG["problem"], method, **FOR_MINUTES[method], progress=lambda done: begun.set())
    assert time.process_time() - pressed[0] < 1.5
    assert solution.unfinished and solution.status in ("feasible", "stopped")
    assert rd.evaluate(LONG["problem"], solution).reward.worst == pytest.approx(solution.reward.worst, abs=1e-6)


def test_ctrl_c_ends_other_work_as_in_any_python_program():
    solution = rd.solve(LONG["problem"], "nominal")
    with pytest.raises(KeyboardInterrupt), ctrl_c() as pressed:
        rd.simulate(LONG["problem"], solution, episodes=10_000_000)
    assert time.process_time() - pressed[0] < 1.5


def test_time_limit_stops_a_solve():
    assert rd.solve(**LONG, time_limit=0.2).unfinished


def test_progress_is_reported_and_its_errors_pass_through(capsys):
    problem = rd.make("garnet(states=50,actions=4,successors=5,horizon=100)")
    seen = []
    rd.solve(problem, "rcvi", progress=seen.append)
    assert seen[-1] == 1.0 and seen == sorted(seen)

    def fail(done):
        raise KeyError("from progress")

    with pytest.raises(KeyError, match="from progress"):
        rd.solve(problem, "rcvi", progress=fail)
    rd.solve(problem, "rcvi", progress=True)
    assert "100%" in capsys.readouterr().err


def test_where_a_bound_makes_sense():
    problem = rd.make("river_swim(horizon=10,start=3)")
    span = rd.achievable_range(problem)
    assert 0 < span.best < 4.0 < span.worst
    assert rd.plan_rcvi(problem, budget_step=0.5).bytes < rd.plan_rcvi(problem, budget_step=0.05).bytes
    assert 0 < rd.plan_robust(problem).bytes < rd.plan_frontier(problem).bytes
    assert rd.plan_frontier(problem, most_directions=50).growth < rd.plan_frontier(problem).growth
