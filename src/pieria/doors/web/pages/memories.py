"""Memories: all there are, one of them opened, and everything that can be done with it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from pieria.bank.recalling import ANSWERING_KINDS
from pieria.doors.http.schemas import flag, several, share, text, whole
from pieria.doors.web.diffs import changes
from pieria.doors.web.figures import whole_moment
from pieria.doors.web.page import Answer, Asked, Moved, Page, Shown, View
from pieria.errors import ConflictError, NotFoundError
from pieria.record.link import DRAWN_FROM, REVISES
from pieria.record.memory import KINDS, ROUTING_KINDS
from pieria.toolsets import Access, called

if TYPE_CHECKING:
    from pieria import Memory, Neighbor

SHOWN, TIED = 30, 50
TIMES = ("at", "known_from", "valid_from", "valid_until")
ORDERS = ("newest", "oldest", "changed", "important")
INCLUDED = ("removed", "revised", "invalid", "archived")
WRITTEN = ("note", "observation", "diary", "drawer")
"""Kinds that people write themselves; the others come of agents and upkeep."""
TAGS = {**several("Its tags."), "commas": True}
LIST = {
    "order": text("Which comes first.", enum=list(ORDERS)),
    "kinds": several("Of these kinds.", *KINDS),
    "tags": {**several("With any of these tags."), "commas": True},
    "author": text("Said by."),
    "place": text("Kept there."),
    "session": text("Said in that session."),
    "include": several("Shown, too.", *INCLUDED),
    "routing": flag("What only leads to memories, too."),
    "cursor": text("Where the page before ended."),
}
ID = {"id": text("Which memory.")}
OPEN = {**ID, "version": whole("Which version.", 1, 2**53), "all": flag("All of a long text.")}
REASON = {"reason": text("Why.")}
NEW = {
    "text": text("What to remember."),
    "title": text("A title."),
    "kind": text("What kind of thing it is.", enum=list(WRITTEN)),
    "tags": TAGS,
    "importance": share("0 for passing, 1 for what must never fade."),
    "place": text("Where it is kept."),
}
HOW = ("revise", "update")
EDIT = {
    **ID,
    "text": text("What holds now."),
    "title": text("A title.", keeps=True),
    "tags": TAGS,
    "importance": NEW["importance"],
    **REASON,
    "how": text("A new memory in its place, or its next version.", enum=list(HOW), default="revise"),
    "seen": whole("The version that was edited.", 1, 2**53),
}
VOICES: Sequence[tuple[str, str, Any]] = (
    ("mempalace", "mempalace_get_drawer", lambda memory: {"drawer_id": memory.id}),
    ("mnemex", "open_memories", lambda memory: {"memory_ids": [memory.id]}),
    ("mnemosyne", "mnemosyne_recall", lambda memory: {"query": memory.text[:500], "top_k": 3}),
    ("open-mem", "mem-get", lambda memory: {"ids": [memory.id]}),
    ("sessions", "sessions_node", lambda memory: {"node_id": memory.id}),
)
"""By which tool each toolset shows a memory, and what that is asked."""


def opened(asked: Asked, version: int | None = None) -> Memory:
    """Removed or not. Raises `NotFoundError`."""
    found = asked.bank.get(asked.given["id"], version=version, include_removed=True)
    if found is None:
        hint = "A list or a recall leads to the memories there are; what was purged is nowhere."
        raise NotFoundError("memory", asked.given["id"], hint=hint)
    return found


def _listed(asked: Asked) -> Answer:
    given = dict(asked.given)
    cursor = given.pop("cursor", None)
    chosen = {name: value for name, value in given.items() if name != "routing"}
    hides = "kinds" not in given and not given.get("routing")
    if hides:
        chosen["kinds"] = ANSWERING_KINDS
    found = asked.bank.list(limit=SHOWN, cursor=cursor, **chosen)
    hidden = {**chosen, "kinds": ROUTING_KINDS}
    values = {
        "hides": hides and bool(asked.bank.list(limit=1, **hidden)),
        "found": found,
        "given": given,
        "more": found.cursor and asked.path("memories", cursor=found.cursor, **given),
        "goes_on": cursor is not None,
        "orders": ORDERS,
        "kinds": KINDS,
        "included": INCLUDED,
    }
    return Shown("memories/list.html", values, part="list")


def _open(asked: Asked) -> Answer:
    version = asked.given.get("version")
    memory = opened(asked, version)
    newest = memory if version is None else opened(asked)
    stands = not newest.ended
    tied = asked.bank.neighbors(newest.id, limit=TIED) if stands else None
    values = {
        "memory": memory,
        "newest": newest,
        "is_past": memory.version != newest.version,
        "shows_all": asked.given.get("all", False),
        "stands": stands,
        "ties": _grouped(newest.id, tied or ()),
        "is_cut": tied is not None and tied.truncated,
        "facts": asked.bank.facts.query(memory=newest.id, history=True, limit=TIED),
        "stretches": len(asked.bank.history(newest.id, revisions=True)),
        "fields": _fields(memory),
        "usage": asked.bank.usage(newest.id)[newest.id],
        "now_day": asked.bank.clock().date(),
        "engine_s": REVISES,
    }
    return Shown("memories/open.html", values)


def _grouped(id: str, tied: Sequence[Neighbor]) -> dict[str, list[Neighbor]]:
    """What links lead to, by what they say: where it comes from, what came of it, and the rest by relation."""
    groups: dict[str, list[Neighbor]] = {"Drawn from": [], "What was drawn from it": []}
    for each in tied:
        out = each.link.source.name == id
        if each.link.relation == DRAWN_FROM:
            name = "Drawn from" if out else "What was drawn from it"
        else:
            name = f"{each.link.relation} {'→' if out else '←'}"
        groups.setdefault(name, []).append(each)
    return {name: group for name, group in groups.items() if group}


def _fields(memory: Memory) -> Mapping[str, Any]:
    """Everything else that is known of it, for the table of details."""
    told = memory.as_dict()
    left = ("text", "title", "tags", "row", "known_until", "body", "meta", "kind", "ended", "pinned")
    plain = {name: value for name, value in told.items() if name not in left and value not in (None, "", [], {})}
    times = {name: whole_moment(getattr(memory, name)) for name in TIMES if told[name]}
    objects = {name: json.dumps(told[name], ensure_ascii=False, indent=1) for name in ("body", "meta") if told[name]}
    return {
        name: ", ".join(value) if isinstance(value, list) else value
        for name, value in (plain | times | objects).items()
    }


def _history(asked: Asked) -> Answer:
    memory = opened(asked)
    stretches = asked.bank.history(memory.id, revisions=True)
    steps = [
        (stretch, changes(before, stretch)) for before, stretch in zip((None, *stretches), stretches, strict=False)
    ]
    return Shown("memories/history.html", {"memory": memory, "steps": steps[::-1]})


def _voices(asked: Asked) -> Answer:
    """The same memory as each toolset's agents get it."""
    memory = opened(asked)
    told = []
    for toolset, tool, arguments in VOICES:
        reply = called(asked.registry, tool, arguments(memory), asked.host)
        told.append((toolset, tool, json.dumps(reply.value, ensure_ascii=False, indent=2)))
    return Shown("memories/voices.html", {"memory": memory, "told": told})


def _writing(asked: Asked) -> Answer:
    return Shown("memories/new.html", {"kinds": WRITTEN})


def _written(asked: Asked) -> Answer:
    return Moved(asked.path("memory", id=asked.bank.remember(**asked.given).id))


def _editing(asked: Asked) -> Answer:
    return Shown("memories/edit.html", {"memory": opened(asked)})


def _edited(asked: Asked) -> Answer:
    given = dict(asked.given)
    id, how, seen = given.pop("id"), given.pop("how"), given.pop("seen")
    standing = opened(asked)
    if standing.version != seen:
        hint = "Look at what it says now, and edit that."
        raise ConflictError("it was changed while you edited it", ids=(id,), hint=hint)
    given = {**given, "title": given.get("title", "").strip() or None, "tags": given.get("tags", [])}
    verb = asked.bank.revise if how == "revise" else asked.bank.update
    return Moved(asked.path("memory", id=verb(id, **given).id))


def _back(asked: Asked) -> Answer:
    return Moved(asked.path("memory", id=asked.given["id"]))


def _pinned(asked: Asked) -> Answer:
    asked.bank.pin(asked.given["id"], asked.given["pinned"])
    return _back(asked)


def _invalidated(asked: Asked) -> Answer:
    asked.bank.invalidate(**asked.given)
    return _back(asked)


def _removed(asked: Asked) -> Answer:
    asked.bank.remove(**asked.given)
    return _back(asked)


def _restored(asked: Asked) -> Answer:
    asked.bank.restore(asked.given["id"])
    return _back(asked)


def _linked(asked: Asked) -> Answer:
    id, target = asked.given["id"], asked.given["target"]
    asked.bank.link(id, target, asked.given["relation"])
    return _back(asked)


def _untied(asked: Asked) -> Answer:
    asked.bank.unlink(asked.given["link"])
    return _back(asked)


def _purging(asked: Asked) -> Answer:
    memory = opened(asked)
    receipt = asked.bank.purge(memory.id, dry_run=True)
    also = [asked.bank.get(id, include_removed=True) for id in receipt.also[:TIED]]
    values = {"memory": memory, "receipt": receipt, "also": [each for each in also if each is not None]}
    return Shown("memories/purge.html", values)


def _purged(asked: Asked) -> Answer:
    return Shown("memories/purged.html", {"receipt": asked.bank.purge(asked.given["id"])})


_INVALID = {**ID, "at": text("When it ceased to hold."), "replacement": text("What holds instead."), **REASON}
_LINK = {**ID, "target": text("The other memory's id."), "relation": text("What it is to it.", default="related")}
_PIN = {**ID, "pinned": flag("Whether it never fades.")}
_Deed = partial(View, needs=("id",), access=Access.write)

PAGE = Page(
    name="memories",
    title="Memories",
    key="m",
    about="browse, open, correct and forget",
    views=(
        View("GET memories", _listed, LIST),
        View("GET memories/new", _writing, access=Access.write, begins=True),
        View("POST memories/new", _written, NEW, ("text",), access=Access.write, begins=True),
        View("GET memory", _open, OPEN, ("id",)),
        View("GET memory/history", _history, ID, ("id",)),
        View("GET memory/voices", _voices, ID, ("id",)),
        _Deed("GET memory/edit", _editing, ID),
        _Deed("POST memory/edit", _edited, EDIT, needs=("id", "text", "seen")),
        _Deed("POST memory/pin", _pinned, _PIN, needs=("id", "pinned")),
        _Deed("POST memory/invalidate", _invalidated, _INVALID),
        _Deed("POST memory/remove", _removed, {**ID, **REASON}),
        _Deed("POST memory/restore", _restored, ID),
        _Deed("POST memory/link", _linked, _LINK, needs=("id", "target")),
        _Deed("POST memory/unlink", _untied, {**ID, "link": text("Which link.")}, needs=("id", "link")),
        _Deed("GET memory/purge", _purging, ID),
        _Deed("POST memory/purge", _purged, ID),
    ),
    css=("memories/memories.css",),
)
