"""What a prompt and a notebook show: values and their names, never the address of an object."""

import re
from xml.etree import ElementTree

import numpy as np
import redoubt as rd

PROBLEM = rd.make("river_swim(horizon=5,start=3)")
SOLUTION = rd.solve(PROBLEM, "rcvi")


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


def public_values():
    """One value of each public type."""
    comparison = rd.compare(PROBLEM, ["rcvi", "robust"])
    kernel = rd.worst_kernel(PROBLEM, rd.solve(PROBLEM, "robust"))
    simulation = rd.simulate(PROBLEM, SOLUTION, episodes=10)
    system = rd.abstract(rd.affine([[0.5]]), noise=rd.Uniform([0.1]), domain=[(0, 1)], cells=4, actions=[0], start=[0.6],
                         horizon=1)  # fmt: skip
    answer = system.solve()
    of_gymnasium = rd.abstract_gymnasium("MountainCarContinuous-v0", cells=[3, 3], start=[-0.5, 0.0], samples=0, horizon=1,
                                         actions=[[1.0]], goal=[[(0.45, 0.7), None]])  # fmt: skip
    asked = []
    estimated = rd.estimate(lambda query: asked.append(query) or 0, samples=1, states=1, actions=1, horizon=1)
    return [
        PROBLEM, SOLUTION, SOLUTION.policy, SOLUTION.policy.start(), SOLUTION.policy.budget[0], SOLUTION.reward,
        SOLUTION.constraints[0], PROBLEM.constraints[0], comparison, comparison.lines[0], simulation, simulation.reward,
        rd.evaluate(PROBLEM, SOLUTION), rd.achievable_range(PROBLEM), rd.plan_rcvi(PROBLEM), rd.plan_robust(PROBLEM),
        rd.environments()[0], rd.environments()[0].parameters[0], kernel, kernel.at(3, 0), kernel.rows(), estimated,
        asked[0], rd.Queries(*[np.zeros(3)] * 4), rd.GymController(SOLUTION), rd.samples_needed(PROBLEM, epsilon=0.5),
        rd.Shield(rd.solve(PROBLEM)), rd.learn(rd.make("fork"), epsilon=0.5),
        rd.solve_partially(initial=0, actions=lambda x: ["on"], step=lambda x, action: [(1.0, x + 1, 0.5)],
                           ranges={"reward": (0, 1)}, discount=0.5),
        rd.aggregate(PROBLEM.replace(constraints=[]), range(PROBLEM.states)),
        rd.aggregate(PROBLEM.replace(constraints=[]), range(PROBLEM.states)).solve(),
        system, of_gymnasium, answer, answer.controller(), answer.simulate(3), rd.Range(0, 1), rd.Gaussian([0.1]), rd.Uniform([0.1]),
        rd.SampledNoise(np.zeros((10, 1))),
        rd.Nominal(), rd.TV(0.1), rd.Chi2(0.1), rd.KL([0.1, 0.2]), rd.Tilt(1.0), rd.Interval(0.1, 0.9), rd.Composed(rd.KL(0.1)),
    ]  # fmt: skip


def test_every_public_type_has_a_text_and_a_table_for_notebooks():
    values = public_values()
    types = {thing for thing in vars(rd).values() if isinstance(thing, type) and thing is not rd.Error}
    assert types == {type(value) for value in values}
    for value in values:
        assert "object at 0x" not in repr(value), repr(value)
        html = value._repr_html_()
        ElementTree.fromstring(html)  # one element, closed
        assert html.startswith(("<table>", "<code>")) and "object at 0x" not in html


def test_names_of_users_are_escaped():
    nasty = "<b>&\"'"
    problem = rd.Problem([[[1.0]]], reward=1, signals={nasty: 1}, constraints=[rd.at_most(nasty, 9)], horizon=1,
                         states=[nasty], actions=[nasty])  # fmt: skip
    solution = rd.solve(problem, "frontier")
    comparison = rd.compare(problem, {nasty: {"method": "robust"}})
    simulation = rd.simulate(problem, solution, episodes=1)
    for value in (problem, solution, solution.policy, comparison, problem.constraints[0], solution.constraints[0],
                  simulation, comparison.lines[0]):  # fmt: skip
        html = value._repr_html_()
        assert ("<b>" not in html and "&lt;b&gt;&amp;" in html) or value is solution.policy
        ElementTree.fromstring(html)


def test_sets_are_shown_as_they_are_made():
    for made in (
        "TV(0.1, reach='anywhere')",
        "TV([0.1, 0.2], reach='support')",
        "Chi2(0.5)",
        "KL([0.1, 0.2])",
        "Nominal()",
    ):
        assert repr(eval(made, vars(rd))) == made
    assert repr(rd.KL(np.full(100, 0.1))) == "KL(<100 values>)"
