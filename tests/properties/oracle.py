"""The expected answers of a bank, computed by linear search over lists of stretches of known time.

The oracle shares only error classes and the spelling of instants with the engine. Every instant is a whole number
of microseconds. It has no storage, no index and no optimisation. All callers are agents: others test trust.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.properties import oracle_rules as rules
from tests.properties.oracle_rules import Reader, bounded, check_scope, may_see, tie

from pieria.errors import ConflictError, InputError, NotFoundError
from pieria.record.time import iso, moment

NEW: dict[str, Any] = {
    "version": 1, "kind": "note", "title": None, "body": {}, "tags": [], "entities": [], "files": [], "flags": [],
    "source": None, "context": None, "author": None, "author_type": None, "channel": None, "session": None,
    "sequence": None, "scope": "bank", "importance": 0.5, "confidence": None, "strength": 1.0, "pinned": False,
    "valid_from": None, "valid_until": None, "meta": {}, "status": "active", "tier": "working", "ended": "",
    "reason": None, "superseded_by": None, "via": "agent", "trust": 0.6,
}  # fmt: skip


@dataclass
class Stretch:
    """The values of a memory or link between two changes."""

    values: dict[str, Any]
    begin: int
    end: int | None = None

    def held_at(self, known: int | None) -> bool:
        if known is None:
            return self.end is None
        return self.begin <= known and (self.end is None or known < self.end)


Histories = dict[str, list[Stretch]]


@dataclass
class Entry:
    """One change: its time, its name and the stretches it opened. A change without stretches cannot be undone."""

    seq: int
    at: int
    what: str
    opened: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class Oracle:
    """The expected content of one bank. `now` reads the same clock as the bank."""

    name: str
    now: Callable[[], int]
    memories: Histories = field(default_factory=dict)
    links: Histories = field(default_factory=dict)
    journal: list[Entry] = field(default_factory=list)
    purged: dict[str, None] = field(default_factory=dict)

    def change(self, what: str) -> Entry:
        last = self.journal[-1].at if self.journal else 0
        entry = Entry(len(self.journal) + 1, max(self.now(), last + 1), what)
        self.journal.append(entry)
        return entry

    def held(self, kind: str) -> Histories:
        return self.memories if kind == "memory" else self.links

    def open(self, entry: Entry, kind: str, id: str, values: dict[str, Any]) -> None:
        """Close the open stretch and start the next. A second call within one change updates the same stretch."""
        stretches = self.held(kind).setdefault(id, [])
        if stretches and stretches[-1].begin == entry.at:
            stretches[-1].values = dict(values)
            return
        if stretches:
            stretches[-1].end = entry.at
        stretches.append(Stretch(dict(values), entry.at))
        entry.opened.append((kind, id))

    def settle(self, entry: Entry) -> None:
        """Limit everything derived from the touched memories by its sources, at every depth."""
        waiting = [id for kind, id in entry.opened if kind == "memory"]
        for kind, id in entry.opened:
            if kind == "link" and self.links[id][-1].values["relation"] == "provenance":
                waiting.append(self.links[id][-1].values["source"])
        seen: set[str] = set()
        while waiting:
            id = waiting.pop(0)
            held = self.bounded_by_sources(id, self.current(id))
            if changed := held != self.current(id):
                self.open(entry, "memory", id, held)
            if changed or id not in seen:
                seen.add(id)
                waiting += self.drawn(id, upwards=False)

    def bounded_by_sources(self, id: str, held: dict[str, Any]) -> dict[str, Any]:
        for source in self.drawn(id, upwards=True):
            held = held if held["ended"] else bounded(held, self.current(source))
        return held

    def current(self, id: str) -> dict[str, Any]:
        return self.memories[id][-1].values

    def ties(self) -> dict[str, dict[str, Any]]:
        """Return the current links, in the order of their last write."""
        last = {id: stretches[-1] for id, stretches in self.links.items() if not stretches[-1].values["ended"]}
        return {id: stretch.values for id, stretch in sorted(last.items(), key=lambda item: item[1].begin)}

    def drawn(self, id: str, *, upwards: bool) -> list[str]:
        """Return the sources of an id or, downwards, the memories derived from it."""
        here, there = ("source", "target") if upwards else ("target", "source")
        ties = [values for values in self.ties().values() if values["relation"] == "provenance"]
        return [values[there] for values in ties if values[here] == id]

    def sources(self, id: str) -> set[str]:
        """Return all direct and indirect sources of an id."""
        found: set[str] = set()
        waiting = [id]
        while waiting:
            new = set(self.drawn(waiting.pop(), upwards=True)) - found
            found |= new
            waiting += new
        return found

    def seen(self, id: str, reader: Reader) -> dict[str, Any]:
        if id not in self.memories or not may_see(reader, self.current(id)):
            raise NotFoundError("memory", id)
        return self.current(id)

    def standing(self, id: str, reader: Reader) -> dict[str, Any]:
        """Return the memory's current values. Raise an error if this reader may not change it."""
        if self.seen(id, reader)["ended"]:
            raise ConflictError("ended", ids=(id,))
        return self.current(id)

    def known(self, known: int | None = None) -> Iterator[tuple[str, Stretch]]:
        for id, stretches in self.memories.items():
            for stretch in stretches:
                if stretch.held_at(known):
                    yield id, stretch

    def visible(self, reader: Reader, known: int | None = None, **asked: Any) -> dict[str, Stretch]:
        """Return the visible memories. A session or channel in the question replaces the reader's own."""
        speaks = Reader(asked.get("session", reader.session), asked.get("channel", reader.channel))
        return {
            id: stretch
            for id, stretch in self.known(known)
            if may_see(speaks, stretch.values) and rules.wanted(stretch.values, self.now(), asked)
        }

    def shown(self, id: str, stretch: Stretch) -> dict[str, Any]:
        """Return what `Memory.as_dict` shows, without the store's row number."""
        shown = {"id": id, **stretch.values, "known_from": stretch.begin, "known_until": stretch.end}
        del shown["type"]
        for name in (*rules.TIMES, "known_from", "known_until"):
            shown[name] = None if shown[name] is None else iso(moment(shown[name]))
        return shown

    def remember(self, entry: Entry, id: str, given: dict[str, Any]) -> None:
        """Open the first stretch of a memory. `given` already carries the reader's signature."""
        values = {**NEW, **{name: value for name, value in given.items() if value is not None}}
        values.setdefault("place", f"{self.name}/{values['kind']}")
        values.setdefault("at", self.now())
        values["type"] = values["body"].get("type")
        self.open(entry, "memory", id, values)

    def update(self, id: str, reader: Reader, given: dict[str, Any], reason: str | None) -> None:
        old = self.standing(id, reader)
        new = {**old, **given, "reason": reason}
        new["type"] = (new["body"] or {}).get("type")
        rules.check_valid(new)
        check_scope(new)
        if any(new[name] != old[name] for name in rules.CONTENT):
            new["version"] = 1 + max(stretch.values["version"] for stretch in self.memories[id])
        if new == (old if reason is not None else {**old, "reason": None}):
            return
        self.restand("update", id, new)

    def newest_revision(self, id: str) -> str:
        while id in self.memories and self.current(id)["ended"] == "revised":
            id = self.current(id)["superseded_by"]
        return id

    def revise(
        self, id: str, reader: Reader, given: dict[str, Any], reason: str | None, made: str, made_links: list[Any]
    ) -> None:
        """Replace a memory by a new revision. `made_links` are the bank's links, which supply the ids."""
        id = self.newest_revision(id)
        old = self.standing(id, reader)
        if old["valid_until"] is not None and old["valid_until"] <= self.now():
            raise ConflictError("the memory is no longer valid", ids=(id,))
        by = (given.get(name) or getattr(reader, name) for name in ("author", "author_type"))
        new = {**old, **given, **rules.said_by(old, *by), "at": given.get("at", self.now())}
        new |= {"version": 1, "reason": reason, "superseded_by": None, "type": (new["body"] or {}).get("type")}
        ties = self.ties().values()
        copied = [{**held, "source": made} for held in ties if (held["relation"], held["source"]) == ("provenance", id)]
        entry = self.change("revise")
        self.open(entry, "memory", id, {**old, "ended": "revised", "superseded_by": made, "reason": reason})
        self.open(entry, "memory", made, new)
        for values in (tie(made, id, "revises", 1.0, reason), *copied):
            [same, *_] = [link for link in made_links if all(link[name] == values[name] for name in values)]
            made_links.remove(same)
            self.open(entry, "link", same["id"], values)
        assert made_links == []
        self.settle(entry)

    def invalidate(self, id: str, reader: Reader, at: int | None, replacement: str | None, reason: str | None) -> None:
        old = self.standing(id, reader)
        until = self.now() if at is None else at
        if old["valid_until"] is not None and old["valid_until"] <= until:
            until = old["valid_until"]
            if replacement is None or replacement == old["superseded_by"]:
                raise ConflictError("already", ids=(id,))
        if old["valid_from"] is not None and until <= old["valid_from"]:
            raise InputError("at", "later", at)
        leads_to = replacement or old["superseded_by"]
        self.restand("invalidate", id, {**old, "valid_until": until, "superseded_by": leads_to, "reason": reason})

    def restand(self, what: str, id: str, values: dict[str, Any]) -> None:
        entry = self.change(what)
        self.open(entry, "memory", id, values)
        self.settle(entry)

    def remove(self, id: str, reader: Reader, reason: str | None) -> None:
        self.restand("remove", id, {**self.standing(id, reader), "ended": "removed", "reason": reason})

    def restore(self, id: str, reader: Reader) -> None:
        if self.seen(id, reader)["ended"] != "removed":
            raise ConflictError("not removed", ids=(id,))
        back = {**self.current(id), "ended": "", "reason": None}
        if self.bounded_by_sources(id, back)["ended"]:
            raise ConflictError("it stands on nothing", ids=(id,))
        self.restand("restore", id, back)

    def pin(self, id: str, reader: Reader, pinned: bool) -> None:
        old = self.standing(id, reader)
        if old["pinned"] != pinned:
            self.restand("pin" if pinned else "unpin", id, {**old, "pinned": pinned, "reason": None})

    def tied(self, source: str, target: str, relation: str) -> str | None:
        """Return the id of the link between two ends. Siblings and tunnels have no direction."""
        for id, values in self.ties().items():
            ends = (values["source"], values["target"])
            both_ways = relation in rules.DIRECTIONLESS and ends == (target, source)
            if values["relation"] == relation and (ends == (source, target) or both_ways):
                return id
        return None

    def link(self, reader: Reader, new: dict[str, Any], made: str) -> str:
        source, target, relation = new["source"], new["target"], new["relation"]
        if relation == "revises":
            raise InputError("relation", "one of your own", relation)
        if source == target:
            raise InputError("target", "another", target)
        for end in (source, target):
            if "/" not in end:
                self.standing(end, reader)
        there = self.tied(source, target, relation)
        if there is not None:
            old = self.links[there][-1].values
            new = new | {"source": old["source"], "target": old["target"]}
            if old == new:
                return there
        if relation == "provenance":
            if source in self.sources(target):
                raise ConflictError("a circle", ids=(source, target))
            if bounded(self.current(source), self.current(target))["ended"]:
                raise ConflictError("nothing in common", ids=(source, target))
        entry = self.change("link")
        self.open(entry, "link", there or made, new)
        self.settle(entry)
        return there or made

    def unlink(self, reader: Reader, id: str) -> None:
        held = self.links[id][-1].values
        ends = [end for end in (held["source"], held["target"]) if "/" not in end]
        if held["relation"] == "revises" or not all(may_see(reader, self.current(end)) for end in ends):
            raise NotFoundError("link", "")
        entry = self.change("unlink")
        self.open(entry, "link", id, {**held, "ended": "removed"})
        self.settle(entry)

    def latest(self, what: str | None = None) -> list[int]:
        """Return the changes, or those of one verb, whose results no later change has replaced."""
        return [
            entry.seq
            for entry in self.journal
            if entry.opened
            and what in (None, entry.what)
            and all(id in self.held(kind) and self.held(kind)[id][-1].begin == entry.at for kind, id in entry.opened)
        ]

    def undo(self, seq: int, reader: Reader) -> None:
        if not 1 <= seq <= len(self.journal):
            raise NotFoundError("change", str(seq))
        undone = self.journal[seq - 1]
        if not undone.opened or any(id not in self.held(kind) for kind, id in undone.opened):
            raise ConflictError("it changed data without versions, or data purged since")
        for kind, id in undone.opened:
            self.check_undoable(undone, kind, id, reader)
        before = {
            (kind, id): [stretch.values for stretch in self.held(kind)[id] if stretch.end == undone.at]
            for kind, id in undone.opened
        }
        entry = self.change(f"undo {seq}")
        for (kind, id), values in before.items():
            why = {} if kind == "link" else {"reason": f"undo of change {seq}"}
            ended = {**self.held(kind)[id][-1].values, "ended": "removed", **why}
            self.open(entry, kind, id, values[0] if values else ended)
        self.settle(entry)

    def check_undoable(self, undone: Entry, kind: str, id: str, reader: Reader) -> None:
        stretches = self.held(kind)[id]
        values = stretches[-1].values
        if stretches[-1].begin != undone.at:
            raise ConflictError("later changes depend on it")
        touched = [id] if kind == "memory" else [values["source"], values["target"]]
        if any(end in self.memories and not may_see(reader, self.current(end)) for end in touched):
            raise ConflictError("it touched what is not seen")
        if kind == "memory" and len(stretches) == 1:
            later = [self.links[tie][-1] for tie in self.ties() if self.links[tie][-1].begin > undone.at]
            if any(id in (link.values["source"], link.values["target"]) for link in later):
                raise ConflictError("later links rest on it")

    def story(self, *ids: str, drawn: bool = False) -> set[str]:
        """Return the ids with all their revisions. With `drawn`, include everything derived from them."""
        found = set(ids)
        waiting = list(ids)
        while waiting:
            here = waiting.pop()
            for stretches in self.links.values():
                last = stretches[-1].values
                ends = last["source"], last["target"]
                follows = drawn and last["relation"] == "provenance" and ends[1] == here and not last["ended"]
                if here in ends and (follows or last["relation"] == "revises"):
                    other = ends[0] if ends[1] == here else ends[1]
                    if other not in found:
                        found.add(other)
                        waiting.append(other)
        return found

    def purge(self, ids: list[str]) -> set[str]:
        """Purge the ids with all their revisions and everything derived from them."""
        gone = self.story(*ids, drawn=True)
        self.change("purge")
        for id in sorted(gone):
            self.memories.pop(id)
            self.purged[id] = None
        ends = {id: {held[0].values["source"], held[0].values["target"]} for id, held in self.links.items()}
        self.links = {id: held for id, held in self.links.items() if not gone & ends[id]}
        return gone
