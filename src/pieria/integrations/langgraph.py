"""LangGraph's long-term memory: a `BaseStore` whose items are memories of a bank."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, Self

from pieria.bank import Bank
from pieria.errors import ConflictError, UnavailableError
from pieria.record.ids import derived_id
from pieria.record.memory import Memory
from pieria.runtime.key_locks import turns
from pieria.workspace import open as open_bank

try:
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        Item,
        ListNamespacesOp,
        MatchCondition,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        TTLConfig,
        get_text_at_path,
        tokenize_path,
    )
except ImportError as problem:
    raise UnavailableError(
        "langgraph", "langgraph is not installed", hint="Install it: pip install 'pieria[langgraph]'."
    ) from problem

SOURCE = "langgraph:"
PAGE = 100
WHOLE = "$"
TRIES = 10
"""How often a write is tried while other processes write the same key."""
Namespace = tuple[str, ...]
Compare = Callable[[Any, Any], bool]


class PieriaStore(BaseStore):
    """Items of namespaces, in one bank. Threads may share it.

    `index` names the fields of a value that a search compares; by default the whole value. `ttl` holds LangGraph's
    defaults for items that expire. `clock` is for tests.
    """

    supports_ttl = True

    def __init__(
        self,
        bank: Bank | str = "langgraph",
        *,
        data: str | None = None,
        index: Sequence[str] = (WHOLE,),
        ttl: TTLConfig | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.bank = open_bank(bank, data=data) if isinstance(bank, str) else bank
        self.ttl_config = ttl
        self._owns = isinstance(bank, str)
        self._index = tuple(index)
        self._clock = clock

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        return [self._done(op) for op in ops]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await asyncio.to_thread(self.batch, list(ops))

    def close(self) -> None:
        """Close the bank, if this object opened it."""
        if self._owns:
            self.bank.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _done(self, op: Op) -> Result:
        match op:
            case GetOp():
                return self._get(op)
            case PutOp():
                self._put(op)
                return None
            case SearchOp():
                return self._search(op)
            case ListNamespacesOp():
                return self._namespaces(op)

    def _get(self, op: GetOp) -> Item | None:
        found = self.bank.get(_id(op.namespace, op.key))
        if found is None or not self._holds(found):
            return None
        if op.refresh_ttl:
            self._refresh([found])
        return Item(**_fields(found))

    def _put(self, op: PutOp) -> None:
        """Write the item. The last of several writers of one key wins, also among processes."""
        id = _id(op.namespace, op.key)
        with turns.of("langgraph", id):
            for attempt in range(TRIES):
                try:
                    return self._write(id, op)
                except ConflictError:
                    if attempt == TRIES - 1:
                        raise

    def _write(self, id: str, op: PutOp) -> None:
        old = self.bank.get(id, include_removed=True)
        if op.value is None:
            if old is not None and not old.removed:
                self.bank.remove(id)
            return
        now = self._clock()
        stay = None if op.ttl is None else now + timedelta(minutes=op.ttl)
        meta = {"namespace": list(op.namespace), "key": op.key, "value": dict(op.value), "ttl": op.ttl}
        meta |= {_level(number): label for number, label in enumerate(op.namespace)}
        kept: dict[str, Any] = {"text": self._text(op), "meta": meta, "valid_until": stay}
        if old is None:
            self.bank.remember(id=id, source=SOURCE + json.dumps(op.namespace), at=now, valid_from=None, **kept)
            return
        if old.removed:
            self.bank.restore(id)
        # Once deleted or expired, it is a new item.
        if old.removed or not self._holds(old):
            kept["at"] = now
        self.bank.update(id, **kept)

    def _text(self, op: PutOp) -> str:
        """Return the text that a search compares: the fields of the index, or the key if nothing is indexed."""
        assert op.value is not None
        if op.index is False:
            return op.key
        value = dict(op.value)
        found: list[str] = []
        for path in self._index if op.index is None else op.index:
            found += _lines(value) if path == WHOLE else get_text_at_path(value, tokenize_path(path))
        return "\n".join(text for text in found if text.strip()) or op.key

    def _search(self, op: SearchOp) -> list[SearchItem]:
        wanted = {_level(number): label for number, label in enumerate(op.namespace_prefix)}
        found = self._listed(wanted) if not op.query else self._recalled(op.query, wanted)
        passing = ((memory, score) for memory, score in found if _is_ours(memory) and _passes(memory, op.filter or {}))
        page = list(islice(passing, op.offset, op.offset + op.limit))
        if op.refresh_ttl:
            self._refresh([memory for memory, _ in page])
        return [SearchItem(**_fields(memory), score=score) for memory, score in page]

    def _listed(self, meta: Mapping[str, str]) -> Iterator[tuple[Memory, None]]:
        cursor = None
        while True:
            page = self.bank.list(order="oldest", limit=PAGE, cursor=cursor, meta=meta)
            yield from ((memory, None) for memory in page)
            if (cursor := page.cursor) is None:
                return

    def _recalled(self, query: str, meta: Mapping[str, str]) -> Iterator[tuple[Memory, float]]:
        cursor = None
        while True:
            recalled = self.bank.recall(query, k=PAGE, meta=meta, cursor=cursor)
            yield from ((hit.memory, hit.score) for hit in recalled)
            if (cursor := recalled.cursor) is None:
                return

    def _namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        sources = self.bank.count(by="source")
        assert isinstance(sources, Mapping)
        there = [tuple(json.loads(name.removeprefix(SOURCE))) for name in sources if name and name.startswith(SOURCE)]
        matching = (one for one in there if all(_matches(one, condition) for condition in op.match_conditions or ()))
        cut = sorted({one if op.max_depth is None else one[: op.max_depth] for one in matching})
        return cut[op.offset : op.offset + op.limit]

    def _holds(self, memory: Memory) -> bool:
        return memory.valid_until is None or memory.valid_until > self._clock()

    def _refresh(self, memories: Iterable[Memory]) -> None:
        """Let items that were read live on for their time."""
        for memory in memories:
            if (ttl := memory.meta.get("ttl")) is not None:
                self.bank.update(memory.id, valid_until=self._clock() + timedelta(minutes=ttl))


def _id(namespace: Namespace, key: str) -> str:
    return derived_id(SOURCE, *namespace, key)


def _level(number: int) -> str:
    return f"namespace_{number}"


def _is_ours(memory: Memory) -> bool:
    return (memory.source or "").startswith(SOURCE)


def _lines(value: Mapping[str, Any]) -> list[str]:
    """Return a value as people read it: `name: text` lines, and parts with a structure as JSON."""

    def told(part: object) -> str:
        return part if isinstance(part, str) else json.dumps(part, ensure_ascii=False, sort_keys=True, default=str)

    return [f"{name}: {told(part)}" for name, part in value.items()]


def _fields(memory: Memory) -> dict[str, Any]:
    return {
        "namespace": tuple(memory.meta["namespace"]),
        "key": memory.meta["key"],
        "value": dict(memory.meta["value"]),
        "created_at": memory.at,
        "updated_at": memory.known_from,
    }


def _ordered(compare: Compare) -> Compare:
    """Return a comparison that fails for values without an order between them."""

    def holds(value: Any, wanted: Any) -> bool:
        try:
            return compare(value, wanted)
        except TypeError:
            return False

    return holds


OPERATORS: Mapping[str, Compare] = {
    "$eq": lambda value, wanted: bool(value == wanted),
    "$ne": lambda value, wanted: bool(value != wanted),
    "$gt": _ordered(lambda value, wanted: bool(value > wanted)),
    "$gte": _ordered(lambda value, wanted: bool(value >= wanted)),
    "$lt": _ordered(lambda value, wanted: bool(value < wanted)),
    "$lte": _ordered(lambda value, wanted: bool(value <= wanted)),
}


def _passes(memory: Memory, filter: Mapping[str, Any]) -> bool:
    value = memory.meta["value"]
    return all(_meets(value.get(name), condition) for name, condition in filter.items())


def _meets(value: Any, condition: Any) -> bool:
    if not isinstance(condition, Mapping):
        return bool(value == condition)
    operators = [name for name in condition if name.startswith("$")]
    if not operators:
        return bool(value == condition)
    if unknown := sorted(set(condition) - set(OPERATORS)):
        raise ValueError(f"filter: expected operators among {', '.join(OPERATORS)}, got {', '.join(unknown)}")
    return all(OPERATORS[name](value, wanted) for name, wanted in condition.items())


def _matches(namespace: Namespace, condition: MatchCondition) -> bool:
    path = condition.path
    if len(namespace) < len(path):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[-len(path) :]
    return all(wanted in ("*", label) for wanted, label in zip(path, part, strict=True))
