"""Lets the tests of Mnemosyne call our toolset: its classes and functions become calls of tools on a bank.

What the tests import from elsewhere stays the original's: the list of its tools, its arithmetic of weights, its
tables. Such tests pass without a tool; the recorder counts them apart.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from tempfile import gettempdir, mkdtemp
from typing import Any

from benchmarks.originals import recorder
from pieria.toolsets import Banks, Host, Paths, called, registry
from pieria.workspace import Workspace

PREFIX = "mnemosyne_"
RENAMED = {"mnemosyne_stats": "mnemosyne_get_stats"}
BEAM = import_module("mnemosyne.core.beam").BeamMemory
"""The original's own class, for its tables."""


class Tools:
    """The tools over a bank in a folder beside the database that the original was asked to use."""

    def __init__(self, session: str, path: object, **identity: str | None) -> None:
        folder = Path(mkdtemp()) if path is None else Path(str(path)).parent
        workspace = Workspace(folder / "pieria")
        self._host = Host(Banks(workspace, "originals"), "default", session, Paths(folder, (Path(gettempdir()),)))
        self._identity = {name: value for name, value in identity.items() if value is not None}

    def reply(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        recorder.count_call()
        value: dict[str, Any] = called(registry(), tool, dict(arguments), self._host).value
        return value

    def ask(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Return the reply. Raise if it is an error, as the original's functions do."""
        reply = self.reply(tool, {name: value for name, value in arguments.items() if value is not None})
        if reply.get("status") == "error":
            raise ValueError(json.dumps(reply["error"]))
        return reply


class Memory(Tools):
    """Replaces `BeamMemory` and `Mnemosyne`."""

    def __init__(
        self,
        session_id: str = "default",
        db_path: object = None,
        author_id: str | None = None,
        author_type: str | None = None,
        channel_id: str | None = None,
    ) -> None:
        super().__init__(session_id, db_path, author_id=author_id, author_type=author_type, channel_id=channel_id)
        self._conn: Any = None

    def remember(self, content: str, **options: Any) -> str:
        reply = self.ask("mnemosyne_remember", **{"content": content, "scope": "session", **self._identity, **options})
        return str(reply["memory_id"])

    def recall(self, query: str, top_k: int = 5, **options: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.ask("mnemosyne_recall", query=query, top_k=top_k, **options)["results"]
        return found

    @property
    def conn(self) -> Any:
        """Return a connection to the original's own tables, which some tests fill: our toolset does not see them."""
        if self._conn is None:
            self._conn = BEAM(session_id="original", db_path=Path(mkdtemp()) / "original.db").conn
        return self._conn

    @property
    def annotations(self) -> Memory:
        return self

    def add_many(self, memory_id: str, kind: str, values: Sequence[str], **_: Any) -> None:
        for value in values:
            self.ask("mnemosyne_triple_add", subject=memory_id, predicate=kind, object=value)

    def scratchpad_write(self, content: str) -> str:
        return str(self.ask("mnemosyne_scratchpad_write", content=content)["id"])


def _provider_call(original: Callable[..., str]) -> Callable[..., str]:
    """Return a method that calls our tool, or the original's where the provider has no memory."""

    def handle_tool_call(self: Any, tool_name: str, args: dict[str, Any], **options: Any) -> str:
        tool = RENAMED.get(tool_name, tool_name)
        if not isinstance(self._beam, Tools) or all(tool != one.name for _, one in registry()):
            return original(self, tool_name, args, **options)
        return json.dumps(self._beam.reply(tool, args))

    return handle_tool_call


def _handler(tool: str) -> Callable[..., str]:
    return lambda self, args: json.dumps(self._beam.reply(RENAMED.get(tool, tool), args))


def _triples(db_path: object) -> Tools:
    return Tools("triples", db_path)


def add_triple(subject: str, predicate: str, object: str, db_path: object = None, **options: Any) -> str:
    asked = {"subject": subject, "predicate": predicate, "object": object, **options}
    return str(_triples(db_path).ask("mnemosyne_triple_add", **asked)["triple_id"])


def query_triples(db_path: object = None, **options: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = _triples(db_path).ask("mnemosyne_triple_query", **options)["results"]
    return found


def end_triple(subject: str, predicate: str, object: str | None = None, db_path: object = None) -> int:
    tools = _triples(db_path)
    held = tools.ask("mnemosyne_triple_query", subject=subject, predicate=predicate, object=object)["results"]
    for one in held:
        tools.ask("mnemosyne_invalidate", memory_id=one["id"])
    return len(held)


def pytest_configure() -> None:
    for module, names in (
        ("mnemosyne.core.beam", {"BeamMemory": Memory}),
        ("mnemosyne.core.memory", {"Mnemosyne": Memory}),
        (
            "mnemosyne.core.triples",
            {"add_triple": add_triple, "query_triples": query_triples, "end_triple": end_triple},
        ),
    ):
        vars(import_module(module)).update(names)
    provider = import_module("hermes_memory_provider").MnemosyneMemoryProvider
    provider.handle_tool_call = _provider_call(provider.handle_tool_call)
    for _, tool in registry():
        if not tool.name.startswith(PREFIX):
            continue
        name = f"_handle_{tool.name.removeprefix(PREFIX)}"
        if hasattr(provider, name):
            setattr(provider, name, _handler(tool.name))
