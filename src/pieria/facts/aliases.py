"""Aliases: other names of one entity, kept in the bank's own records.

Facts keep the name they were written with. Look-ups follow aliases, so an alias also applies to earlier facts and can
be removed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from pieria.errors import ConflictError, InputError, NotFoundError
from pieria.record.changeset import Record
from pieria.record.fact import folded
from pieria.record.ids import derived_id
from pieria.store.protocol import Reader

COLLECTION = "aliases"
"""An alias is {"name", "of"}, its entity {"name", "also": [...]}. Their ids are derived from the key: the journal shows
the keys of records, and must not show names."""


class Planned(NamedTuple):
    records: list[Record]
    entity: str
    """The key of the entity that the name now belongs to."""


class Aliases:
    """The aliases that one reader sees. Each is read once."""

    def __init__(self, reader: Reader, *, all_at_once: bool = False) -> None:
        self._reader = reader
        self._held: dict[str, dict[str, Any] | None] = {}
        self._keys: dict[str, str] = {}
        self._complete = all_at_once
        if all_at_once:
            self._held.update({folded(held["name"]): held for held in reader.records(COLLECTION).values()})

    def root(self, key: str) -> str:
        """Return the key of the entity for a key: the key itself if it is no alias."""
        held = self._of(key)
        return key if held is None or "of" not in held else folded(held["of"])

    def entity(self, name: str) -> str:
        """Return the key of the entity for a name."""
        found = self._keys.get(name)
        if found is None:
            found = self._keys[name] = self.root(folded(name))
        return found

    def is_alias(self, name: str) -> bool:
        return self.entity(name) != folded(name)

    def names(self, key: str) -> tuple[str, ...]:
        """Return the aliases of the entity for a key, without its own name."""
        held = self._of(self.root(key))
        return () if held is None else tuple(held["also"])

    def group(self, name: str) -> tuple[str, ...]:
        """Return every key that facts about this name may be stored under."""
        root = self.entity(name)
        return (root, *(folded(other) for other in self.names(root)))

    def display(self, key: str) -> str | None:
        held = self._of(key)
        return None if held is None else str(held["name"])

    def pairs(self) -> dict[str, str]:
        """Return a mapping of alias to entity, as spelt."""
        found = {}
        for held in self._reader.records(COLLECTION).values():
            found.update(dict.fromkeys(held.get("also", ()), held["name"]))
        return dict(sorted(found.items()))

    def added(self, name: str, of: str) -> Planned:
        """Plan to make `name`, with all its own aliases, an alias of the entity of `of`."""
        key, root = folded(name), self.entity(of)
        if key == folded(of):
            raise InputError("of", "another name: these two are one already", of)
        if self.root(key) == root:
            if key == root:
                raise ConflictError("it would lead in a circle: the second name is an alias of the first")
            return Planned([], root)
        if self.root(key) != key:
            raise ConflictError(
                "the name is an alias of another entity",
                hint="Take that back with `unalias`, or give that entity's name.",
            )
        entity = self.display(root) or self._spelt(root, of)
        moved = [self._spelt(key, name), *self.names(key)]
        records = [_record(root, {"name": entity, "also": sorted({*self.names(root), *moved})})]
        records += [_record(folded(other), {"name": other, "of": entity}) for other in moved]
        return Planned(records, root)

    def taken_back(self, name: str) -> Planned:
        key = folded(name)
        root = self.root(key)
        if root == key:
            hint = "It is the entity's own name; its aliases can be taken back." if self.names(key) else None
            raise NotFoundError("alias", name, hint=hint or "`aliases` lists those there are.")
        left = [other for other in self.names(root) if folded(other) != key]
        entity = {"name": self.display(root), "also": left} if left else None
        return Planned([_record(key, None), _record(root, entity)], key)

    def _spelt(self, key: str, given: str) -> str:
        return self._reader.spelling(key) or given

    def look_up(self, keys: Iterable[str]) -> None:
        """Read all of these in one look-up, for a caller that asks for each later."""
        new = {} if self._complete else {_id(key): key for key in keys if key not in self._held}
        if new:
            held = self._reader.records(COLLECTION, keys=list(new))
            self._held.update((key, held.get(id)) for id, key in new.items())

    def _of(self, key: str) -> dict[str, Any] | None:
        self.look_up((key,))
        return self._held.get(key)


def _id(key: str) -> str:
    return derived_id("", key)


def _record(key: str, value: dict[str, Any] | None) -> Record:
    return Record(COLLECTION, _id(key), value)
