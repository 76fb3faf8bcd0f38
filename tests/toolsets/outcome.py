"""The result of a call: its reply and the bank after it, without what differs from run to run."""

import json
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from tests.contract.store_helpers import HandClock

from pieria.toolsets import Banks, Host, Paths, Reply, called, registry
from pieria.workspace import Workspace

Step = tuple[str, dict[str, Any]]
_ID = re.compile(
    r"\bsession_[\w-]{11}|(?:\b|(?<=_))(?:sum-[0-9a-f]{20}|[0-9a-hjkmnp-tv-z]{26}|[0-9a-hjkmnp-tv-z]{16})\b"
)
_PASSING = re.compile(r"[\d,]+ MB free")
_FILED = re.compile(r'"changed": \d{16,}')
"""The time when a file was written, by the machine's own clock."""
_UNDER_WAY = "sessions"
"""Session records are in the order of their ids, which are random; `sessions_state` has their content."""
_LEFT_OUT = {"bytes", "sha256", "log_bytes", "free_bytes", "weights", "duration_us", "phase_timings", "scores"}
"""Fields that change with every run, repeat the question, or are in the order of random ids."""


@dataclass(frozen=True)
class Case:
    """A call, with the calls before and after it, read from a `cases.toml`.

    `$path` in an argument is the value at that path in the latest reply that has it. `prepare` may touch what no tool
    does: files, the clock, other banks.
    """

    call: Mapping[str, Any]
    prepare: Callable[["Run"], None] = field(default=lambda run: None)
    before: Sequence[Step] = ()
    after: Sequence[Step] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    to: Any = None
    """Another value for the parameter that the case is of."""


@cache
def cases(folder: str) -> dict[str, dict[str, Case]]:
    """Return a toolset's cases: by tool, `reply` and one for each parameter."""
    read = tomllib.loads(Path(__file__).with_name(folder).joinpath("cases.toml").read_text())
    steps, prepared = read.pop("steps", {}), import_module(f"tests.toolsets.{folder}.cases")

    def case(values: dict[str, Any]) -> Case:
        for name in ("before", "after"):
            if isinstance(values.get(name), str):
                values[name] = steps[values[name]]
        if "prepare" in values:
            values["prepare"] = getattr(prepared, values["prepare"])
        return Case(**values)

    return {tool: {name: case(values) for name, values in found.items()} for tool, found in read.items()}


class Run:
    """One workspace, with calls made one after the other."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.folder = folder
        self.clock = HandClock()
        self.workspace = Workspace(folder / "data", settings, clock=self.clock)
        self.host = Host(Banks(self.workspace, "test"), "notes", "monday", Paths(folder, (folder,)))
        self.replies: list[Any] = []

    def __enter__(self) -> "Run":
        return self

    def __exit__(self, *_: object) -> None:
        self.host.banks.close()

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Reply:
        reply = called(registry(), tool, {name: self._filled(value) for name, value in arguments.items()}, self.host)
        assert misfits(tool, reply) == []
        self.replies.append(reply.value)
        return reply

    def steps(self, steps: Sequence[Step]) -> None:
        for tool, arguments in steps:
            reply = self.call(tool, arguments)
            assert reply.error is None, f"{tool}: {reply.text}"

    def _filled(self, value: Any) -> Any:
        if not isinstance(value, str) or not value.startswith("$"):
            return value
        for reply in reversed(self.replies):
            found = _at(reply, value[1:].split("."))
            if found is not None:
                return found
        raise AssertionError(f"no reply has {value}")

    def banks(self) -> dict[str, Any]:
        """Return all content of every bank, and every file beside the data."""
        held = {}
        for name in self.workspace.place.everything():
            file = self.folder / f"{name}.all"
            bank = self.workspace.open(name)
            bank.export(file)
            lines = [json.loads(line) for line in file.read_text().splitlines()[1:-1]]
            held[name] = [line for line in lines if not line.get("collection", "").startswith(_UNDER_WAY)]
            file.unlink()
            bank.close()
        files = {path.name: path.stat().st_size for path in self.folder.iterdir() if path.is_file()}
        return {"banks": held, "files": sorted(files)}


@cache
def reply_validator(tool: str) -> Draft202012Validator:
    return Draft202012Validator(registry().found(tool)[1].output_schema)


def misfits(tool: str, reply: Reply) -> list[str]:
    """Return where the reply differs from its tool's output schema. Errors need not fit: clients do not check them."""
    faults = [] if reply.is_error else reply_validator(tool).iter_errors(reply.structured)
    return [f"{tool} {fault.json_path}: {fault.message}" for fault in faults]


def outcome(folder: Path, tool: str, case: Case, **changed: Any) -> str:
    """Return what comes of the call with these arguments changed."""
    folder.mkdir()
    with Run(folder, **case.settings) as run:
        case.prepare(run)
        run.steps(case.before)
        reply = run.call(tool, {**case.call, **changed})
        assert reply.error is None, reply.text
        run.steps(case.after)
        replies = {
            "reply": reply.value,
            "said": reply.spoken,
            "after": run.replies[len(run.replies) - len(case.after) :],
        }
        told = {**replies, **run.banks()}
    return _settled(json.dumps(_without(told), sort_keys=True).replace(str(folder), "FOLDER"))


def _settled(text: str) -> str:
    names: dict[str, str] = {}
    named = _ID.sub(lambda found: names.setdefault(found[0], f"id{len(names)}"), text)
    return _FILED.sub("now", _PASSING.sub("space", named))


def _without(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without(held) for name, held in value.items() if name not in _LEFT_OUT}
    return [_without(held) for held in value] if isinstance(value, list) else value


def _at(reply: Any, path: Sequence[str]) -> Any:
    for step in path:
        if isinstance(reply, list) and step.isdigit() and int(step) < len(reply):
            reply = reply[int(step)]
        elif isinstance(reply, dict):
            reply = reply.get(step)
        else:
            return None
    return reply
