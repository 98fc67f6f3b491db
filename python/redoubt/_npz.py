"""Problems in numpy's .npz files: our own, which keep every bit, and the arrays that people have."""

from __future__ import annotations

import json
import os
import zipfile
from typing import Any

import numpy as np

from . import _core
from ._build import built, model_of, parts_of
from ._core import Error
from ._options import AnyPath
from ._transitions import Layout, read_transitions
from ._values import Values

_TRANSITIONS = ("P", "T", "transitions")
_REWARDS = ("reward", "R", "r")
_SPARSE = {"indptr", "indices", "data", "shape"}  # what scipy.sparse.save_npz writes
_SETS = {"tv": _core.TV, "chi2": _core.Chi2, "kl": _core.KL}


def load_npz(path: AnyPath) -> _core.Draft:
    """What the arrays of a file say. Values of arrays that are no transitions and no reward are signals."""
    arrays = _read(path)
    try:
        return _own_draft(arrays) if "redoubt" in arrays else _draft_of_arrays(arrays)
    except (Error, KeyError, ValueError, TypeError, IndexError) as error:
        text = f"{error.args[0]!r} is missing, must be there" if isinstance(error, KeyError) else error
        raise Error(f"{os.fspath(path)}: {text}") from None


def save_npz(draft: _core.Draft, path: AnyPath) -> None:
    """Every array of the model under its name in `Problem`; signals as "signal NAME", labels as "label NAME"."""
    layout, values = parts_of(draft.model)
    model, terms = draft.model, draft.terms
    arrays: dict[str, Any] = {
        "states": layout.states, "stages": layout.stages, "state_rows": layout.state_rows, "action": layout.action,
        "row_outcomes": layout.row_outcomes, "next": layout.next, "probability": layout.probability,
        "lower": model.lower, "upper": model.upper, "state_names": np.array(model.state_names, dtype=np.str_),
        "action_names": np.array(model.action_names, dtype=np.str_), "start": np.array(terms.start.states, dtype=np.int32),
        "start_probability": np.array(terms.start.probability),
    }  # fmt: skip
    for name, (row, outcome, arrival) in values.items():
        word = "reward" if name == "reward" else f"signal {name}"
        arrays |= {word: row, f"outcome {word}": outcome, f"arrival {word}": arrival}
    arrays |= {f"label {name}": np.array(states, dtype=np.int32) for name, states in model.labels}
    radius = getattr(terms.uncertainty, "radius", None)
    arrays["radius"] = np.atleast_1d(np.asarray(0.0 if radius is None else radius, dtype=np.float64))
    arrays["redoubt"] = np.str_(json.dumps(_terms_json(draft)))
    partial = f"{os.fspath(path)}.{os.getpid()}.unfinished.npz"
    try:
        np.savez_compressed(partial, **arrays)
        os.replace(partial, path)
    except OSError as error:
        raise Error(f"{os.fspath(path)}: {error.strerror}") from None
    finally:
        if os.path.exists(partial):
            os.remove(partial)


def _read(path: AnyPath) -> dict[str, np.ndarray]:
    try:
        size = os.path.getsize(path)
        with zipfile.ZipFile(path) as archive:
            unpacked, most = sum(member.file_size for member in archive.infolist()), 32_000_000 + 100 * size
        if unpacked > most:
            raise Error(f"{os.fspath(path)}: unpacks to {unpacked} bytes, must be at most {most}")
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except OSError as error:
        raise Error(f"{os.fspath(path)}: {error.strerror or error}") from None
    except (zipfile.BadZipFile, ValueError, EOFError, NotImplementedError, MemoryError) as error:
        raise Error(f"{os.fspath(path)}: is not a file of numpy arrays ({error})") from None


def _draft_of_arrays(arrays: dict[str, np.ndarray]) -> _core.Draft:
    if _SPARSE <= arrays.keys():
        import scipy.sparse

        P: Any = scipy.sparse.csr_array((arrays["data"], arrays["indices"], arrays["indptr"]), shape=tuple(arrays["shape"]))
        arrays = {name: values for name, values in arrays.items() if name not in _SPARSE | {"format"}}
    else:
        named = [name for name in _TRANSITIONS if name in arrays]
        if len(named) != 1:
            raise Error(f"has {', '.join(arrays) or 'no arrays'}, one must be called {', '.join(_TRANSITIONS)}")
        P = arrays.pop(named[0])
    order = str(arrays.pop("order")) if "order" in arrays else None
    layout = read_transitions(P, order, None, None)
    rewards = [name for name in _REWARDS if name in arrays]
    if len(rewards) > 1:
        raise Error(f"has {' and '.join(rewards)}, one must be the reward")
    terms = _core.Terms()
    if "discount" in arrays:
        terms.discount = float(arrays.pop("discount"))
    if "horizon" in arrays:
        terms.horizon = int(arrays.pop("horizon"))
    given = {"reward": Values("reward", arrays.pop(name), order) for name in rewards}
    given |= {name: Values(f"signal '{name}'", values, order) for name, values in arrays.items()}
    model = model_of(layout, given, {}, terms.horizon, ([], []), [])
    return _core.Draft(model, terms, bool(rewards))


def _terms_json(draft: _core.Draft) -> dict[str, Any]:
    terms = draft.terms
    uncertainty = terms.uncertainty
    return {
        "version": 1, "horizon": terms.horizon, "discount": terms.discount, "rewarded": draft.rewarded,
        "set": _core.uncertainty_name(uncertainty), "temperature": getattr(uncertainty, "temperature", None),
        "reach": getattr(getattr(uncertainty, "ball", uncertainty), "reach", None),
        "scope": getattr(uncertainty, "scope", "row"),
        "constraints": [[c.signal, c.sense, c.bound, c.probability] for c in terms.constraints],
        "helpful_nature": terms.helpful_nature, "groups": draft.model.groups, "helpful_groups": terms.helpful_groups,
        "factors": draft.model.factors,
        "objective": [terms.objective.signal, terms.objective.minimise],
    }  # fmt: skip


def _own_draft(arrays: dict[str, np.ndarray]) -> _core.Draft:
    said = json.loads(str(arrays["redoubt"]))
    if said["version"] != 1:
        raise Error(f"version {said['version']}, must be 1: the file is newer than this program")
    layout = Layout(
        states=int(arrays["states"]), stages=int(arrays["stages"]), actions=0,
        row_outcomes=arrays["row_outcomes"].astype(np.int64), next=arrays["next"].astype(np.int32),
        probability=arrays["probability"].astype(np.float64),
        some_rows=(arrays["state_rows"].astype(np.int64), arrays["action"].astype(np.int32)), groups=said.get("groups", 0),
        factors=said.get("factors", 0),
    )  # fmt: skip
    values = {}
    for word in ("reward", *(name for name in arrays if name.startswith("signal "))):
        name = word.removeprefix("signal ")
        values[name] = (arrays[word], arrays[f"outcome {word}"], arrays[f"arrival {word}"])
    labels = [(name[6:], array.tolist()) for name, array in arrays.items() if name.startswith("label ")]
    names = ([str(name) for name in arrays["state_names"]], [str(name) for name in arrays["action_names"]])
    model = built(layout, values, {}, None, names, labels, (arrays["lower"], arrays["upper"]))
    terms = _core.Terms()
    terms.horizon, terms.discount = said["horizon"], said["discount"]
    terms.start = _core.Start(arrays["start"].tolist(), arrays["start_probability"].tolist())
    make = {"at_most": _core.at_most, "at_least": _core.at_least}
    constraints = [(make[sense](signal, bound), q) for signal, sense, bound, q in said["constraints"]]
    terms.constraints = [c if q is None else _core.with_probability(c, q) for c, q in constraints]
    terms.uncertainty = _set_of(said, arrays["radius"])
    terms.helpful_nature = said["helpful_nature"]
    terms.helpful_groups = said.get("helpful_groups", False)
    if said["objective"][0]:
        terms.objective = _core.Objective(*said["objective"])
    return _core.Draft(model, terms, said["rewarded"])


def _set_of(said: dict[str, Any], radius: np.ndarray) -> Any:
    size = float(radius[0]) if len(radius) == 1 else radius
    if said["set"].startswith("interval-"):
        return _core.Composed(_set_of(said | {"set": said["set"].removeprefix("interval-")}, radius))
    if said["set"] == "tv":
        return _core.TV(size, said["reach"], said.get("scope"))
    if said["set"] in _SETS:
        return _SETS[said["set"]](size, said.get("scope"))
    if said["set"] == "tilt":
        return _core.Tilt(said["temperature"])
    return {"interval": _core.Interval, "none": _core.Nominal}[said["set"]]()
