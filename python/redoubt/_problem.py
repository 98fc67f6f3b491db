"""Problem: a model and the terms it is solved under."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import _core, _show
from ._build import bounds_of, model_of, with_bounds
from ._core import Error
from ._transitions import as_int32, read_transitions
from ._values import Values


class _Absent:
    """Stands for an argument that was not given, where None means something."""

    def __repr__(self) -> str:
        return "(not given)"


ABSENT = _Absent()


def objective_of(reward, minimise: str | None) -> _core.Objective:
    """What `reward` and `minimise` choose: a signal by its name, or None or "none", which is no reward at all."""
    if minimise is not None:
        if reward is not ABSENT:
            raise Error(f"reward and minimise = {minimise!r}, must be one of them")
        return _core.Objective(str(minimise), True)
    if reward is None or (isinstance(reward, str) and reward == "none"):
        return _core.Objective(none=True)
    return _core.Objective(reward) if isinstance(reward, str) else _core.Objective()


def chance(signal: str, *, at_least: float | None = None, at_most: float | None = None, probability: float):
    """The total of the signal itself must keep the bound with at least this probability in the worst case."""
    if (at_least is None) == (at_most is None):
        raise Error(f"chance constraint on {signal!r}, must have one of at_least and at_most")
    bounded = _core.at_least(signal, at_least) if at_most is None else _core.at_most(signal, at_most)
    return _core.with_probability(bounded, probability)


class Problem(_core.Problem):
    """A robust constrained Markov decision problem; immutable, and cheap to copy.

    Args:
        P: transition probabilities. An array (S, A, S) or (A, S, S), with a leading axis of length `horizon` when
            they depend on the stage; a scipy sparse matrix (S*A, S) with row s*A + a, or a list of them, one for
            each stage; a dict P[state][action] of {next: p} or [(p, next), ...]; or a list of transitions
            (state, action, next, p) or dicts that may also have "reward", "signals" and "stage". The last two
            forms may leave out actions; a state without any is terminal.
        reward: a number, an array (S,), (S, A), (S, A, S), with a leading axis of length `horizon` when it depends
            on the stage, a sparse matrix like P, or a function of (state, action, next); or the name of the signal
            that is to be maximised. None says that there is no reward, and that this is meant.
        signals: what constraints speak of, by name, each given like the reward, or as a set of states, which
            counts arrivals in it.
        constraints: made by `at_least`, `at_most` and `chance`.
        uncertainty: how far nature may move each row: `TV`, `Chi2`, `KL`, `Tilt`, `Interval` or `Nominal`.
        horizon: number of decisions; None is infinite, which needs a discount below one.
        discount: in (0, 1].
        start: a state, a distribution over all states, or a dict {state: probability}.
        minimise: in place of a reward, the name of the signal that is to be minimised.
        order: "sas" or "ass" when P, or an array over outcomes, has three equal axes.
        states: number or list of names of the states.
        actions: list of names of the actions.

    Raises:
        Error: when something breaks a rule; the text names the thing, its value and the rule.
    """

    def __init__(
        self,
        P,
        reward: Any = ABSENT,
        *,
        minimise: str | None = None,
        signals: Mapping[str, Any] | None = None,
        constraints: Sequence[_core.Constraint] = (),
        uncertainty=None,
        horizon: int | None = None,
        discount: float = 1.0,
        start: Any = 0,
        order: str | None = None,
        states: int | Sequence[str] | None = None,
        actions: Sequence[str] | None = None,
    ):
        uncertainty = _core.Nominal() if uncertainty is None else uncertainty
        layout = read_transitions(P, order, states, actions)
        objective = objective_of(reward, minimise)
        numbers = reward is not ABSENT and not objective.chosen
        given = {"reward": Values("reward", reward, order)} if numbers else {}
        if "reward" in (signals or {}):
            raise Error("signal 'reward', must have another name")
        given |= {name: Values(f"signal '{name}'", values, order) for name, values in (signals or {}).items()}
        state_names = list(states) if isinstance(states, Sequence) else []
        names = (state_names, [] if actions is None else list(actions))
        rewarded = numbers or "reward" in layout.extra
        model = model_of(layout, given, bounds_of(uncertainty, order), horizon, names)
        model = _core.with_objective(model, objective, rewarded)
        terms = terms_of(_core.Terms(), model, horizon=horizon, discount=discount, start=start,
                       constraints=constraints, uncertainty=uncertainty)  # fmt: skip
        super().__init__(model, terms)

    @classmethod
    def _adopt(cls, problem: _core.Problem) -> Problem:
        adopted = cls.__new__(cls)
        _core.Problem.__init__(adopted, problem)
        return adopted

    def replace(self, *, order: str | None = None, **terms) -> Problem:
        """The same model under other terms: horizon, discount, start, constraints, uncertainty; or with another reward,
        a signal by its name: `reward` or `minimise`.

        An `Interval` with bounds is for the outcomes of this problem, and for those of probability zero that its `hi`
        allows; `order` says how arrays with three equal axes are meant, as for `Problem`.
        """
        bounds = bounds_of(terms.get("uncertainty"), order)
        model = with_bounds(self.model, bounds, terms.get("horizon", self.horizon)) if bounds else self.model
        model = _chosen(model, terms)
        return Problem._adopt(_core.Problem(model, terms_of(self.terms, model, **terms)))

    def reorder(self) -> Problem:
        """The same problem with its states numbered so that rows lead to near ones.

        Work on a large model that was numbered badly takes less time so. A state without a name gets its old number
        as its name: `int(problem.reorder().state_names[s])` is what state `s` was.
        """
        return Problem._adopt(_core.reorder(self))

    # What the problem is.
    @property
    def states(self) -> int:
        return self.model.states

    @property
    def actions(self) -> int:
        return self.model.actions

    @property
    def rows(self) -> int:
        """Number of (stage, state, action)."""
        return self.model.rows

    @property
    def outcomes(self) -> int:
        return self.model.outcomes

    @property
    def stages(self) -> int:
        """1 when rows are the same at every stage."""
        return self.model.stages

    @property
    def state_names(self) -> list[str]:
        return self.model.state_names

    @property
    def action_names(self) -> list[str]:
        return self.model.action_names

    @property
    def horizon(self) -> int | None:
        return self.terms.horizon

    @property
    def discount(self) -> float:
        return self.terms.discount

    @property
    def start(self) -> np.ndarray:
        """The distribution over states in which an episode begins."""
        distribution = np.zeros(self.states)
        distribution[self.terms.start.states] = self.terms.start.probability
        return distribution

    @property
    def constraints(self) -> list[_core.Constraint]:
        return self.terms.constraints

    @property
    def uncertainty(self):
        return self.terms.uncertainty

    # The arrays of the model, without copies and read-only: rows are ordered by stage, state and action.
    @property
    def state_rows(self) -> np.ndarray:
        """Rows of (stage, state): from entry stage * states + state to the next one."""
        return self.model.state_rows

    @property
    def action(self) -> np.ndarray:
        """The action number of each row."""
        return self.model.action

    @property
    def row_outcomes(self) -> np.ndarray:
        """Outcomes of a row: from its entry to the next one."""
        return self.model.row_outcomes

    @property
    def next(self) -> np.ndarray:
        """The next state of each outcome."""
        return self.model.next

    @property
    def probability(self) -> np.ndarray:
        """The nominal probability of each outcome."""
        return self.model.probability

    @property
    def reward(self) -> np.ndarray:
        """The reward of each row."""
        return _filled(self.model.reward, self.rows)

    @property
    def outcome_reward(self) -> np.ndarray:
        """What each outcome adds to the reward of its row."""
        return _filled(self.model.outcome_reward, self.outcomes)

    @property
    def signals(self) -> dict[str, np.ndarray]:
        """The value of each signal for each row."""
        return {name: _filled(self.model.signal(i), self.rows) for i, name in enumerate(self.model.signal_names)}

    @property
    def outcome_signals(self) -> dict[str, np.ndarray]:
        """What each outcome adds to each signal of its row."""
        return {
            name: _filled(self.model.outcome_signal(i), self.outcomes) for i, name in enumerate(self.model.signal_names)
        }

    @property
    def lower(self) -> np.ndarray:
        """Lower bound of each outcome's probability; empty without intervals."""
        return self.model.lower

    @property
    def upper(self) -> np.ndarray:
        """Upper bound of each outcome's probability; empty without intervals."""
        return self.model.upper

    def row_of(self, state: int, action: int, stage: int = 0) -> int:
        """The number of the row of (stage, state, action)."""
        if not 0 <= state < self.states:
            raise Error(f"state {state}, must be in 0..{self.states - 1}")
        if stage < 0 or (self.horizon is not None and stage >= self.horizon):
            raise Error(f"stage {stage}, must be in 0..{'' if self.horizon is None else self.horizon - 1}")
        slot = min(stage, self.stages - 1) * self.states + state
        first, end = self.state_rows[slot], self.state_rows[slot + 1]
        own = self.action[first:end]
        place = int(np.searchsorted(own, action))
        if place == len(own) or own[place] != action:
            raise Error(f"action {action} of state {state}, must be one of {', '.join(map(str, own)) or 'none'}")
        return int(first) + place

    def transition_matrix(self):
        """The nominal probabilities as a scipy CSR array with one row for each row; the values are not copied."""
        import scipy.sparse

        return scipy.sparse.csr_array(
            (self.probability, self.next, self.row_outcomes), shape=(self.rows, self.states), copy=False
        )

    def __repr__(self) -> str:
        return _show.problem_text(self)

    def _repr_html_(self) -> str:
        return _show.problem_html(self)

    def __reduce__(self):
        return _from_json, (_core.write_json(self),)


def make(id: str, **terms) -> Problem:
    """A built-in problem by its id, such as "river_swim(horizon=10,start=2)"; terms replace its own."""
    return _replaced(Problem._adopt(_core.make(id)), terms)


def load(path: str | os.PathLike, **terms) -> Problem:
    """The problem in a .json, .csv or .umb file; terms replace or complete what the file says.

    Where nothing in the file is called the reward, `reward` or `minimise` names the signal that is to be maximised or
    minimised; reward=None says that there is none.
    """
    draft = _core.load_draft(path)
    try:
        model = _chosen(draft.model, terms, draft.rewarded)
        return Problem._adopt(_core.Problem(model, terms_of(draft.terms, model, **terms)))
    except Error as error:
        raise Error(f"{os.fspath(path)}: {error}") from None


def save(problem: Problem, path: str | os.PathLike, *, uncompressed: bool = False) -> None:
    """Writes the whole file or none of it; the ending of the path chooses the format. A .umb file that is written
    uncompressed can be read by several ranks together, each its own part."""
    _core.save(problem, path, uncompressed)


def environments() -> list[_core.EnvironmentInfo]:
    """The built-in problems, with their parameters."""
    return _core.environments()


def _chosen(model: _core.Model, terms: dict, rewarded: bool = True) -> _core.Model:
    """The model with the reward that `terms` choose by `reward` or `minimise`, which are taken out of them."""
    objective = objective_of(terms.pop("reward", ABSENT), terms.pop("minimise", None))
    return _core.with_objective(model, objective, rewarded)


def _replaced(problem: Problem, terms: dict) -> Problem:
    return problem.replace(**terms) if terms else problem


def _from_json(text: str) -> Problem:
    return Problem._adopt(_core.read_json(text, "pickle"))


def _filled(values: np.ndarray, count: int) -> np.ndarray:
    """The library leaves out arrays that are zero throughout."""
    return values if len(values) else np.broadcast_to(0.0, count)


_TERMS = {
    "horizon": "a whole number, or None",
    "discount": "a number",
    "start": "a state, or a distribution over states",
    "constraints": "a list of constraints, made by at_least, at_most or chance",
    "uncertainty": "one of TV, Chi2, KL, Tilt, Interval and Nominal, as in KL(0.05)",
}


def terms_of(base: _core.Terms, model: _core.Model, **given) -> _core.Terms:
    terms = _core.Terms(base)
    for name, value in given.items():
        if name not in _TERMS:
            raise Error(f"unknown term {name!r}, must be one of {', '.join(_TERMS)}")
        if name == "start":
            value = _start(value, model)
        elif name == "constraints":
            value = list(value)
        try:
            setattr(terms, name, value)
        except TypeError:
            raise Error(f"{name} = {value!r} of type {type(value).__name__}, must be {_TERMS[name]}") from None
    return terms


def _start(start, model: _core.Model) -> _core.Start:
    if isinstance(start, _core.Start):
        return start
    names = {name: number for number, name in enumerate(model.state_names)}
    if isinstance(start, Mapping):
        states = as_int32([names.get(state, state) for state in start], "start")
        return _core.Start(states.tolist(), [float(p) for p in start.values()])
    if isinstance(start, str):
        if start not in names:
            raise Error(f"start = {start!r}, the model has no state of that name")
        return _core.Start(names[start])
    array = np.asarray(start)
    if array.ndim == 0:
        return _core.Start(as_int32(array, "start").item())
    if array.shape != (model.states,):
        raise Error(f"start has shape {array.shape}, must be a state or one probability for each of {model.states}")
    states = np.flatnonzero(array)
    return _core.Start(states.tolist(), array[states].astype(np.float64).tolist())
