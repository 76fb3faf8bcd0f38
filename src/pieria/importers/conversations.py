"""Conversations from exports of chats, by the readers of `pieria.mining`: a turn has the same id either way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from pieria.errors import TransferError
from pieria.importers import Importer
from pieria.importers.items import Item, Left, MemoryItem, Problem
from pieria.importers.source import Source
from pieria.mining import said
from pieria.mining.conversations.discovery import find
from pieria.mining.records import Filing


def conversations(name: str, title: str, expects: str) -> Importer:
    """Return the importer of a format of conversations."""
    return Importer(name, title, expects, partial(_read, name, expects))


def _read(format: str, expects: str, source: Source) -> Iterator[Item]:
    path = source.path
    try:
        found = list(find(path, format, lambda name, size, changed: None))
    except OSError as problem:
        raise TransferError(path, f"it cannot be read ({problem.strerror or problem})") from problem
    talks = [one for one in found if isinstance(one, said.Source)]
    if not talks:
        raise TransferError(path, "it holds no conversation of this kind", hint=f"Expected {expects}.")
    source.total = sum(talk.size for talk in talks)
    for other in found:
        if isinstance(other, said.Wrong):
            yield Problem(other.source or path.name, other.reason, other.excerpt)
        elif isinstance(other, said.Unseen):
            yield Problem(other.path, other.reason)
        elif isinstance(other, said.Left):
            yield Left(other.reason)
    done = 0
    for talk in talks:
        yield from _turns(source, talk, done)
        done += talk.size


def _turns(source: Source, talk: said.Source, done: int) -> Iterator[Item]:
    filing = Filing()
    for one in talk.read(lambda at: source.heard(done + at)):
        if isinstance(one, said.Turn):
            for new in filing.turn(talk, one):
                yield MemoryItem(str(new.id), replace(new, id=None, source=talk.format, meta={}))
        elif isinstance(one, said.Left):
            yield Left(one.reason)
        elif isinstance(one, said.Wrong):
            number = "" if one.record is None else f", record {one.record:,}"
            yield Problem(f"{talk.name}{number}", one.reason, one.excerpt)
