"""Problem: a model and the terms it is solved under."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from . import _core, _show
from ._build import Uncertainty, bounds_of, model_of, with_bounds
from ._core import Error
from ._factors import around_factors, read_factors
from ._groups import group_names
from ._labels import labels_of
from ._options import named_options
from ._terms import ABSENT, Absent, AnySet, Constraints, Discount, Horizon, is_helpful, objective_of, terms_of
from ._transitions import read_transitions
from ._values import Values

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Adopted = TypeVar("Adopted", bound="Problem")


@named_options
def chance(
    signal: str, *, at_least: float | None = None, at_most: float | None = None, probability: float
) -> _core.Constraint:
    """The total of the signal itself must keep the bound with at least this probability in the worst case.

    >>> rd.chance("cost", at_most=4, probability=0.9)
    chance('cost', at_most=4, probability=0.9)
    """
    if (at_least is None) == (at_most is None):
        raise Error(f"chance constraint on {signal!r}, must have one of at_least and at_most")
    bounded = _core.at_most(signal, at_most) if at_most is not None else _core.at_least(signal, at_least or 0.0)
    return _core.with_probability(bounded, probability)


class Problem(_core.Problem):
    """A robust constrained Markov decision problem; immutable, and cheap to copy.

    Args:
        P: transition probabilities. An array (S, A, S) or (A, S, S), with a leading axis of length `horizon` when
            they depend on the stage; a scipy sparse matrix (S*A, S) with row s*A + a, or a list of them, one for
            each stage; a dict P[state][action] of {next: p} or [(p, next), ...]; or a list of transitions
            (state, action, next, p) or dicts that may also have "reward", "signals" and "stage". The last two
            forms may leave out actions; a state without any is terminal, and a tuple of states as next is a group.
        reward: a number, an array (S,), (S, A), (S, A, S), with a leading axis of length `horizon` when it depends
            on the stage, a sparse matrix like P, or a function of (state, action, next); or the name of the signal
            or the goal (`reach`, `until`, ...) that is to be maximised. None says that there is no reward, and that this is meant.
        signals: what constraints speak of, by name, each given like the reward, as a function of (state, action, next,
            reward), as a set of states, which counts arrivals in it, or by `on_arrival`. With `TV` and reach anywhere nature may land in states that a
            row does not list: there, sets, `on_arrival` and functions that look at the next state alone earn what
            the state gives; every other signal earns the row's own value.
        constraints: made by `at_least`, `at_most` and `chance`, of a signal or of a goal, such as `reach("goal")`.
        uncertainty: how far nature may move each row: `TV`, `Chi2`, `KL`, `Tilt`, `Interval`, `Composed` or
            `Nominal`.
        horizon: number of decisions; None is infinite, which needs a discount below one.
        discount: in (0, 1].
        start: a state, a distribution over all states, or a dict {state: probability}.
        minimise: in place of a reward, the name of the signal that is to be minimised.
        order: "sas" or "ass" when P, or an array over outcomes, has three equal axes.
        states: number or list of names of the states.
        actions: list of names of the actions.
        rows_per_state: where states have different numbers of actions and P is a sparse matrix of their rows: the rows of
            state s are rows_per_state[s] up to rows_per_state[s + 1]. Rewards and signals may then be one for each row.
        features: in place of P, where rows are mixtures of factors: the weight of each factor in each row, an array (S, A, K)
            or sparse (S*A, K), with a leading axis or as a list where they depend on the stage. Each row sums to one.
        factors: with features: the distributions that rows share, (K, S). The uncertainty set is around each of them: a
            radius is one number or one for each factor, bounds of an `Interval` have the shape of the factors.
        labels: named sets of states: each a list or set of states, by number or name, a mask with one truth value
            for each state, or a function of the state's number.

    Raises:
        Error: when something breaks a rule; the text names the thing, its value and the rule.

    >>> P = [[[0.8, 0.2], [1.0, 0.0]], [[0.1, 0.9], [0.7, 0.3]]]  # P[state][action][next state]
    >>> problem = rd.Problem(P, reward=[[1, 0], [3, 0]], signals={"wear": [[0, 0], [1, 0.2]]}, order="sas",
    ...                      constraints=[rd.at_most("wear", 3)], uncertainty=rd.KL(0.05), horizon=10)
    >>> problem
    redoubt.Problem
      states:      2
      actions:     2
      rows:        4 with 7 outcomes
      horizon:     10
      discount:    1
      start:       0
      signals:     wear
      constraint:  wear <= 3
      uncertainty: KL(0.05)
    """

    @named_options
    def __init__(
        self,
        P: Any = None,
        reward: Any = ABSENT,
        *,
        minimise: str | None = None,
        signals: Mapping[str, Any] | None = None,
        constraints: Sequence[_core.Constraint] = (),
        uncertainty: Uncertainty | None = None,
        horizon: int | None = None,
        discount: float = 1.0,
        start: Any = 0,
        order: str | None = None,
        states: int | Sequence[str] | None = None,
        actions: Sequence[str] | None = None,
        labels: Mapping[str, Any] | None = None,
        rows_per_state: ArrayLike | None = None,
        features: Any = None,
        factors: Any = None,
    ) -> None:
        bounds, intervals = bounds_of(uncertainty, order), None
        if features is None and factors is None:
            layout = read_transitions(P, order, states, actions, rows_per_state)
        elif P is not None or rows_per_state is not None:
            raise Error("features and factors with P or rows_per_state, must be without: rows are mixtures of factors")
        else:
            layout, intervals = read_factors(features, factors, uncertainty)
            bounds = {}
        objective = objective_of(reward, minimise)
        numbers = reward is not ABSENT and not objective.chosen
        given = {"reward": Values("reward", reward, order)} if numbers else {}
        if "reward" in (signals or {}):
            raise Error("signal 'reward', must have another name")
        given |= {name: Values(f"signal '{name}'", values, order) for name, values in (signals or {}).items()}
        state_names = list(states) if isinstance(states, Sequence) else []
        labelled = labels_of(labels, layout.ordinary, state_names)
        names = (state_names + group_names(layout, state_names), [] if actions is None else list(actions))
        rewarded = numbers or "reward" in layout.extra
        model = model_of(layout, given, bounds, horizon, names, labelled, intervals)
        terms = terms_of(_core.Terms(), model, horizon=horizon, discount=discount, start=start,
                       constraints=constraints, uncertainty=around_factors(uncertainty, model))  # fmt: skip
        super().__init__(_core.pose(_core.Draft(model, terms, rewarded), objective))

    @classmethod
    def _adopt(cls: type[Adopted], problem: _core.Problem) -> Adopted:
        adopted = cls.__new__(cls)
        _core.Problem.__init__(adopted, problem)
        return adopted

    @named_options
    def replace(
        self, *, constraints: Constraints = ABSENT, uncertainty: AnySet = ABSENT, horizon: Horizon = ABSENT,
        discount: Discount = ABSENT, start: Any = ABSENT, reward: str | Absent | None = ABSENT,
        minimise: str | None = None, nature: str | None = None, groups: str | None = None, order: str | None = None,
    ) -> Problem:  # fmt: skip
        """The same model under other terms: constraints, uncertainty, horizon, discount, start; or with another reward,
        a signal by its name: `reward` or `minimise`. With `nature="helpful"` worst cases are best cases, "adversarial" is
        the other way round: without constraints `solve` then has the other end of the range over the set. With
        `groups="helpful"` the policy picks the members of groups, with "adversarial" nature does.

        An `Interval` with bounds is for the outcomes of this problem, and for those of probability zero that its `hi`
        allows; `order` says how arrays with three equal axes are meant, as for `Problem`.

        >>> problem = rd.make("river_swim(horizon=10,start=3)")
        >>> shorter = problem.replace(horizon=5, uncertainty=rd.TV(0.1))
        >>> shorter.horizon, shorter.uncertainty, shorter.constraints == problem.constraints
        (5, TV(0.1, reach='anywhere'), True)
        """
        bounds = {} if isinstance(uncertainty, Absent) else bounds_of(uncertainty, order)
        given = self.given
        if bounds and given.model.factors:
            raise Error("Interval with bounds for a problem with factors, must be given to Problem, with the factors")
        new_horizon = given.terms.horizon if isinstance(horizon, Absent) else horizon
        model = with_bounds(given.model, bounds, new_horizon) if bounds else given.model
        terms = terms_of(given.terms, model, constraints=constraints, uncertainty=around_factors(uncertainty, model), horizon=horizon,
                         discount=discount, start=start)  # fmt: skip
        if nature is not None:
            terms.helpful_nature = is_helpful("nature", nature)
        if groups is not None:
            terms.helpful_groups = is_helpful("groups", groups)
        return Problem._adopt(_core.pose(_core.Draft(model, terms), objective_of(reward, minimise)))

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
    def labels(self) -> dict[str, NDArray[np.int32]]:
        """The states of each label, in increasing order.

        >>> rd.make("grid(size=3)").labels["goal"]
        array([8], dtype=int32)
        """
        return {name: np.array(states, dtype=np.int32) for name, states in self.model.labels}

    @property
    def given_state(self) -> NDArray[np.int32]:
        """The state of the model as it was given that each state stands for.

        They differ where a constraint or the reward speaks of a goal and it must be remembered whether it is decided.

        >>> problem = rd.make("river_swim(horizon=10)", constraints=[rd.at_least(rd.reach("goal"), 0.2)], start=0)
        >>> problem.states, problem.state_names[-1], int(problem.given_state[-1])
        (11, 's5 after goal', 5)
        """
        return np.array(self.given_states or range(self.states), dtype=np.int32)

    @property
    def groups(self) -> list[NDArray[np.int32]]:
        """The members of each group that outcomes lead to. With groups a decision takes two stages: `horizon` is twice that of `given`.

        >>> problem = rd.Problem([(0, 0, (1, 2), 1.0), (1, 0, 1, 1.0), (2, 0, 2, 1.0)], [0, 5, 3], horizon=2)
        >>> problem.groups, rd.solve(problem).reward.worst, rd.solve(problem.replace(groups="helpful")).reward.worst
        ([array([1, 2], dtype=int32)], 3.0, 5.0)
        """
        model = self.given.model
        first = model.state_rows[model.states - model.groups : model.states]
        return [model.next[model.row_outcomes[row] : model.row_outcomes[row + 1]] for row in first]

    @property
    def factors(self) -> Any:
        """The nominal factors that rows are mixtures of, as a scipy CSR array (K, S); None without. With factors a decision takes
        two stages: `horizon` is twice that of `given`.

        >>> problem = rd.Problem(features=[[[0.5, 0.5]], [[0.0, 1.0]]], factors=[[1.0, 0.0], [0.2, 0.8]], reward=[0.0, 1.0],
        ...                      uncertainty=rd.TV(0.1, reach="support"), horizon=2)
        >>> problem.factors.shape, round(rd.solve(problem).reward.worst, 6)  # 0.5 * 0 + 0.5 * (0.8 - 0.1)
        ((2, 2), 0.35)
        """
        import scipy.sparse

        model = self.given.model
        if model.factors == 0:
            return None
        first = model.state_rows[model.ordinary]
        offsets = model.row_outcomes[first : first + model.factors + 1]
        listed = slice(offsets[0], offsets[-1])
        shape = (model.factors, model.ordinary)
        return scipy.sparse.csr_array((model.probability[listed], model.next[listed], offsets - offsets[0]), shape=shape)

    @property
    def horizon(self) -> int | None:
        return self.terms.horizon

    @property
    def discount(self) -> float:
        return self.terms.discount

    @property
    def start(self) -> NDArray[np.float64]:
        """The distribution over states in which an episode begins."""
        distribution = np.zeros(self.states)
        distribution[self.terms.start.states] = self.terms.start.probability
        return distribution

    @property
    def constraints(self) -> list[_core.Constraint]:
        return self.terms.constraints

    @property
    def uncertainty(self) -> Uncertainty:
        return self.terms.uncertainty

    # The arrays of the model, without copies and read-only: rows are ordered by stage, state and action.
    @property
    def state_rows(self) -> NDArray[np.int64]:
        """Rows of (stage, state): from entry stage * states + state to the next one."""
        return self.model.state_rows

    @property
    def action(self) -> NDArray[np.int32]:
        """The action number of each row."""
        return self.model.action

    @property
    def row_outcomes(self) -> NDArray[np.int64]:
        """Outcomes of a row: from its entry to the next one."""
        return self.model.row_outcomes

    @property
    def next(self) -> NDArray[np.int32]:
        """The next state of each outcome."""
        return self.model.next

    @property
    def probability(self) -> NDArray[np.float64]:
        """The nominal probability of each outcome."""
        return self.model.probability

    @property
    def reward(self) -> NDArray[np.float64]:
        """The reward of each row."""
        return _filled(self.model.reward, self.rows)

    @property
    def outcome_reward(self) -> NDArray[np.float64]:
        """What each outcome adds to the reward of its row."""
        return _filled(self.model.outcome_reward, self.outcomes)

    @property
    def signals(self) -> dict[str, NDArray[np.float64]]:
        """The value of each signal for each row."""
        return {name: _filled(self.model.signal(i), self.rows) for i, name in enumerate(self.model.signal_names)}

    @property
    def outcome_signals(self) -> dict[str, NDArray[np.float64]]:
        """What each outcome adds to each signal of its row."""
        return {
            name: _filled(self.model.outcome_signal(i), self.outcomes) for i, name in enumerate(self.model.signal_names)
        }

    @property
    def arrival_reward(self) -> NDArray[np.float64]:
        """What an arrival in each state that the row does not list adds to the row's reward."""
        return _filled(self.model.arrival_reward, self.states)

    @property
    def arrival_signals(self) -> dict[str, NDArray[np.float64]]:
        """What an arrival in each state that the row does not list adds to each signal of the row."""
        return {
            name: _filled(self.model.arrival_signal(i), self.states) for i, name in enumerate(self.model.signal_names)
        }

    @property
    def nature(self) -> str:
        """ "adversarial", or "helpful" where worst cases are best cases."""
        return "helpful" if self.terms.helpful_nature else "adversarial"

    @property
    def lower(self) -> NDArray[np.float64]:
        """Lower bound of each outcome's probability; empty without intervals."""
        return self.model.lower

    @property
    def upper(self) -> NDArray[np.float64]:
        """Upper bound of each outcome's probability; empty without intervals."""
        return self.model.upper

    def row_of(self, state: int, action: int, stage: int = 0) -> int:
        """The number of the row of (stage, state, action).

        >>> rd.make("river_swim(horizon=5)").row_of(state=3, action=1)
        7
        """
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

    def transition_matrix(self) -> Any:
        """The nominal probabilities as a scipy CSR array with one row for each row; the values are not copied.

        >>> rd.make("river_swim(horizon=5)").transition_matrix().shape
        (12, 6)
        """
        import scipy.sparse

        return scipy.sparse.csr_array(
            (self.probability, self.next, self.row_outcomes), shape=(self.rows, self.states), copy=False
        )

    def __repr__(self) -> str:
        return _show.problem_text(self)

    def _repr_html_(self) -> str:
        return _show.problem_html(self)

    def __copy__(self) -> Problem:
        return self  # nothing of it can be changed

    def __deepcopy__(self, memo: dict[int, Any]) -> Problem:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _from_json, (_core.write_json(self),)


def as_problem(problem: object) -> Problem:
    """The problem itself; an Error when it is something else."""
    if isinstance(problem, Problem):
        return problem
    hint = f", such as rd.make({problem!r}) or rd.load({problem!r})" if isinstance(problem, str) else ""
    raise Error(f"problem = {short(problem)}, must be a Problem{hint}")


def short(thing: object) -> str:
    """What it is, in a message."""
    text, kind = repr(thing), type(thing).__name__
    return f"{text} of type {kind}" if len(text) <= 40 and "\n" not in text else f"a {kind}"


def _from_json(text: str) -> Problem:
    return Problem._adopt(_core.read_json(text, "pickle"))


def _filled(values: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """The library leaves out arrays that are zero throughout."""
    return values if len(values) else np.broadcast_to(0.0, count)
