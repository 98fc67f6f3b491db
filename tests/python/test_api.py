"""Every function and option of the C++ API is reachable from Python: the two lists are compared."""

import re
from pathlib import Path

import redoubt as rd
from redoubt import _core

HEADERS = Path(__file__).parents[2] / "include" / "redoubt"

# Functions of the library that Python reaches under another name, or through an object.
ELSEWHERE = {
    "name": "rd.Solution",  # statuses and sets are words in Python
    "scope_of": "rd.KL",  # its scope is a word
    "load": "rd.load",
    "read_csv": "rd.load",
    "write_csv": "rd.save",
    "write_terms": "rd.save",
    "read_umb": "rd.load",
    "write_umb": "rd.save",
    "read_drn": "rd.load",
    "write_drn": "rd.save",
    "write_drn_terms": "rd.save",
    "read_pomdp": "rd.load",
    "induced_model": "rd.to_storm",
    "read_prism": "rd.load",
    "write_prism": "rd.save",
    "write_pexp": "rd.save",
    "write_prism_terms": "rd.save",
    "is_known": "rd.Solution",  # what nobody knows is None in Python
    "for_each_choice": "rd.Policy.action_weights",
    "start_memory": "_core.Controller.start",
    "given_policy": "rd.Policy.export",
    "has_given_policy": "rd.Policy.export",
    "move_budget": "_core.Controller.observe",
    "estimate": "rd.estimate",
    "problem_simulator": "rd.estimate",
    "function_simulator": "rd.estimate",
    "external_simulator": "rd.estimate",
    "regular_shape": "rd.estimate",
    "composed": "rd.Composed",
    "learn": "rd.learn",
    "composed_problem": "rd.recorded",
    "estimate_factors": "rd.estimate",
    "composed_factors": "rd.recorded",
    "factored_shape": "rd.learn",
    "factor_simulator": "rd.learn",
}
# Options that Python takes as arguments of their own.
ARGUMENTS = {
    ("Execution", "progress"),
    ("LearnOptions", "round"),
    ("LearnOptions", "method"),
    ("Execution", "planned"),  # rd.plan_rcvi
    ("Execution", "clock"),  # tests go by a clock of their own
    *(("RecordedOptions", name) for name in ("states", "actions", "terminal", "unvisited", "objective")),
}


def declarations():
    """The text of each public header, without comments and directives."""
    for header in sorted(HEADERS.glob("*.h")):
        yield re.sub(r"//[^\n]*|^#[^\n]*", "", header.read_text(), flags=re.MULTILINE)


def outside_of_braces(text):
    text = re.sub(r"namespace \w+ \{|template <[^>]*>", "", text)
    while (shorter := re.sub(r"\{[^{}]*\}", ";", text)) != text:
        text = shorter
    return text


def functions():
    found = set()
    for text in declarations():
        for statement in outside_of_braces(text).split(";"):
            match = re.search(r"^\s*[\w:<>,&*\s]+[\s&*](\w+)\(", statement)
            if match and not re.search(r"\b(struct|class|using|static_assert|constexpr)\b", statement):
                found.add(match[1])
    return found


def options():
    found = set()
    for text in declarations():
        for struct, body in re.findall(r"struct (\w*Options|Terms|Execution) \{(.*?)\n\};", text, re.DOTALL):
            for statement in re.sub(r"\{[^{}]*\}", "", body).split(";"):
                match = re.search(r"^\s*[\w:<>,\s]+(?:\([^)]*\)>)?\s+(\w+)\s*(=|$)", statement.rstrip())
                if match and "operator" not in statement:
                    found.add((struct, match[1]))
    return found


def test_the_headers_are_read():
    assert {"rcvi", "evaluate", "make", "save", "markov_policy", "simulate"} <= functions()
    assert {("RcviOptions", "budget_step"), ("Execution", "progress"), ("Terms", "uncertainty")} <= options()


def test_every_function_is_reachable():
    missing = {name for name in functions() if not hasattr(_core, name) and name not in ELSEWHERE}
    assert not missing
    for target in ELSEWHERE.values():
        assert eval(target, {"rd": rd, "_core": _core})


def test_the_list_of_other_names_is_not_stale():
    assert {*ELSEWHERE} <= functions()
    assert options() >= ARGUMENTS


def test_every_option_is_a_keyword():
    missing = {
        (struct, field) for struct, field in options() - ARGUMENTS if not hasattr(getattr(_core, struct, None), field)
    }
    assert not missing


def test_every_public_name_exists_and_is_documented():
    for name in rd.__all__:
        thing = getattr(rd, name)
        assert name == "__version__" or (thing.__doc__ and thing.__doc__.strip()), name


def test_every_public_name_is_in_the_reference():
    page = (HEADERS.parents[1] / "docs" / "api.md").read_text()
    named = {*re.findall(r"::: redoubt\.(\w+)", page), *re.findall(r"`(\w+)", page)}
    assert {*rd.__all__} - named == {"__version__", "Error"}
