"""Memories: the list, one of them opened, and all actions on it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from json import JSONDecodeError
from typing import TYPE_CHECKING, Any

from pieria.doors.http.schemas import flag, several, share, text, whole
from pieria.doors.web.diffs import Changes, changes
from pieria.doors.web.forms import listed
from pieria.doors.web.page import Answer, Asked, Moved, Page, Shown, View, day
from pieria.doors.web.zones import END, Zone
from pieria.errors import ConflictError, InputError, NotFoundError
from pieria.record import check, lesson
from pieria.record.json_text import parsed
from pieria.record.link import DRAWN_FROM, REVISES
from pieria.record.memory import KINDS, LISTED_KINDS, ROUTING_KINDS
from pieria.record.time import micros
from pieria.toolsets import Access, called

if TYPE_CHECKING:
    from pieria import Memory, Neighbor

SHOWN, TIED, STEPS = 30, 50, 50
MARKED = 1_000
"""Most related memories that a purge's preview remembers, to mark new ones later."""
TIMES = ("at", "known_from", "valid_from", "valid_until")
ORDERS = ("newest", "oldest", "changed", "important")
INCLUDED = ("removed", "revised", "invalid", "archived")
WRITTEN = {
    "note": "something to know; fades when unused",
    "observation": "something that happened; permanent",
    "diary": "a diary entry; permanent",
    "drawer": "a verbatim text; permanent",
}
"""Kinds that people write themselves, with their purpose. Agents and upkeep write the others."""
TAGS = {**several("Its tags."), "commas": True}
LIST = {
    "order": text("The sort order.", enum=list(ORDERS)),
    "kinds": several("Of these kinds.", *KINDS),
    "tags": {**several("With any of these tags."), "commas": True},
    "author": text("Said by."),
    "place": text("Kept there."),
    "session": text("Only from this session."),
    "include": several("Shown, too.", *INCLUDED),
    "routing": flag("Also show routing nodes."),
    "cursor": text("The cursor of the previous page."),
}
ID = {"id": text("Which memory.")}
OPEN = {**ID, "version": whole("Which version.", 1, 2**53), "all": flag("Show the whole text.")}
REASON = {"reason": text("Why.")}
BELONGS = {
    "place": text("Its place: wing/room."),
    "entities": {**several("People and things it is about."), "commas": True},
    "files": {**several("Paths of files it is about."), "commas": True},
    "valid_from": day("Valid from."),
    "valid_until": day("Valid until.", END),
    "context": text("Its context."),
    "meta": text("Your own values: a JSON object."),
}
"""Optional fields of the forms for a new and for an edited memory."""
NEW = {
    "text": text("The text to remember."),
    "title": text("A title."),
    "kind": text("Its kind.", enum=[*WRITTEN]),
    "tags": TAGS,
    "importance": share("From 0, trivial, to 1, never fades."),
    **BELONGS,
}
SEEN = {"seen": whole("The known_from of the version that was shown, in microseconds.", 0, 2**53)}
HOW = ("revise", "update")
EDIT = {
    **ID,
    "text": text("The new text."),
    "title": text("A title.", keeps=True),
    "tags": {**TAGS, "keeps": True},
    "condition": text("The purpose of a procedure.", keeps=True),
    **{name: {**schema, "keeps": True} for name, schema in BELONGS.items()},
    "importance": NEW["importance"],
    **REASON,
    "how": text("Write a new memory that replaces it, or its next version.", enum=list(HOW), default="revise"),
    **SEEN,
}
VOICES: Sequence[tuple[str, str, Any]] = (
    ("mempalace", "mempalace_get_drawer", lambda memory: {"drawer_id": memory.id}),
    ("mnemex", "open_memories", lambda memory: {"memory_ids": [memory.id]}),
    ("mnemosyne", "mnemosyne_recall", lambda memory: {"query": memory.text[:500], "top_k": 3}),
    ("open-mem", "mem-get", lambda memory: {"ids": [memory.id]}),
    ("sessions", "sessions_node", lambda memory: {"node_id": memory.id}),
)
"""The tool of each toolset that shows a memory, with its arguments."""


def opened(asked: Asked, version: int | None = None, *, past: bool = False) -> Memory:
    """Return the current memory, removed or not; with `past`, the requested version. Raise `NotFoundError` if there is
    none.
    """
    id = asked.given.get("id", "")
    found = asked.bank.get(id, version=version, include_removed=True) if id else None
    if found is not None and not past:
        found = asked.bank.get(found.id, include_removed=True)
    if found is None:
        hint = "List or recall memories to find their ids. A purged memory is erased for good."
        raise NotFoundError("memory", id, hint=hint)
    return found


def _listed(asked: Asked) -> Answer:
    given = dict(asked.given)
    cursor = given.pop("cursor", None)
    if given.get("order") == ORDERS[0]:
        del given["order"]  # the default
    chosen = {name: value for name, value in given.items() if name != "routing"}
    hides = "kinds" not in given and not given.get("routing")
    if hides:
        chosen["kinds"] = LISTED_KINDS
    found = asked.bank.list(limit=SHOWN, cursor=cursor, **chosen)
    hidden = {**chosen, "kinds": ROUTING_KINDS}
    values = {
        "hides": hides and bool(asked.bank.list(limit=1, **hidden)),
        "found": found,
        "given": given,
        "offers": _offers(asked) if not found and not given else [],
        "more": found.cursor and asked.path("memories", cursor=found.cursor, **given),
        "goes_on": cursor is not None,
        "orders": ORDERS,
        "kinds": KINDS,
        "included": INCLUDED,
    }
    return Shown("memories/list.html", values, part="list")


def _offers(asked: Asked) -> list[str]:
    """Return what an administrator may import into an empty bank. Others may not know what is on this machine."""
    from pieria.importers.offers import Once

    workspace = asked.host.banks.workspace
    once = Once(workspace.data, offered=asked.may("admin") and workspace.resolved.settings.offer_imports)
    return once(asked.bank_name, lambda: asked.host.is_empty)


def _open(asked: Asked) -> Answer:
    memory = opened(asked, asked.given.get("version"), past=True)
    if memory.drawn_from is not None:
        return Moved(asked.path("memory", id=memory.drawn_from))
    newest = opened(asked)
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
        "facts": asked.bank.facts.query(memory=newest.id, history=True, limit=TIED + 1),
        "most": TIED,
        "stretches": len(asked.bank.history(newest.id, revisions=True)),
        "fields": _fields(memory),
        "times": TIMES,
        "usage": asked.bank.usage(newest.id)[newest.id],
        "today": asked.today,
        "engine_s": REVISES,
    }
    return Shown("memories/open.html", values)


def _grouped(id: str, tied: Sequence[Neighbor]) -> dict[str, list[Neighbor]]:
    """Group neighbours by relation: sources first, then memories drawn from this one."""
    groups: dict[str, list[Neighbor]] = {"Drawn from": [], "Source of": []}
    for each in tied:
        out = each.link.source.name == id
        if each.link.relation == DRAWN_FROM:
            name = "Drawn from" if out else "Source of"
        else:
            name = f"{each.link.relation} {'→' if out else '←'}"
        groups.setdefault(name, []).append(each)
    return {name: group for name, group in groups.items() if group}


def _fields(memory: Memory) -> Mapping[str, Any]:
    """Return the remaining fields, for the table of details."""
    told = memory.as_dict()
    left = ("text", "title", "tags", "row", "known_until", "body", "meta", "kind", "ended", "pinned")
    plain = {name: value for name, value in told.items() if name not in left and value not in (None, "", [], {})}
    times = {name: getattr(memory, name) for name in TIMES if told[name]}
    objects = {name: _json(told[name]) for name in ("body", "meta") if told[name]}
    return {
        name: ", ".join(value) if isinstance(value, list) else value
        for name, value in (plain | times | objects).items()
    }


def _history(asked: Asked) -> Answer:
    """Show the newest steps first, one page at a time."""
    memory = opened(asked)
    stretches = (None, *asked.bank.history(memory.id, revisions=True))
    last = min(asked.given.get("last", len(stretches)), len(stretches) - 1)
    first = max(0, last - STEPS)
    steps = [
        (after, changes(before, after, asked.zone)) for before, after in pairwise(stretches[first : last + 1]) if after
    ]
    values = {
        "memory": memory,
        "steps": steps[::-1],
        "last": last,
        "more": first and asked.path("memory/history", id=memory.id, last=first),
        "goes_on": "last" in asked.given,
    }
    return Shown("memories/history.html", values)


def _voices(asked: Asked) -> Answer:
    """Show the memory as agents of each toolset get it. This does not count as a use."""
    memory = opened(asked)
    host = asked.host.having(counts_uses=False)
    told = []
    for toolset, tool, arguments in VOICES:
        reply = called(asked.registry, tool, arguments(memory), host)
        told.append((toolset, tool, json.dumps(reply.value, ensure_ascii=False, indent=2)))
    return Shown("memories/voices.html", {"memory": memory, "told": told})


def _writing(asked: Asked) -> Shown:
    return Shown("memories/new.html", {"kinds": WRITTEN, "typed": {**BLANK, **asked.given}})


def _written(asked: Asked) -> Answer:
    given = {**asked.given, **asked.moments}
    if "meta" in given:
        given["meta"] = _values(given["meta"])
    return Moved(asked.path("memory", id=asked.bank.remember(**given).id))


def _editing(asked: Asked) -> Answer:
    memory = opened(asked)
    if memory.ended == "revised":
        return Moved(asked.path("memory/edit", id=_standing(asked, memory).id))
    return _edit_form(asked, memory, _told(memory, asked.zone))


def _edited(asked: Asked) -> Answer:
    given = dict(asked.given)
    id, how, _, reason = given.pop("id"), given.pop("how"), given.pop("seen"), given.pop("reason", None)
    memory = opened(asked)
    hint = "The changes are shown here. Merge them into your text, then save again."
    with _as_shown(asked, memory, ConflictError("the memory was changed while you edited it", ids=(id,), hint=hint)):
        changed = _changed(asked, memory, given)
        if not changed:
            raise InputError("form", "at least one changed field", "the same")
        verb = asked.bank.revise if how == "revise" else asked.bank.update
        kept = verb(memory.id, **changed, reason=reason, unless_changed_since=memory.known_from)
    return Moved(asked.path("memory", id=kept.id))


@contextmanager
def _as_shown(asked: Asked, memory: Memory, told: ConflictError) -> Iterator[None]:
    """Guard a decision made on a page: raise `told` if the memory has changed since, or changes during the decision."""
    if micros(memory.known_from) != asked.given["seen"]:
        raise told
    try:
        yield
    except ConflictError as problem:
        if opened(asked).known_from == memory.known_from:
            raise
        raise told from problem


def _edited_again(asked: Asked) -> Shown:
    """Return the form with the typed values, the current memory and the changes since the form was shown.

    Untouched fields take the current value, so that saving does not undo another writer's change.
    """
    before = opened(asked)
    memory = _standing(asked, before)
    was = _was(asked, before)
    now = _told(memory, asked.zone)
    typed = {**now, **CLEARED, **asked.given}
    if was is not None:
        typed |= {name: now[name] for name, value in _told(was, asked.zone).items() if value == typed[name]}
    return _edit_form(asked, memory, typed, _meanwhile(asked, before, memory))


def _was(asked: Asked, memory: Memory) -> Memory | None:
    """Return the version that the form was made from."""
    seen = asked.given.get("seen")
    return next((each for each in asked.bank.history(memory.id) if micros(each.known_from) == seen), None)


def _meanwhile(asked: Asked, before: Memory, now: Memory) -> Changes | None:
    """Return the changes since the form was shown."""
    is_same = asked.given.get("seen") == micros(now.known_from)
    return None if is_same else changes(_was(asked, before), now, asked.zone)


def _edit_form(asked: Asked, memory: Memory, typed: Mapping[str, Any], meanwhile: Changes | None = None) -> Shown:
    values = {"memory": memory, "typed": typed, "seen": micros(memory.known_from), "meanwhile": meanwhile}
    return Shown("memories/edit.html", {**values, "is_procedure": memory.kind == lesson.KIND})


def _standing(asked: Asked, memory: Memory) -> Memory:
    """Return the newest revision."""
    if memory.ended != "revised":
        return memory
    stretches = asked.bank.history(memory.id, revisions=True)
    return next((each for each in reversed(stretches) if each.ended != "revised" and not each.known_until), memory)


def _told(memory: Memory, zone: Zone) -> Mapping[str, Any]:
    """Return the values as a form sends them: browsers normalise line ends, and drop them in a title."""
    begin, end = memory.valid_from, memory.valid_until
    return {
        "text": re.sub("\r\n?", "\n", memory.text),
        "title": re.sub("[\r\n]", "", memory.title or ""),
        "tags": [*memory.tags],
        "place": memory.place,
        "entities": [*memory.entities],
        "files": [*memory.files],
        "condition": re.sub("\r\n?", "\n", lesson.condition(memory) or ""),
        "context": re.sub("\r\n?", "\n", memory.context or ""),
        "meta": _json(memory.meta) if memory.meta else "",
        "valid_from": "" if begin is None else zone.typed(begin),
        "valid_until": "" if end is None else zone.typed(end, end=True),
        "importance": memory.importance,
        "reason": "",
        "how": HOW[0],
    }


def _changed(asked: Asked, memory: Memory, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the fields that differ from the form's original values. Others stay unchanged, including their line
    endings.
    """
    told = _told(memory, asked.zone)
    changed = {name: value for name, value in given.items() if value != told[name]}
    emptied = [name for name in MAY_BE_EMPTY if name in changed]
    changed |= {name: asked.moments.get(name, changed[name].strip()) or None for name in emptied}
    if "condition" in changed:
        others = {name: value for name, value in memory.body.items() if name != "condition"}
        condition = changed.pop("condition")
        changed["body"] = others if condition is None else {**others, "condition": condition}
    if "meta" in changed:
        changed["meta"] = _values(changed["meta"])
        if check.mapping(changed["meta"], "meta") == check.mapping(memory.meta, "meta"):
            del changed["meta"]  # the same values, formatted differently
    return changed


def _values(written: str) -> Mapping[str, Any]:
    """Parse the JSON that was typed. Empty text means no values."""
    hint = "Put names and texts in double quotes. Leave the field empty for no values."
    try:
        values = parsed(written, strict=True) if written.strip() else {}
    except JSONDecodeError as problem:
        where = f"{problem.msg}, in line {problem.lineno}, column {problem.colno}. {hint}"
        raise InputError("meta", META, written, hint=where) from None
    except ValueError as problem:
        raise InputError("meta", META, written, hint=f"{problem}. {hint}") from None
    if not isinstance(values, Mapping):
        raise InputError("meta", META, written, hint=hint)
    return values


def _json(values: Mapping[str, Any]) -> str:
    return json.dumps(values, ensure_ascii=False, indent=1)


def _deed(line: str, do: Callable[[Asked], object], takes: Mapping[str, Any], *needs: str) -> View:
    """Return a view that changes the memory and shows it again."""

    def answer(asked: Asked) -> Answer:
        do(asked)
        return Moved(asked.path("memory", id=asked.given["id"]))

    return View(line, answer, takes, ("id", *needs), Access.write)


def _hold(asked: Asked) -> None:
    asked.bank.update(asked.given["id"], valid_until=None, reason=asked.given.get("reason"))


def _link(asked: Asked) -> None:
    asked.bank.link(asked.given["id"], asked.given["target"], asked.given["relation"])


def _purging(asked: Asked) -> Shown:
    """Show what a purge would erase. If an earlier preview differs, mark the changes."""
    # If the memory changes between these reads, the digest no longer matches, and nothing is erased.
    receipt = asked.bank.purge(opened(asked).id, dry_run=True)
    memory = opened(asked)
    anew = "digest" in asked.given
    before = set(asked.given.get("also", ())) if anew else set(receipt.also)
    came = [id for id in receipt.also if id not in before] if len(before) < MARKED else []
    first = [*came, *(id for id in receipt.also if id not in came)][:TIED]
    also = [asked.bank.get(id, include_removed=True) for id in first]
    counts = {what: count for what, count in receipt.erased.items() if what != "usage"}
    told = zip(counts, asked.given.get("going", ()), strict=False)
    agreed = {
        "id": memory.id,
        "seen": micros(memory.known_from),
        "digest": receipt.digest,
        "also": listed(receipt.also[:MARKED]),
        "going": listed(map(str, counts.values())),
    }
    values = {
        "memory": memory,
        "meanwhile": _meanwhile(asked, memory, memory) if anew else None,
        "receipt": receipt,
        "also": [each for each in also if each is not None],
        "came": came,
        "told": {what: count for what, count in told if count != counts[what]},
        "agreed": agreed,
    }
    return Shown("memories/purge.html", values)


def _purged(asked: Asked) -> Answer:
    """Erase only what the page listed before."""
    try:
        receipt = asked.bank.purge(opened(asked).id, as_told=asked.given["digest"])
    except ConflictError as problem:
        hint = "Nothing was erased. The list below is up to date, and the changes are marked."
        raise ConflictError(
            "the list of what a purge would erase has changed since you saw it", ids=problem.ids, hint=hint
        ) from problem
    return Shown("memories/purged.html", {"receipt": receipt})


BLANK = {**dict.fromkeys(NEW, ""), "kind": "note", "importance": 0.5}
CLEARED = {"text": "", "importance": "", "reason": "", "how": HOW[0]}
"""Fields that a form leaves out when they are cleared, with their empty values."""
MAY_BE_EMPTY = ("title", "condition", "context", "valid_from", "valid_until")
META = 'a JSON object, such as {"ticket": 42}'
_HISTORY = {**ID, "last": whole("The number of the newest step that is shown.", 1, 2**53)}
_PURGE = {
    **ID,
    **SEEN,
    "digest": text("The digest of the list that was shown."),
    "also": {**several("The related memories that were listed."), "commas": True},
    "going": {
        "type": "array",
        "items": {"type": "integer"},
        "description": "The counts that were listed.",
        "commas": True,
    },
}
_INVALID = {
    **ID,
    "at": day("When it stopped being valid."),
    "replacement": text("The id of its replacement."),
    **REASON,
}
_LINK = {**ID, "target": text("The other memory's id."), "relation": text("The relation.", default="related")}
_PIN = {**ID, "pinned": flag("Whether it never fades.")}
_UNLINK = {**ID, "link": text("Which link.")}
_Deed = partial(View, needs=("id",), access=Access.write)

PAGE = Page(
    name="memories",
    title="Memories",
    key="m",
    about="browse, open, correct and forget",
    views=(
        View("GET memories", _listed, LIST),
        View("GET memories/new", _writing, access=Access.write, begins=True),
        View("POST memories/new", _written, NEW, ("text",), access=Access.write, begins=True, again=_writing),
        View("GET memory", _open, OPEN, ("id",)),
        View("GET memory/history", _history, _HISTORY, ("id",)),
        View("GET memory/voices", _voices, ID, ("id",)),
        _Deed("GET memory/edit", _editing, ID),
        _Deed("POST memory/edit", _edited, EDIT, needs=("id", "text", "seen"), again=_edited_again),
        _deed("POST memory/pin", lambda asked: asked.bank.pin(**asked.given), _PIN, "pinned"),
        _deed(
            "POST memory/invalidate", lambda asked: asked.bank.invalidate(**{**asked.given, **asked.moments}), _INVALID
        ),
        _deed("POST memory/hold", _hold, {**ID, **REASON}),
        _deed("POST memory/remove", lambda asked: asked.bank.remove(**asked.given), {**ID, **REASON}),
        _deed("POST memory/restore", lambda asked: asked.bank.restore(asked.given["id"]), ID),
        _deed("POST memory/link", _link, _LINK, "target"),
        _deed("POST memory/unlink", lambda asked: asked.bank.unlink(asked.given["link"]), _UNLINK, "link"),
        _Deed("GET memory/purge", _purging, ID),
        _Deed("POST memory/purge", _purged, _PURGE, needs=("id", "digest"), again=_purging),
    ),
    css=("memories/memories.css",),
)
