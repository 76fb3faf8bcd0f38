"""A client with mem0's interface over a bank: a program changes one import. It needs no key and no server.

`AsyncMemory` awaits the same methods in threads.
"""

from __future__ import annotations

import asyncio
import hashlib
import warnings
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from datetime import date, datetime
from functools import wraps
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from pieria.bank import Bank
from pieria.integrations.conditions import check, passes
from pieria.record.memory import Memory as Record
from pieria.record.time import iso
from pieria.workspace import open as open_bank

P = ParamSpec("P")
R = TypeVar("R")

SOURCE = "mem0"
OWNERS = ("user_id", "agent_id", "run_id")
PROMOTED = (*OWNERS, "actor_id", "role", "expiration_date")
"""Keys of `meta` that a reply shows beside the text instead of under `metadata`."""
PROCEDURAL = "procedural_memory"
PAGE = 100
KEPT = object()


class Memory:
    """Memories of users, agents and runs, in one bank.

    `config` is read for no setting: it is accepted so that programs for mem0 run, with a warning about each part.
    """

    def __init__(self, config: object = None, *, bank: Bank | str = "mem0", data: str | None = None) -> None:
        if config is not None:
            _warn_of(config)
        self._owns = isinstance(bank, str)
        self.bank = open_bank(bank, data=data) if isinstance(bank, str) else bank

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any], **more: Any) -> Self:
        return cls(config_dict, **more)

    def add(
        self,
        messages: str | Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        user_id: object = None,
        agent_id: object = None,
        run_id: object = None,
        metadata: Mapping[str, Any] | None = None,
        timestamp: object = None,
        expiration_date: object = None,
        infer: bool = True,
        memory_type: str | None = None,
        prompt: str | None = None,
    ) -> dict[str, Any]:
        """Store each message, word for word, and return the ids. With `infer`, the bank also draws facts from it."""
        if prompt is not None:
            raise ValueError("prompt: not available, texts are kept word for word. Leave prompt out.")
        if memory_type not in (None, PROCEDURAL):
            raise ValueError(f"memory_type: expected {PROCEDURAL} or None, got {memory_type!r}")
        owners = _owners(user_id=user_id, agent_id=agent_id, run_id=run_id)
        if not owners:
            raise ValueError("expected at least one of user_id, agent_id and run_id")
        expires = _day(expiration_date)
        shared = {**(metadata or {}), **owners, **({} if expires is None else {"expiration_date": expires})}
        drafts = [
            {
                "text": text,
                "kind": "procedural" if memory_type else "turn" if role else "note",
                "author": name or role,
                "author_type": {"user": "human", "assistant": "agent"}.get(role or ""),
                "session": owners.get("run_id"),
                "source": SOURCE,
                "at": timestamp,
                "valid_until": expires,
                "meta": {**shared, **({"role": role} if role else {}), **({"actor_id": name} if name else {})},
                "extract": infer,
            }
            for role, name, text in _texts(messages)
        ]
        stored = self.bank.remember_many([{k: v for k, v in draft.items() if v is not None} for draft in drafts])
        return {"results": [{"id": one.id, "memory": one.text, "event": "ADD", **_role(one)} for one in stored]}

    def get(self, memory_id: str) -> dict[str, Any] | None:
        found = self.bank.get(memory_id)
        return None if found is None else _item(found)

    def get_all(
        self, /, *, filters: Mapping[str, Any] | None = None, top_k: int = 20, show_expired: bool = False, **old: object
    ) -> dict[str, Any]:
        """Return up to `top_k` memories that pass the filters, newest first."""
        _refuse_old(old)
        wanted, owners = self._asked(filters, top_k)
        include = ("invalid",) if show_expired else ()

        def pages() -> Iterator[Record]:
            cursor = None
            while True:
                page = self.bank.list(limit=PAGE, cursor=cursor, include=include, meta=owners)
                yield from page
                if (cursor := page.cursor) is None:
                    return

        found = (item for item in map(_item, pages()) if passes(_flat(item), wanted))
        return {"results": [item for item, _ in zip(found, range(top_k), strict=False)]}

    def search(
        self,
        /,
        query: str,
        *,
        top_k: int = 20,
        filters: Mapping[str, Any] | None = None,
        threshold: float = 0.1,
        rerank: bool = False,
        explain: bool = False,
        reference_date: Any = None,
        show_expired: bool = False,
        **old: object,
    ) -> dict[str, Any]:
        """Return up to `top_k` memories for the query, best first. With `explain`, each has its `score_details`."""
        _refuse_old(old)
        if rerank:
            raise ValueError("rerank: set the bank's reranker instead, such as PIERIA_RERANKER")
        if show_expired:
            raise ValueError("show_expired: get_all lists expired memories; a search finds only those that hold")
        if not isinstance(query, str) or not query.strip():
            raise ValueError("query: expected a text, got none")
        wanted, owners = self._asked(filters, top_k)
        results: list[dict[str, Any]] = []
        cursor = None
        while len(results) < top_k:
            recalled = self.bank.recall(
                query,
                k=min(max(top_k, 1), PAGE),
                min_score=threshold,
                meta=owners,
                valid_at=reference_date,
                cursor=cursor,
            )
            for hit in recalled:
                item = {**_item(hit.memory), "score": hit.score}
                if passes(_flat(item), wanted):
                    results.append({**item, **({"score_details": dict(hit.why)} if explain else {})})
            if (cursor := recalled.cursor) is None:
                break
        return {"results": results[:top_k]}

    def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expiration_date: object = KEPT,
        data: str | None = None,
    ) -> dict[str, str]:
        """Change a memory. The earlier version stays in its history."""
        text = data if text is None else text
        if text is None and metadata is None and expiration_date is KEPT:
            raise ValueError("expected at least one of text, metadata and expiration_date")
        old = self._there(memory_id)
        changes: dict[str, Any] = {} if text is None else {"text": text}
        meta = {**old.meta, **{name: value for name, value in (metadata or {}).items() if name not in OWNERS}}
        if expiration_date is not KEPT:
            changes["valid_until"] = meta["expiration_date"] = _day(expiration_date)
        self.bank.update(memory_id, **changes, meta={name: value for name, value in meta.items() if value is not None})
        return {"message": "Memory updated successfully!"}

    def delete(self, memory_id: str) -> dict[str, str]:
        """Remove a memory. `bank.undo` and `pieria unforget` bring it back."""
        self._there(memory_id)
        self.bank.remove(memory_id)
        return {"message": "Memory deleted successfully!"}

    def delete_all(self, user_id: object = None, agent_id: object = None, run_id: object = None) -> dict[str, str]:
        owners = _owners(user_id=user_id, agent_id=agent_id, run_id=run_id)
        if not owners:
            raise ValueError("expected at least one of user_id, agent_id and run_id; reset() erases everything")
        while page := self.bank.list(limit=PAGE, meta=owners, include=("invalid",)):
            for one in page:
                self.bank.remove(one.id)
        return {"message": "Memories deleted successfully!"}

    def history(self, memory_id: str) -> list[dict[str, Any]]:
        """Return what happened to a memory: `ADD`, `UPDATE` and `DELETE`, oldest first."""
        rows: list[dict[str, Any]] = []
        before: Record | None = None
        for one in self.bank.history(memory_id):
            old = None if before is None or before.removed else before.text
            event = "DELETE" if one.removed else "ADD" if old is None else "UPDATE"
            if event == "UPDATE" and before is not None and one.version == before.version:
                continue
            rows.append(
                {
                    "id": one.reference,
                    "memory_id": memory_id,
                    "old_memory": before.text if before is not None else None,
                    "new_memory": None if one.removed else one.text,
                    "event": event,
                    "created_at": iso(one.at),
                    "updated_at": iso(one.known_from),
                    "is_deleted": one.removed,
                    "actor_id": one.meta.get("actor_id"),
                    "role": one.meta.get("role"),
                }
            )
            before = one
        return rows

    def reset(self) -> None:
        """Erase all memories that came through this interface, for good."""
        if self.bank.count(source=SOURCE, include=("removed", "revised", "invalid", "archived")):
            self.bank.forget(source=SOURCE, purge=True)

    def close(self) -> None:
        """Close the bank, if this object opened it."""
        if self._owns:
            self.bank.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _asked(self, filters: Mapping[str, Any] | None, top_k: int) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the checked filters, and the owners among them that the bank itself can compare."""
        if not isinstance(top_k, int) or isinstance(top_k, bool) or top_k < 0:
            raise ValueError(f"top_k: expected a number from 0, got {top_k!r}")
        wanted = dict(filters or {})
        check(wanted)
        plain = {
            name: wanted[name] for name in OWNERS if name in wanted and not isinstance(wanted[name], Mapping | list)
        }
        owners = _owners(**plain)
        wanted.update(owners)
        if not any(name in wanted for name in OWNERS):
            raise ValueError("filters: expected at least one of user_id, agent_id and run_id")
        return wanted, {name: value for name, value in owners.items() if value != "*"}

    def _there(self, memory_id: str) -> Record:
        found = self.bank.get(memory_id)
        if found is None:
            raise ValueError(f"Memory with id {memory_id} not found")
        return found


def _awaited(method: Callable[Concatenate[Memory, P], R]) -> Callable[Concatenate[AsyncMemory, P], Awaitable[R]]:
    @wraps(method)
    async def waiting(self: AsyncMemory, /, *arguments: P.args, **named: P.kwargs) -> R:
        return await asyncio.to_thread(method, self.memory, *arguments, **named)

    return waiting


class AsyncMemory:
    """The same, awaited."""

    def __init__(self, config: object = None, *, bank: Bank | str = "mem0", data: str | None = None) -> None:
        self.memory = Memory(config, bank=bank, data=data)

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any], **more: Any) -> Self:
        return cls(config_dict, **more)

    add = _awaited(Memory.add)
    get = _awaited(Memory.get)
    get_all = _awaited(Memory.get_all)
    search = _awaited(Memory.search)
    update = _awaited(Memory.update)
    delete = _awaited(Memory.delete)
    delete_all = _awaited(Memory.delete_all)
    history = _awaited(Memory.history)
    reset = _awaited(Memory.reset)

    def close(self) -> None:
        self.memory.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.close)


def _warn_of(config: object) -> None:
    parts = config if isinstance(config, Mapping) else vars(config)
    named = ", ".join(sorted(parts)) or "nothing"
    warnings.warn(f"Pieria has its own store and models; these parts have no effect: {named}", stacklevel=4)


def _refuse_old(given: Mapping[str, object]) -> None:
    """Raise for parameters of mem0's earlier versions, with what takes their place."""
    for name in given:
        if name in OWNERS:
            raise ValueError(f"{name}: put it into filters, such as filters={{{name!r}: {given[name]!r}}}")
        if name == "limit":
            raise ValueError(f"limit: it is called top_k, such as top_k={given[name]!r}")
        raise TypeError(f"{name}: there is no such parameter")


def _owners(**given: object) -> dict[str, str]:
    """Return the given owners as texts without spaces around them."""
    owners = {name: str(value).strip() for name, value in given.items() if value is not None}
    for name, value in owners.items():
        if not value or any(character.isspace() for character in value):
            raise ValueError(f"{name}: expected a name without spaces, got {value!r}")
    return owners


def _texts(messages: object) -> Iterator[tuple[str | None, str | None, str]]:
    """Yield role, name and text of each message but those of the system. A bare text is the user's."""
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    elif isinstance(messages, Mapping):
        messages = [messages]
    if not isinstance(messages, Sequence) or not all(isinstance(one, Mapping) for one in messages):
        raise ValueError(f"messages: expected a text, a message or a list of messages, got {type(messages).__name__}")
    for message in messages:
        role, content = message.get("role"), message.get("content")
        if isinstance(content, list):
            content = "\n".join(part["text"] for part in content if isinstance(part, Mapping) and "text" in part)
        if role != "system" and isinstance(content, str) and content.strip():
            yield role, message.get("name"), content


def _day(value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, datetime):
        return value.date().isoformat()
    if isinstance(value, date):
        return value.isoformat()
    try:
        return date.fromisoformat(str(value)).isoformat()
    except ValueError:
        raise ValueError(f"expiration_date: expected a day as YYYY-MM-DD, got {value!r}") from None


def _item(memory: Record) -> dict[str, Any]:
    promoted = {name: memory.meta[name] for name in PROMOTED if name in memory.meta}
    metadata = {name: value for name, value in memory.meta.items() if name not in PROMOTED}
    return {
        "id": memory.id,
        "memory": memory.text,
        "hash": hashlib.md5(memory.text.encode(), usedforsecurity=False).hexdigest(),
        "created_at": iso(memory.at),
        "updated_at": iso(memory.known_from),
        **promoted,
        **({"metadata": metadata} if metadata else {}),
    }


def _flat(item: Mapping[str, Any]) -> dict[str, Any]:
    return {**item.get("metadata", {}), **{name: value for name, value in item.items() if name != "metadata"}}


def _role(memory: Record) -> dict[str, Any]:
    return {name: memory.meta[name] for name in ("role", "actor_id") if name in memory.meta}
