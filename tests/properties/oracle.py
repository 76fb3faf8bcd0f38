"""What a bank should answer, written in the plainest way: lists of stretches of known time, searched from end to end.

Nothing here is shared with the engine but its error classes, the spelling of an instant, and the trust of an author.
Every instant is a whole number of microseconds. It knows no storage, no index and no haste.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from pieria.errors import ConflictError, InputError, NotFoundError
from pieria.record.time import iso, moment

TRUST = {"human": 0.9, "system": 0.8, "agent": 0.6, None: 0.5}
TIMES = ("at", "valid_from", "valid_until")
CONTENT = ("title", "text", "body", "tags", "entities", "files", "context", "meta")
ROUTING = ("tag", "intent", "subgoal", "source")


@dataclass(frozen=True)
class Reader:
    """Who reads: the session and channel a handle was opened for."""

    session: str | None = None
    channel: str | None = None


@dataclass
class Stretch:
    """How a memory, link or fact stood from one change to the next."""

    values: dict[str, Any]
    begin: int
    end: int | None = None

    def held_at(self, known: int | None) -> bool:
        if known is None:
            return self.end is None
        return self.begin <= known and (self.end is None or known < self.end)


@dataclass
class Entry:
    """One change: when, what, and which stretches it opened. `undoable` says that it did nothing else."""

    seq: int
    at: int
    what: str
    opened: list[tuple[str, str]] = field(default_factory=list)
    undoable: bool = True


@dataclass
class Oracle:
    """One bank. `now` reads the clock that the bank reads."""

    name: str
    now: Callable[[], int]
    memories: dict[str, list[Stretch]] = field(default_factory=dict)
    links: dict[str, list[Stretch]] = field(default_factory=dict)
    usage: dict[str, dict[str, Any]] = field(default_factory=dict)
    journal: list[Entry] = field(default_factory=list)
    purged: set[str] = field(default_factory=set)
    drawn_facts: dict[str, set[str]] = field(default_factory=dict)

    # --- changes

    def change(self, what: str, undoable: bool = True) -> Entry:
        last = self.journal[-1].at if self.journal else 0
        entry = Entry(len(self.journal) + 1, max(self.now(), last + 1), what, undoable=undoable)
        self.journal.append(entry)
        return entry

    def open(self, entry: Entry, kind: str, id: str, values: dict[str, Any]) -> None:
        """Closes the stretch before, if there is one, and opens the next; within one change there is one stretch."""
        stretches = (self.memories if kind == "memory" else self.links).setdefault(id, [])
        if stretches and stretches[-1].begin == entry.at:
            stretches[-1].values = dict(values)
            return
        if stretches:
            stretches[-1].end = entry.at
        stretches.append(Stretch(dict(values), entry.at))
        entry.opened.append((kind, id))

    def settle(self, entry: Entry) -> None:
        """What is drawn from others follows them: with every change, all the way down."""
        waiting = [id for kind, id in entry.opened if kind == "memory"]
        for kind, id in entry.opened:
            if kind == "link" and self.links[id][-1].values["relation"] == "provenance":
                waiting.append(self.links[id][-1].values["source"])
        seen: set[str] = set()
        while waiting:
            id = waiting.pop(0)
            held = self.current(id)
            for source in self.drawn(id, upwards=True):
                if not held["ended"]:
                    held = bounded(held, self.current(source))
            changed = held != self.current(id)
            if changed:
                self.open(entry, "memory", id, held)
            if changed or id not in seen:
                seen.add(id)
                waiting += self.drawn(id, upwards=False)

    def drawn(self, id: str, *, upwards: bool) -> list[str]:
        """What an id is drawn from or, downwards, what is drawn from it."""
        here, there = ("source", "target") if upwards else ("target", "source")
        held = [stretches[-1].values for stretches in self.links.values()]
        ties = [values for values in held if values["relation"] == "provenance" and not values["ended"]]
        return [values[there] for values in ties if values[here] == id]

    # --- what is there

    def current(self, id: str) -> dict[str, Any]:
        return self.memories[id][-1].values

    def standing(self, id: str, reader: Reader) -> dict[str, Any]:
        """The memory's present values, if this reader may change it."""
        if id not in self.memories or not may_see(reader, self.current(id)):
            raise NotFoundError("memory", id)
        if self.current(id)["ended"]:
            raise ConflictError("ended", ids=(id,))
        return self.current(id)

    def known(self, known: int | None = None) -> Iterator[tuple[str, Stretch]]:
        for id, stretches in self.memories.items():
            for stretch in stretches:
                if stretch.held_at(known):
                    yield id, stretch

    def visible(self, reader: Reader, known: int | None = None, **asked: Any) -> dict[str, Stretch]:
        now = self.now()
        return {
            id: stretch
            for id, stretch in self.known(known)
            if may_see(reader, stretch.values) and wanted(stretch.values, now, asked)
        }

    def shown(self, id: str, stretch: Stretch) -> dict[str, Any]:
        """As `Memory.as_dict` shows it, but for the row, which is the store's own."""
        shown = {"id": id, **stretch.values, "known_from": stretch.begin, "known_until": stretch.end}
        del shown["type"]
        for name in (*TIMES, "known_from", "known_until"):
            shown[name] = None if shown[name] is None else iso(moment(shown[name]))
        return shown

    # --- verbs

    def remember(self, entry: Entry, id: str, given: dict[str, Any]) -> None:
        body = given.get("body") or {}
        values: dict[str, Any] = {
            "version": 1, "kind": "note", "title": None, "body": {}, "tags": [], "entities": [], "files": [],
            "flags": [], "source": None, "context": None, "author": None, "author_type": None, "channel": None,
            "session": None, "sequence": None, "scope": "bank", "importance": 0.5, "confidence": None,
            "strength": 1.0, "pinned": False, "valid_from": None, "valid_until": None, "meta": {},
            "status": "active", "tier": "working", "ended": "", "reason": None, "superseded_by": None,
            **{name: value for name, value in given.items() if value is not None},
        }  # fmt: skip
        values.setdefault("place", f"{self.name}/{values['kind']}")
        values.setdefault("at", self.now())
        values["type"] = body.get("type")
        values["trust"] = TRUST[values["author_type"]]
        self.open(entry, "memory", id, values)

    def update(self, id: str, reader: Reader, given: dict[str, Any], reason: str | None) -> None:
        old = self.standing(id, reader)
        new = {**old, **given}
        if "scope" in given and old["scope"] == "user":
            raise InputError("scope", "the user's own to stay", given["scope"])
        check_valid(new)
        if new["scope"] == "session" and new["session"] is None and new["channel"] is None:
            raise InputError("scope", "a session", "session")
        if {**new, "reason": reason} == (old if reason is not None else {**old, "reason": None}):
            return
        if any(new[name] != old[name] for name in CONTENT):
            new["version"] = 1 + max(stretch.values["version"] for stretch in self.memories[id])
            new["type"] = (new["body"] or {}).get("type")
        entry = self.change("update")
        self.open(entry, "memory", id, {**new, "reason": reason})
        self.settle(entry)

    def newest_revision(self, id: str) -> str:
        while id in self.memories and self.current(id)["ended"] == "revised":
            id = self.current(id)["superseded_by"]
        return id

    def revise(self, id: str, reader: Reader, given: dict[str, Any], reason: str | None, made: str) -> None:
        id = self.newest_revision(id)
        old = self.standing(id, reader)
        if old["valid_until"] is not None and old["valid_until"] <= self.now():
            raise ConflictError("it no longer holds", ids=(id,))
        new = {**old, "at": self.now(), **given, "version": 1, "reason": reason, "superseded_by": None}
        new["type"] = (new["body"] or {}).get("type")
        entry = self.change("revise")
        self.open(entry, "memory", id, {**old, "ended": "revised", "superseded_by": made, "reason": reason})
        self.open(entry, "memory", made, new)
        self.open(entry, "link", f"revision {made}", tie(made, id, "revises", 1.0, reason))
        for number, stretches in enumerate(list(self.links.values())):
            held = stretches[-1].values
            if held["relation"] == "provenance" and not held["ended"] and held["source"] == id:
                self.open(entry, "link", f"of revision {made} {number}", {**held, "source": made})
        self.settle(entry)

    def invalidate(self, id: str, reader: Reader, at: int | None, replacement: str | None, reason: str | None) -> None:
        if replacement == id:
            raise InputError("replacement", "another", id)
        if replacement is not None:
            self.standing(replacement, reader)
        old = self.standing(id, reader)
        until = self.now() if at is None else at
        if old["valid_until"] is not None and old["valid_until"] <= until:
            until = old["valid_until"]
            if replacement is None or replacement == old["superseded_by"]:
                raise ConflictError("already", ids=(id,))
        if old["valid_from"] is not None and until <= old["valid_from"]:
            raise InputError("at", "later", at)
        leads_to = replacement or old["superseded_by"]
        entry = self.change("invalidate")
        self.open(entry, "memory", id, {**old, "valid_until": until, "superseded_by": leads_to, "reason": reason})
        self.settle(entry)

    def remove(self, id: str, reader: Reader, reason: str | None) -> None:
        old = self.standing(id, reader)
        entry = self.change("remove")
        self.open(entry, "memory", id, {**old, "ended": "removed", "reason": reason})
        self.settle(entry)

    def restore(self, id: str, reader: Reader) -> None:
        if id not in self.memories or not may_see(reader, self.current(id)):
            raise NotFoundError("memory", id)
        if self.current(id)["ended"] != "removed":
            raise ConflictError("not removed", ids=(id,))
        entry = self.change("restore")
        self.open(entry, "memory", id, {**self.current(id), "ended": "", "reason": None})
        self.settle(entry)

    def pin(self, id: str, reader: Reader, pinned: bool) -> None:
        old = self.standing(id, reader)
        if old["pinned"] != pinned:
            entry = self.change("pin")
            self.open(entry, "memory", id, {**old, "pinned": pinned, "reason": None})
            self.settle(entry)

    def touch(self, id: str, reader: Reader, accesses: int, reviews: int, reward: float | None) -> None:
        if not accesses and not reviews and reward is None:
            raise InputError("accesses", "some use", accesses)
        self.standing(id, reader)
        self.change("touch", undoable=False)
        held = self.usage.setdefault(id, dict.fromkeys(("accesses", "reviews", "rewarded"), 0) | {"rewards": 0.0})
        held["accesses"] += accesses
        held["reviews"] += reviews
        held["rewards"] += reward or 0.0
        held["rewarded"] += reward is not None
        for count, last in ((accesses, "last_access"), (reviews, "last_review")):
            if count:
                held[last] = max(self.now(), held.get(last, self.now()))

    def tied(self, source: str, target: str, relation: str) -> str | None:
        """The link there is between two ends; a sibling or a tunnel has no direction."""
        for id, stretches in self.links.items():
            held = stretches[-1].values
            ends = (held["source"], held["target"])
            both_ways = relation in ("sibling", "tunnel") and ends == (target, source)
            if not held["ended"] and held["relation"] == relation and (ends == (source, target) or both_ways):
                return id
        return None

    def link(
        self, reader: Reader, source: str, target: str, relation: str, weight: float, label: str | None, made: str
    ) -> str:
        if source == target:
            raise InputError("target", "another", target)
        for end in (source, target):
            if "/" not in end:
                self.standing(end, reader)
        there = self.tied(source, target, relation)
        new = tie(source, target, relation, weight, label)
        if there is not None:
            old = self.links[there][-1].values
            new |= {"source": old["source"], "target": old["target"]}
            if old == new:
                return there
        if relation == "provenance":
            if source in self.sources(target):
                raise ConflictError("a circle", ids=(source, target))
            if bounded(self.current(source), self.current(target))["ended"]:
                raise ConflictError("never at the same time", ids=(source, target))
        entry = self.change("link")
        self.open(entry, "link", there or made, new)
        self.settle(entry)
        return there or made

    def sources(self, id: str) -> set[str]:
        """Everything that an id is drawn from, however far."""
        found: set[str] = set()
        waiting = [id]
        while waiting:
            for source in self.drawn(waiting.pop(), upwards=True):
                if source not in found:
                    found.add(source)
                    waiting.append(source)
        return found

    def unlink(self, reader: Reader, one: str, other: str, relation: str | None) -> None:
        ends = [end for end in (one, other) if "/" not in end]
        seen = all(end in self.memories and may_see(reader, self.current(end)) for end in ends)
        cut = [
            id
            for id, stretches in self.links.items()
            if seen
            and not stretches[-1].values["ended"]
            and {stretches[-1].values["source"], stretches[-1].values["target"]} == {one, other}
            and relation in (None, stretches[-1].values["relation"])
            and stretches[-1].values["relation"] != "revises"
        ]
        if not cut:
            raise NotFoundError("link", one)
        entry = self.change("unlink")
        for id in cut:
            self.open(entry, "link", id, {**self.links[id][-1].values, "ended": "removed"})
        self.settle(entry)

    def undo(self, seq: int, reader: Reader) -> None:
        if not 1 <= seq <= len(self.journal):
            raise NotFoundError("change", seq)
        undone = self.journal[seq - 1]
        where = {"memory": self.memories, "link": self.links}
        if not undone.undoable or not undone.opened or any(id not in where[kind] for kind, id in undone.opened):
            raise ConflictError("it touched what keeps no versions, or what was purged since")
        for kind, id in undone.opened:
            if where[kind][id][-1].begin != undone.at:
                raise ConflictError("later changes depend on it")
            ends = [id] if kind == "memory" else [self.links[id][-1].values[end] for end in ("source", "target")]
            if any(end in self.memories and not may_see(reader, self.current(end)) for end in ends):
                raise ConflictError("it touched what is not seen")
            if kind == "memory" and len(self.memories[id]) == 1 and self.tied_since(id, undone.at):
                raise ConflictError("later links rest on it")
        entry = self.change(f"undo {seq}")
        for kind, id in undone.opened:
            stretches = where[kind][id]
            before = [stretch for stretch in stretches if stretch.end == undone.at]
            if before:
                self.open(entry, kind, id, before[0].values)
            else:
                values = {**stretches[-1].values, "ended": "removed"}
                if kind == "memory":
                    values["reason"] = f"undo of change {seq}"
                self.open(entry, kind, id, values)
        self.settle(entry)

    def tied_since(self, id: str, at: int) -> bool:
        return any(
            id in (stretches[-1].values["source"], stretches[-1].values["target"])
            and not stretches[-1].values["ended"]
            and stretches[-1].begin > at
            for stretches in self.links.values()
        )

    def purge(self, ids: list[str], reader: Reader) -> set[str]:
        for id in ids:
            if id not in self.memories or not may_see(reader, self.current(id)):
                raise NotFoundError("memory", id)
        gone = set(ids)
        waiting = list(ids)
        while waiting:
            here = waiting.pop()
            for stretches in self.links.values():
                ends = stretches[0].values["source"], stretches[0].values["target"]
                relation = stretches[0].values["relation"]
                drawn = relation == "provenance" and ends[1] == here and not stretches[-1].values["ended"]
                follows = relation == "revises" or drawn
                if here in ends and follows:
                    other = ends[0] if ends[1] == here else ends[1]
                    if other not in gone:
                        gone.add(other)
                        waiting.append(other)
        self.change("purge", undoable=False)
        for id in gone:
            self.memories.pop(id, None)
            self.usage.pop(id, None)
            self.drawn_facts.pop(id, None)
        for id, stretches in list(self.links.items()):
            if gone & {stretches[0].values["source"], stretches[0].values["target"]}:
                del self.links[id]
        self.purged |= gone
        return gone


def may_see(reader: Reader, values: dict[str, Any]) -> bool:
    if values["scope"] != "session":
        return True
    own = values["session"] is not None and values["session"] == reader.session
    shared = values["channel"] is not None and values["channel"] == reader.channel
    return own or shared


def wanted(values: dict[str, Any], now: int, asked: dict[str, Any]) -> bool:
    """Whether a plain question, or one with these conditions, is answered with this memory."""
    include = asked.get("include", ())
    valid_at = asked.get("valid_at") or now
    holds = (values["valid_from"] is None or values["valid_from"] <= valid_at) and (
        values["valid_until"] is None or valid_at < values["valid_until"]
    )
    labels: dict[str, Callable[[str], str]] = {"tags": str.casefold, "entities": str.casefold, "files": str}
    return (
        (values["ended"] == "" or values["ended"] in include)
        and (values["status"] != "archived" or "archived" in include)
        and (holds or "invalid" in include)
        and all(values[name] == asked[name] for name in ("author", "session", "channel", "scope") if name in asked)
        and ("kind" not in asked or values["kind"] == asked["kind"])
        and ("place" not in asked or asked["place"] in (values["place"], values["place"].partition("/")[0]))
        and ("since" not in asked or values["at"] >= asked["since"])
        and ("until" not in asked or values["at"] < asked["until"])
        and all(
            asked[name] in [fold(label) for label in values[name]] for name, fold in labels.items() if name in asked
        )
        and ("pinned" not in asked or values["pinned"] == asked["pinned"])
    )


def says(values: dict[str, Any], word: str) -> bool:
    """Whether a text, title, label or body holds the word; the words of the tests have no other forms."""
    body = values["body"] or {}
    spoken = [values["text"], values["title"] or "", *values["tags"], *values["entities"], *values["files"]]
    spoken += [item for item in body.values() if isinstance(item, str)]
    return any(word in part.casefold().replace(".", " ").replace("/", " ").split() for part in spoken)


def tie(source: str, target: str, relation: str, weight: float, label: str | None) -> dict[str, Any]:
    return {
        "source": source, "target": target, "relation": relation, "weight": weight, "label": label, "ended": "",
    }  # fmt: skip


def check_valid(values: dict[str, Any]) -> None:
    begin, end = values["valid_from"], values["valid_until"]
    if begin is not None and end is not None and end <= begin:
        raise InputError("valid_until", "later", end)


def bounded(derived: dict[str, Any], source: dict[str, Any]) -> dict[str, Any]:
    """What is drawn from a source is trusted no more, holds no longer and is seen no further."""
    begins = [values["valid_from"] for values in (derived, source) if values["valid_from"] is not None]
    ends = [values["valid_until"] for values in (derived, source) if values["valid_until"] is not None]
    held = {
        **derived,
        "trust": min(derived["trust"], source["trust"]),
        "valid_from": max(begins, default=None),
        "valid_until": min(ends, default=None),
    }
    if source["scope"] == "session":
        alone = derived["scope"] == "session" and derived["channel"] is None
        channel = None if alone else source["channel"]
        held |= {"scope": "session", "session": source["session"], "channel": channel}
    if None not in (held["valid_from"], held["valid_until"]) and held["valid_from"] >= held["valid_until"]:
        reason = "a memory it was drawn from does not hold at the same time"
        return {**derived, "ended": "removed", "reason": reason, "trust": held["trust"]}
    return held
