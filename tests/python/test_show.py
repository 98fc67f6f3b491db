"""What a prompt and a notebook show: values and their names, never the address of an object."""

import re

import redoubt as rd

PROBLEM = rd.make("river_swim(horizon=5,start=3)")
SOLUTION = rd.solve(PROBLEM)


def test_every_value_that_a_user_meets_has_a_text():
    shown = [
        PROBLEM, SOLUTION, SOLUTION.reward, SOLUTION.constraints, SOLUTION.policy, PROBLEM.constraints, PROBLEM.terms,
        rd.simulate(PROBLEM, SOLUTION, episodes=10), rd.evaluate(PROBLEM, SOLUTION), rd.achievable_range(PROBLEM),
        rd.plan_rcvi(PROBLEM), rd.plan_robust(PROBLEM), rd.plan_frontier(PROBLEM), rd.environments(),
        rd.worst_kernel(PROBLEM, SOLUTION, "reward").at(3, 0),
        rd.samples_needed(PROBLEM.replace(uncertainty=rd.TV(0.1)), epsilon=0.5, delta=0.05),
        rd.compare(PROBLEM, ["rcvi", "robust"]), rd.methods(),
    ]  # fmt: skip
    for thing in shown:
        assert not re.search(r"object at 0x|-0[,)]", repr(thing)), repr(thing)


def test_constraints_are_shown_as_they_are_made():
    for made in ("at_most('cost', 4)", "at_least('cost', 0.5)", "chance('cost', at_most=3, probability=0.9)"):
        constraint = eval(made, vars(rd))
        assert repr(constraint) == made


def test_values_show_their_fields():
    span = rd.achievable_range(PROBLEM)
    assert repr(span) == f"AchievableRange(best={span.best:.6g}, worst={span.worst:.6g})"
    assert "totals=<10 values>" in repr(rd.simulate(PROBLEM, SOLUTION, episodes=10))


def test_a_comparison_is_a_table():
    comparison = rd.compare(PROBLEM, ["rcvi", "robust"])
    lines = repr(comparison).splitlines()
    assert [line.split()[0] for line in lines] == ["status", "rcvi", "robust", "no"]
    assert f"{comparison.solutions['rcvi'].reward.worst:.6g}" in lines[1]
    assert comparison._repr_html_().count("<tr>") == 3
