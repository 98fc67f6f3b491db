"""Every public function and type has an example, and examples show what really happens."""

import doctest
import inspect

import matplotlib as mpl
import numpy as np
import pytest
import redoubt as rd

mpl.use("Agg")


def documented():
    """Public names, and public methods that the package itself defines."""
    drawing = {name for name, thing in vars(rd.plots).items() if getattr(thing, "__module__", "") == rd.plots.__name__}
    found = {f"redoubt.{name}": getattr(rd, name) for name in rd.__all__ if name not in ("__version__", "plots")}
    return found | {f"redoubt.plots.{name}": getattr(rd.plots, name) for name in sorted(drawing) if not name.startswith("_")}


def examples():
    for name, thing in documented().items():
        yield name, thing.__doc__
        if inspect.isclass(thing):
            for method, function in vars(thing).items():
                if not method.startswith("_") and ">>>" in (getattr(function, "__doc__", "") or ""):
                    yield f"{name}.{method}", function.__doc__


def test_every_public_function_and_type_has_an_example():
    assert len(documented()) > 60
    assert [name for name, thing in documented().items() if ">>>" not in (thing.__doc__ or "")] == []


@pytest.mark.parametrize("name, text", list(examples()), ids=lambda value: value if "\n" not in value else "")
def test_examples_are_true(name, text, tmp_path):
    if "stormpy" in text:
        pytest.importorskip("stormpy", reason="no wheel for this platform")
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
    names = {"rd": rd, "np": np, "folder": tmp_path}
    test = doctest.DocTestParser().get_doctest(inspect.cleandoc(text), names, name, None, None)
    said = []
    failed = doctest.DocTestRunner(optionflags=flags).run(test, out=said.append).failed
    assert not failed, "".join(said)
