"""The OpenAI Agents SDK: a `Session` in a bank, and a toolset as function tools."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from pieria.bank import Bank
from pieria.errors import UnavailableError
from pieria.integrations.toolbox import Toolbox
from pieria.record.event import storable
from pieria.record.memory import Memory
from pieria.record.trust import AGENT, OUTSIDE
from pieria.runtime.key_locks import turns

try:
    from agents import FunctionTool, Tool, TResponseInputItem
    from agents.memory import SessionABC, SessionSettings
    from agents.tool_context import ToolContext
except ImportError as problem:
    raise UnavailableError(
        "openai_agents", "openai-agents is not installed", hint="Install it: pip install 'pieria[openai-agents]'."
    ) from problem

Done = TypeVar("Done")
PAGE = 100
TYPES = {"user": "human", "assistant": "agent"}


class PieriaSession(SessionABC):
    """The history of one conversation, whose messages are also memories of the bank."""

    def __init__(
        self, session_id: str, bank: Bank, *, session_settings: SessionSettings | dict[str, Any] | None = None
    ) -> None:
        self.session_id = session_id
        self.session_settings: SessionSettings | None = SessionSettings().resolve(session_settings)
        self.bank = bank

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the newest items, oldest first. The settings give the limit if none is given."""
        settings = self.session_settings
        most = settings.limit if limit is None and settings is not None else limit
        return await self._alone(self._items, most)

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Add the items: all of them, or none if one is refused."""
        await self._alone(self._add, list(items))

    async def pop_item(self) -> TResponseInputItem | None:
        """Remove the newest item and return it."""
        return await self._alone(self._pop)

    async def clear_session(self) -> None:
        """Remove all items. `bank.undo` brings them back."""
        await self._alone(self._clear)

    async def _alone(self, work: Callable[..., Done], *arguments: Any) -> Done:
        """Do the work in a thread, while no other call for a session of this id runs in this process.

        The lock is one of threads: several event loops may share a session.
        """

        def locked() -> Done:
            with turns.of("agents_session", self.session_id):
                return work(*arguments)

        return await asyncio.to_thread(locked)

    def _newest(self) -> Iterator[Memory]:
        cursor = None
        while True:
            page = self.bank.list(
                order="newest",
                limit=PAGE,
                cursor=cursor,
                session=self.session_id,
                meta={"agents_session": self.session_id},
            )
            yield from page
            if (cursor := page.cursor) is None:
                return

    def _items(self, most: int | None) -> list[TResponseInputItem]:
        kept = sorted(self._newest(), key=lambda memory: memory.sequence or 0)
        newest = kept if most is None else kept[max(0, len(kept) - most) :]
        return [json.loads(memory.meta["item"]) for memory in newest]

    def _add(self, items: list[TResponseInputItem]) -> None:
        first = 1 + max((memory.sequence or 0 for memory in self._newest()), default=0)
        self.bank.remember_many([self._turn(dict(item), number) for number, item in enumerate(items, first)])

    def _turn(self, item: Mapping[str, Any], number: int) -> dict[str, Any]:
        """Return what the bank remembers of an item."""
        role = item.get("role")
        return {
            "text": storable(_text(item)),
            "kind": "turn" if role else "note",
            "author": role or "tool",
            "author_type": TYPES.get(role or "", "system"),
            "session": self.session_id,
            "sequence": number,
            "via": OUTSIDE if str(item.get("type", "")).endswith("_output") else AGENT,
            "meta": {"agents_session": self.session_id, "item": json.dumps(item)},
        }

    def _pop(self) -> TResponseInputItem | None:
        newest = max(self._newest(), key=lambda memory: memory.sequence or 0, default=None)
        if newest is None:
            return None
        self.bank.remove(newest.id)
        item: TResponseInputItem = json.loads(newest.meta["item"])
        return item

    def _clear(self) -> None:
        for memory in list(self._newest()):
            self.bank.remove(memory.id)


def memory_tools(toolbox: Toolbox) -> list[Tool]:
    """Return the tools of a toolbox for `Agent(tools=…)`."""

    def tool(name: str, description: str, parameters: dict[str, Any]) -> FunctionTool:
        async def invoked(context: ToolContext[Any], arguments: str) -> str:
            return await asyncio.to_thread(toolbox.call, name, arguments)

        return FunctionTool(name, description, parameters, invoked, strict_json_schema=False)

    return [tool(*listed) for listed in toolbox.listed()]


def _text(item: Mapping[str, Any]) -> str:
    """Return the words of an item: a message, a call with its arguments, or its output."""
    content = item.get("content", item.get("output", item.get("summary")))
    if isinstance(content, str) and content.strip():
        return content
    if isinstance(content, list):
        parts = [part["text"] for part in content if isinstance(part, Mapping) and isinstance(part.get("text"), str)]
        if any(part.strip() for part in parts):
            return "\n".join(parts)
    if "name" in item:
        return f"{item['name']}({item.get('arguments', '')})"
    return json.dumps(dict(item), ensure_ascii=False, sort_keys=True)
