"""Models that are programs in any language: states are expanded by questions in lines of JSON."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ._core import Error


class ProgramModel:
    """A program that says what follows a state, as a model for `explore`; made by `explore(program=...)`.

    It is started by the shell and talks in lines of JSON ([docs](sampling.md)):

        > {"hello": "redoubt", "version": 1, "expand": true}
        < {"initial": [0, 0]}
        > {"id": 0, "expand": [0, 0]}
        < {"id": 0, "actions": {"serve": [[0.5, [0, 1], {"reward": 1}], [0.5, [0, 0]]]}, "labels": ["empty"]}
    """

    def __init__(self, command: str, timeout: float) -> None:
        self.command, self.timeout, self._asked = command, timeout, 0
        self._known: dict[Any, Mapping[str, Any]] = {}
        self._process = subprocess.Popen(command, shell=True, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         encoding="utf-8", start_new_session=True)  # fmt: skip
        greeting = {"hello": "redoubt", "version": 1, "expand": True}
        self._hello = next(iter(self._talk([greeting], ["its greeting"])))

    def _kill(self) -> None:
        """Ends the program with all that it has started: the shell in front of it is not all of it."""
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:  # it has ended by itself
            pass

    def close(self) -> None:
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:  # it has ended, and what was still to be written is lost
                    pass
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._kill()
            self._process.wait()

    # What `explore` asks of a model.
    def initial(self) -> Any:
        if "initial" not in self._hello:
            raise Error(f"{self.command!r} answered {short(self._hello)}, must say where episodes begin: initial")
        return _state(self._hello["initial"])

    def actions(self, state: Any) -> list[str]:
        return list(self._answer(state)["actions"])

    def step(self, state: Any, action: str) -> Iterator[tuple[Any, ...]]:
        for outcome in self._answer(state)["actions"][action]:
            probability, after, *values = outcome
            yield (probability, _state(after), *values)

    def labels(self, state: Any) -> Iterable[str]:
        named: Iterable[str] = self._answer(state).get("labels", [])
        return named

    def prefetch(self, states: Sequence[Any]) -> None:
        """Asks for all of them that are not known yet, in one go."""
        new = [state for state in states if state not in self._known]
        ids = range(self._asked, self._asked + len(new))
        self._asked += len(new)
        waiting = dict(zip(ids, new, strict=True))
        questions = [{"id": number, "expand": state} for number, state in waiting.items()]
        for answer in self._talk(questions, [f"state {state!r}" for state in new]):
            state = waiting.pop(answer.get("id", -1), ABSENT)
            if state is ABSENT:
                raise Error(f"{self.command!r} answered {short(answer)}, must have the id of a question without an answer")
            if "error" in answer:
                raise Error(f"{self.command!r} says of state {state!r}: {answer['error']}")
            if not isinstance(answer.get("actions"), dict):
                raise Error(f"{self.command!r} answered {short(answer)} to state {state!r}, must have actions, an object")
            self._known[state] = answer

    def forget(self, state: Any) -> None:
        self._known.pop(state, None)

    def _answer(self, state: Any) -> Mapping[str, Any]:
        if state not in self._known:
            self.prefetch([state])
        return self._known[state]

    def _talk(self, questions: list[dict[str, Any]], about: list[str]) -> Iterator[dict[str, Any]]:
        """Writes all questions, from a thread of its own so that neither side waits for the other, and reads the answers."""
        if not questions:
            return
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None
        text = "".join(json.dumps(question) + "\n" for question in questions)
        writer = threading.Thread(target=_write, args=(stdin, text), daemon=True)
        writer.start()
        for place in range(len(questions)):
            too_late = threading.Timer(self.timeout, self._kill)
            too_late.start()
            line = stdout.readline()
            in_time = too_late.is_alive()
            too_late.cancel()
            if not line:
                reason = "ended" if in_time else f"gave no answer within {self.timeout:g} s"
                raise Error(f"{self.command!r} {reason}, must answer {about[place]}")
            try:
                answer = json.loads(line)
            except ValueError:
                answer = None
            if not isinstance(answer, dict):
                raise Error(f"{self.command!r} wrote {short(line.strip())}, must be a line of JSON, an object")
            yield answer
        writer.join()


ABSENT = object()


def _write(stream: Any, text: str) -> None:
    try:
        stream.write(text)
        stream.flush()
    except (OSError, ValueError):  # the program has ended: whoever reads its answers finds out
        pass


def _state(value: Any) -> Any:
    """A list becomes a tuple, which can be a state."""
    if isinstance(value, list):
        return tuple(_state(part) for part in value)
    if isinstance(value, dict):
        raise Error(f"state {short(value)}, must be a number, a text, or a list of them")
    return value


def short(thing: object) -> str:
    text = thing if isinstance(thing, str) else json.dumps(thing)
    return text if len(text) <= 60 else text[:57] + "..."
