"""A fake Hermes Agent: it finds, loads and calls a memory provider like the published interface.

Written from the interface: it discovers by folder or entry point, and has one external provider. It calls the hooks in
the order of an agent's life. One background thread writes turns, and recall has a time limit. It logs and survives
every provider failure.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import logging
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

log = logging.getLogger("hermes")
CORE_TOOLS = ("memory", "clarify", "delegate_task", "terminal", "read_file")


class MemoryProvider(ABC):
    """Hermes' base class: the methods that a provider must have, and defaults for the others."""

    pre_compress_checkpoint_api_version = 1

    @property
    @abstractmethod
    def name(self) -> str: ...

    @abstractmethod
    def is_available(self) -> bool: ...

    @abstractmethod
    def initialize(self, session_id: str, **kwargs: Any) -> None: ...

    @abstractmethod
    def get_tool_schemas(self) -> list[dict[str, Any]]: ...

    def unavailable_reason(self) -> str:
        return ""

    def a_hook_of_a_later_version(self) -> str:
        return "as Hermes does it"


@contextmanager
def within_hermes() -> Iterator[None]:
    module = ModuleType("agent.memory_provider")
    module.MemoryProvider = MemoryProvider  # type: ignore[attr-defined]
    package = ModuleType("agent")
    sys.modules |= {"agent": package, "agent.memory_provider": module}
    try:
        yield
    finally:
        for name in ("agent", "agent.memory_provider"):
            del sys.modules[name]


def registered(module: Any) -> Any:
    providers: list[Any] = []
    module.register(SimpleNamespace(register_memory_provider=providers.append))
    return providers[-1]


def provider_in(home: Path, name: str) -> Any:
    """Load the provider from a plugin's folder: its text must mention memory providers before it is imported."""
    file = home / "plugins" / name / "__init__.py"
    head = file.read_text()[:8192]
    assert "register_memory_provider" in head or "MemoryProvider" in head
    spec = importlib.util.spec_from_file_location(f"_hermes_user_memory.{name}", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return registered(module)


class Hermes:
    def __init__(self, provider: Any, home: Path, session: str, **said: Any) -> None:
        self.provider = provider
        self.session = session
        self.messages: list[dict[str, Any]] = []
        self.failures: list[BaseException] = []
        self._turn = 0
        self._behind = ThreadPoolExecutor(1, "mem-sync")
        self._waiting: list[Future[Any]] = []
        self.tools: dict[str, dict[str, Any]] = {}
        if not provider.is_available():
            raise RuntimeError(provider.unavailable_reason())
        for schema in provider.get_tool_schemas():
            assert isinstance(schema["name"], str) and schema["name"] not in CORE_TOOLS
            assert isinstance(schema["description"], str) and schema["parameters"]["type"] == "object"
            self.tools[schema["name"]] = schema
        kwargs = {"hermes_home": str(home), "platform": "cli", "agent_context": "primary", **said}
        self._guarded(lambda: provider.initialize(session_id=session, **kwargs))
        self.system_prompt = self._guarded(provider.system_prompt_block) or ""

    def turn(self, message: str, answer: str, **author: Any) -> str:
        """Run one turn of a conversation and return what memory put before the message."""
        self._turn += 1
        self._guarded(lambda: self.provider.on_turn_start(self._turn, message, model="m", platform="cli"))
        context = self.prefetch(message)
        self.messages += [{"role": "user", "content": message}, {"role": "assistant", "content": answer}]
        session, said = self.session, {"messages": list(self.messages), **author}
        known = inspect.signature(self.provider.sync_turn).parameters
        given = {name: value for name, value in said.items() if name in known}
        self._behind_it(lambda: self.provider.sync_turn(message, answer, session_id=session, **given))
        self._behind_it(lambda: self.provider.queue_prefetch(message, session_id=session))
        return context

    def prefetch(self, message: str) -> str:
        found: list[str] = []

        def ask() -> None:
            found.append(self.provider.prefetch(message, session_id=self.session))

        thread = threading.Thread(target=self._guarded, args=(ask,), daemon=True)
        thread.start()
        thread.join(8.0)
        return found[0] if found else ""

    def tool(self, name: str, args: Any = None, **kwargs: Any) -> Any:
        """Return the reply for the model: it must be JSON in every case."""
        reply = self.provider.handle_tool_call(name, {} if args is None else args, **kwargs)
        assert isinstance(reply, str)
        return json.loads(reply)

    def notes(self, action: str, content: str, target: str = "memory", **metadata: Any) -> None:
        self._guarded(lambda: self.provider.on_memory_write(action, target, content, metadata=metadata))

    def delegated(self, task: str, result: str) -> None:
        self._guarded(lambda: self.provider.on_delegation(task, result, child_session_id="child"))

    def compress(self, *, required: bool = False) -> str:
        """Replace the conversation by a summary; if a checkpoint is required, only after the checkpoint."""
        self.flush()
        said_by = [each for each in self.messages if each["role"] != "tool" and not each.get("_compressed_summary")]
        evidence = [{"role": each["role"], "content": each["content"]} for each in said_by]
        try:
            said: str = self.provider.on_pre_compress(evidence, require_checkpoint=required)
        except Exception:
            if required:
                raise
            said = ""
        self.messages = [{"role": "user", "content": f"Summary. {said}", "_compressed_summary": True}]
        return said

    def switch(self, session: str, *, reset: bool = False, parent: str = "", **more: Any) -> None:
        """`/new` ends the session before; `/resume` and the like continue another session."""
        messages = list(self.messages)

        if reset:
            self._behind_it(lambda: self.provider.on_session_end(messages))
        more |= {"parent_session_id": parent, "reset": reset}
        self._behind_it(lambda: self.provider.on_session_switch(session, **more))
        self.flush()
        self.session = session
        self.messages = [] if reset else self.messages

    def flush(self) -> None:
        for future in self._waiting:
            future.result(60)
        self._waiting.clear()

    def settle(self) -> None:
        self.flush()
        assert self.provider._join().behind.flush(60) == 0

    def leave(self) -> None:
        """End the agent: first the session, then the waiting background work, then the provider."""
        self._behind_it(lambda: self.provider.on_session_end(list(self.messages)))
        self.flush()
        self._behind.shutdown(wait=True)
        self._guarded(self.provider.shutdown)

    def _behind_it(self, call: Callable[[], Any]) -> None:
        self._waiting.append(self._behind.submit(self._guarded, call))

    def _guarded(self, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except Exception as failure:
            log.exception("a memory provider failed")
            self.failures.append(failure)
            return None
