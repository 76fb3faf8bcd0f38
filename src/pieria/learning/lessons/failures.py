"""Failures of a session that later succeeded, with the steps between, and attempts that did not help.

A success without steps between teaches nothing. Neither does a failure that the session's own edits caused and other
edits removed: that is ordinary coding.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pieria.learning.distilling import commands, tools
from pieria.learning.distilling.calls import command_line
from pieria.learning.distilling.outcomes import outcome_of
from pieria.learning.lessons import steps
from pieria.learning.lessons.steps import Step
from pieria.models.mind import Mended
from pieria.record.clip import clipped, plain
from pieria.record.event import AgentEvent

MOST_OPEN = 10
"""Open failures kept at a time; the oldest are dropped first."""
MOST_STEPS = 6
"""Steps of a fix. With more steps, it is unclear which one helped."""
ERROR = 160
_NOT_FOUND = re.compile(r"command not found|not recognized as|No such file or directory|: not found$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Pair:
    """A failure and the steps that fixed it. `sign` identifies the failure without its numbers and names."""

    mended: Mended
    sign: str
    steps: tuple[Step, ...]
    failed: AgentEvent
    passed: AgentEvent
    prompt: AgentEvent | None
    is_outside: bool

    @property
    def weight(self) -> float:
        return min(step.weight for step in self.steps)

    @property
    def is_risky(self) -> bool:
        return any(step.risky for step in self.steps)

    @property
    def way(self) -> tuple[str, ...]:
        return tuple(sorted({step.sign for step in self.steps}))


@dataclass(frozen=True, slots=True)
class Vain:
    """The same failure happened again after these steps."""

    sign: str
    way: frozenset[str]
    event: AgentEvent


@dataclass(slots=True)
class _Open:
    """A failure without a later success. `line` is a command, or the path of a rejected edit."""

    line: str
    error: str
    event: AgentEvent
    sign: str
    is_edit: bool
    carried: bool
    own: bool
    """The session had changed files before the first failure."""
    since: list[Step] = field(default_factory=list)


def failures(events: Sequence[AgentEvent], told: frozenset[str]) -> tuple[list[Pair], list[Vain]]:
    """Return fixed failures and vain attempts. `events` must be in order; events in `told` only mark open failures."""
    reader = _Reader(told)
    for event in events:
        reader.take(event)
    return reader.pairs, reader.vain


class _Reader:
    def __init__(self, told: frozenset[str]) -> None:
        self._told = told
        self._open: list[_Open] = []
        self._prompt: AgentEvent | None = None
        self._outside = False
        self._edits: list[tuple[str, int]] = []
        self._clock = 0
        self.pairs: list[Pair] = []
        self.vain: list[Vain] = []

    def take(self, event: AgentEvent) -> None:
        self._clock += 1
        if event.what == "prompt":
            self._prompt, self._outside = event, False
        if event.what != "tool":
            return
        if tools.is_outside(event):
            self._outside = True
            return
        kind = tools.kind_of(event)
        if kind == "run":
            self._ran(event, plain(command_line(event.input)))
        elif kind in ("edit", "read"):
            self._touched(event, kind)

    # --- commands

    def _ran(self, event: AgentEvent, line: str) -> None:
        undone = commands.undone_files(line)
        if undone is not None and not event.failed:
            self._take_back(undone)
        outcome = outcome_of(event.text, event.failed)
        main = commands.main_command(line)
        # A fixer such as `ruff --fix` also counts problems that it fixed.
        if outcome.failed and (event.failed or not steps.is_mending(line)):
            if main is not None and commands.searched(line) is None:
                self._fail(event, line, outcome.error, is_edit=False)
            return
        if not outcome.failed:
            for each in [one for one in self._open if not one.is_edit and _goes_well(one, line)]:
                self._mended(each, event, line)
        step = steps.of_command(line)
        if step is not None:
            self._add(step)

    def _mended(self, failure: _Open, event: AgentEvent, line: str) -> None:
        self._open.remove(failure)
        way = list(failure.since)
        # Earlier commands of the same line ran before it.
        before = [part for part in commands.parts(line)[:-1] if steps.is_acting(part) and part not in failure.line]
        way += [step for part in before if (step := steps.of_command(part)) is not None]
        if not way:
            changed = steps.instead(failure.line, line) or steps.left_out(failure.line, line, failure.error)
            way = [changed] if changed is not None else []
        self._keep(failure, way, event, f"`{steps.shown_line(_last(line))}`")

    # --- files

    def _touched(self, event: AgentEvent, kind: str) -> None:
        for deed in tools.deeds_of(event):
            if kind == "read" and not event.failed:
                for each in self._open:
                    if each.is_edit and each.line == deed.target:
                        each.since.append(steps.of_reading(deed.target))
            elif kind == "edit" and event.failed:
                self._fail(event, deed.target, _refusal(event.text), is_edit=True)
            elif kind == "edit":
                for each in [one for one in self._open if one.is_edit and one.line == deed.target]:
                    self._open.remove(each)
                    read = [step for step in each.since if step.sign == "read the file"]
                    self._keep(each, read, event, f"the {event.tool} of `{deed.target}`")
                self._edits.append((deed.target, self._clock))
                step = steps.of_edit(deed.target, deed.detail)
                if step is not None:
                    self._add(step)

    def _take_back(self, paths: Sequence[str]) -> None:
        """Drop failures that began after these edits, since the edits are gone."""
        gone = [at for path, at in self._edits if not paths or any(commands.is_same_file(path, one) for one in paths)]
        if gone:
            self._edits = [(path, at) for path, at in self._edits if at not in gone]
            self._open = [one for one in self._open if one.carried or not one.own]

    # --- both

    def _fail(self, event: AgentEvent, line: str, error: str, *, is_edit: bool) -> None:
        carried = event.id in self._told
        sign = _sign_of(line, error, is_edit, event)
        own = bool(self._edits)
        for each in [one for one in self._open if one.is_edit == is_edit and _same_thing(one, line)]:
            self._open.remove(each)
            own = each.own
            way = frozenset(step.sign for step in each.since)
            if way and each.sign == sign and not carried:
                self.vain.append(Vain(sign, way, event))
        self._open.append(_Open(line, clipped(error, ERROR), event, sign, is_edit, carried, own))
        self._open = self._open[-MOST_OPEN:]

    def _add(self, step: Step) -> None:
        for each in self._open:
            if step.sign not in [held.sign for held in each.since]:
                each.since.append(step)

    def _keep(self, failure: _Open, way: Sequence[Step], event: AgentEvent, passed: str) -> None:
        if not way or len(way) > MOST_STEPS or event.id in self._told:
            return
        if failure.own and all(step.weight < steps.COMMAND for step in way):
            return
        what = (
            f"{failure.event.tool} of `{failure.line}`"
            if failure.is_edit
            else f"`{steps.shown_line(_last(failure.line))}`"
        )
        told = Mended(what, _unmarked(failure.error), tuple(step.told for step in way), passed)
        self.pairs.append(Pair(told, failure.sign, tuple(way), failure.event, event, self._prompt, self._outside))


def _goes_well(failure: _Open, line: str) -> bool:
    if commands.is_mended(failure.line, line, failure.error):
        return True
    before, after = commands.main_command(failure.line), commands.main_command(line)
    if before is None or after is None or before.program == after.program:
        return False
    return _NOT_FOUND.search(failure.error) is not None and bool(after.targets) and after.targets == before.targets


def _same_thing(failure: _Open, line: str) -> bool:
    if failure.is_edit or failure.line == line:
        return failure.line == line
    before, after = commands.main_command(failure.line), commands.main_command(line)
    return before is not None and after is not None and before.name == after.name and before.targets == after.targets


def _sign_of(line: str, error: str, is_edit: bool, event: AgentEvent) -> str:
    """Return a key for the same failure: the command, and the error without names, paths and numbers."""
    main = None if is_edit else commands.main_command(line)
    what = f"edit {event.tool}" if main is None else main.name
    bare = re.sub(r"'[^']*'|\"[^\"]*\"|`[^`]*`|“[^”]*”", "…", error.casefold())
    bare = re.sub(r"\S+\s*->\s*\S+|\S*/\S*|0x[0-9a-f]+|\b[0-9a-f]{7,}\b", "…", bare)
    return f"{what}: {' '.join(re.sub(r'[0-9]+', '0', bare).split())}"


def _refusal(text: str) -> str:
    lines: Iterable[str] = (line.strip() for line in re.sub(r"</?tool_use_error>", "", text).splitlines())
    return next((line for line in lines if line), "it was refused")


def _last(line: str) -> str:
    """Return the last acting command with its assignments, without the commands before it in the line."""
    doing = [part for part in commands.parts(line) if commands.main_command(part) is not None]
    return doing[-1] if doing else line


def _unmarked(error: str) -> str:
    """Return the error without quotation marks, so that it can be quoted."""
    return re.sub(r"[“”\"`]", "'", error)
