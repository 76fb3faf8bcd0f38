"""The tools that search, give an overview, and tell what hooks saved."""

from __future__ import annotations

import re
from collections import Counter
from importlib.resources import files
from typing import Any

from pieria.bank import Bank
from pieria.language.sentences import sentences
from pieria.toolsets.host import Call
from pieria.toolsets.mempalace.drawers import source_of
from pieria.toolsets.mempalace.words import (
    basename,
    filed_within,
    hall_of,
    most_first,
    no_such_place,
    place_filter,
    preview,
    split,
    stamp,
    types_of,
)

LONGEST = 8_000
"""Longest drawer shown in full, in characters. Of a longer one, a passage is shown."""
PASSAGE = 2_400
"""Approximate length of that passage, in characters."""
GAP = re.compile(r"\s")
DIGITS, DISTANCE_DIGITS = 3, 4
MATCHES = 5
PROMPT = 500
"""Queries longer than this, in characters, count as a whole prompt."""
ASKING = ("?", "？", "؟", "⸮")
MEANING, WORDS = "meaning", "words"
SHOWN = 100
"""How many rooms `status` lists, the fullest first, to keep the reply short."""
PROTOCOL = (
    "1. Call mempalace_status when you begin. "
    "2. Before you answer about a person, a project or the past, look it up: mempalace_search for what was said,"
    " mempalace_kg_query for relations, mempalace_diary_read for your own work. Begin with a small limit; widen it or"
    " drop a filter only if that falls short. Where nothing fits, say so; never guess. "
    "3. File what will matter later word for word with mempalace_add_drawer, one thing a drawer. "
    "4. Facts: mempalace_kg_supersede when a value changes, mempalace_kg_invalidate when it ends, mempalace_kg_add for"
    " one more. "
    "5. End with mempalace_diary_write: what happened, what you learnt, what comes next."
)
AAAK = (
    "AAAK is a short notation for diary entries. Line by line: MAY=Maya names a code; @wing|room|date|title says where"
    " and when; MAY+OMR|topics_with_bars|\"key words\"|***|emotions|FLAGS is an entry, stars 1 to 5 for importance,"
    " a dash for what is empty; A>relation>B (2026-01-10) is a relation. mempalace_get_aaak_spec has it all."
)  # fmt: skip


def search(
    call: Call,
    query: str,
    limit: int,
    wing: str | None = None,
    room: str | None = None,
    hall: str | None = None,
    source_file: str | None = None,
    since: str | None = None,
    before: str | None = None,
    max_distance: float | None = None,
    why: bool = False,
) -> dict[str, Any]:
    bank, source = call.bank, (source_file or "").strip() or None
    asked: dict[str, Any] = {
        "place": place_filter(wing, room),
        "types": None if hall is None else types_of(hall),
        "source": None if source is None else source_of(bank, source),
        **filed_within(since, before),
    }
    query, sanitized = _question(query)
    found = bank.recall(query, k=limit, **asked)
    hits = list(found)
    near = [_told(hit, why=why) for hit in hits if not max_distance or _distance(hit) <= max_distance]
    always = {"wing": wing or None, "room": room or None, "source_file": source}
    filters = {"hall": hall, "since": since, "before": before}
    told = {
        "query": query,
        "filters": {**always, **{name: value for name, value in filters.items() if value}},
        "results": near,
        "count": len(near),
        "confidence": round(found.confidence, DIGITS),
        "no_confident_match": not near or found.is_doubtful or None,
        "warnings": [*([] if hits else _why_nothing(bank, wing, room, asked["source"])), *_warnings(query, found)],
    }
    told |= sanitized
    if len(near) < len(hits):
        told["too_distant"] = len(hits) - len(near)
    return told


def check_duplicate(call: Call, content: str, threshold: float) -> dict[str, Any]:
    found = _alike(call.bank, content, threshold)
    return {"is_duplicate": bool(found), "threshold": threshold, "matches": found}


def _alike(bank: Bank, content: str, threshold: float) -> list[dict[str, Any]]:
    return [
        {
            "id": one.memory.id,
            "wing": one.memory.wing,
            "room": one.memory.room,
            "similarity": round(one.similarity, DIGITS),
            "compared_by": one.by,
            "content": preview(one.memory.text),
        }
        for one in bank.similar(content, k=MATCHES, least=threshold)
    ]


def _similarity(hit: Any) -> float:
    """Return how near the hit is, by meaning or else by words."""
    return max(0.0, hit.why["dense"]) if "dense" in hit.why else float(hit.why.get("cover", 0.0))


def _distance(hit: Any) -> float:
    return round(1 - _similarity(hit), DISTANCE_DIGITS)


def _told(hit: Any, *, why: bool) -> dict[str, Any]:
    memory = hit.memory
    is_cut = len(memory.text) > LONGEST
    told = {
        "drawer_id": memory.id,
        "text": _passage(memory.text, hit.snippet) if is_cut else memory.text,
        "wing": memory.wing,
        "room": memory.room,
        "hall": hall_of(memory),
        "source_file": basename(memory.source) or "?",
        "filed_at": stamp(memory.at),
        "created_at": stamp(memory.at),
        "added_by": memory.author,
        "similarity": round(_similarity(hit), DIGITS),
    }
    if is_cut:
        told |= {"truncated": True, "length": len(memory.text)}
    return told | _reasons(hit) if why else told


def _reasons(hit: Any) -> dict[str, Any]:
    return {
        "distance": _distance(hit),
        "score": round(hit.score, DIGITS),
        "matched_via": MEANING if "dense" in hit.why else WORDS,
        "why": {name: round(value, DIGITS) for name, value in hit.why.items()},
    }


def _passage(text: str, snippet: str) -> str:
    """Return the passage around the snippet, verbatim. The snippet itself has its whitespace collapsed."""
    words = snippet.removeprefix("… ").removesuffix(" …").split()
    found = re.search(r"\s+".join(map(re.escape, words)), text)
    if found is None:
        return snippet
    around = (PASSAGE - len(found[0])) // 2
    begin, end = max(0, found.start() - around), min(len(text), found.end() + around)
    gaps = [gap.start() for gap in GAP.finditer(text, begin, end)]
    # Cut at whitespace if there is any.
    if begin:
        begin = next((gap + 1 for gap in gaps if gap < found.start()), begin)
    if end < len(text):
        end = next((gap for gap in reversed(gaps) if gap >= found.end()), end)
    return text[begin:end]


def _question(query: str) -> tuple[str, dict[str, Any]]:
    """Return the query, and notes if it was cut. A whole prompt is cut to its last question, which the rest would
    drown.
    """
    if len(query) <= PROMPT:
        return query, {}
    last = [query[each.start : each.end] for each in sentences(query)][-1:]
    if not last or not last[0].endswith(ASKING):
        return query, {}
    told = {
        "method": "last_question",
        "original_length": len(query),
        "clean_length": len(last[0]),
        "clean_query": last[0],
    }
    return last[0], {"query_sanitized": True, "sanitizer": told}


def _why_nothing(bank: Bank, wing: str | None, room: str | None, source: str | None) -> list[str]:
    why = no_such_place(bank, wing, room)
    said = [why] if why else []
    if source is not None and not bank.count(source=source):
        said.append(f"source_file: nothing came from {source}.")
    return said


def _warnings(query: str, found: Any) -> list[str]:
    embedding = found.plan["embedding"]
    said = [] if query.strip() else ["query: an empty query finds nothing."]
    if embedding.get("note"):
        said.append(str(embedding["note"]))
    if embedding.get("pending"):
        said.append(f"Vectors not yet made: {embedding['pending']:,}. These texts were searched by their words.")
    return said


def status(call: Call) -> dict[str, Any]:
    counts = call.bank.places.counts()
    rooms = most_first(_by_room(counts))
    told = {
        "total_drawers": sum(counts.values()),
        "wings": most_first(_by_wing(counts)),
        "rooms": dict(list(rooms.items())[:SHOWN]),
        "protocol": PROTOCOL,
        "aaak_dialect": AAAK,
    }
    if len(rooms) > SHOWN:
        told["rooms_left_out"] = len(rooms) - SHOWN
        told["hint"] = "mempalace_list_rooms shows every room."
    return told


def list_wings(call: Call) -> dict[str, Any]:
    return {"wings": most_first(_by_wing(call.bank.places.counts()))}


def list_rooms(call: Call, wing: str | None = None) -> dict[str, Any]:
    wanted = place_filter(wing, None)
    counts = call.bank.places.counts()
    if wanted is not None:
        counts = {place: number for place, number in counts.items() if split(place)[0] == wanted}
    told = {"wing": wanted or "all", "rooms": most_first(_by_room(counts))}
    return told if counts else {**told, "hint": no_such_place(call.bank, wanted, None) or "Nothing is filed yet."}


def get_taxonomy(call: Call) -> dict[str, Any]:
    return {"taxonomy": taxonomy(call.bank)}


def taxonomy(bank: Bank) -> dict[str, dict[str, int]]:
    tree: dict[str, dict[str, int]] = {}
    for place, number in bank.places.counts().items():
        wing, room = split(place)
        tree.setdefault(wing, {})[room] = number
    return tree


def get_aaak_spec(call: Call) -> dict[str, Any]:
    return {"aaak_spec": (files(__package__) / "aaak.md").read_text("utf-8")}


def _by_wing(counts: dict[str, int]) -> Counter[str]:
    found: Counter[str] = Counter()
    for place, number in counts.items():
        found[split(place)[0]] += number
    return found


def _by_room(counts: dict[str, int]) -> Counter[str]:
    found: Counter[str] = Counter()
    for place, number in counts.items():
        found[split(place)[1]] += number
    return found


def hook_settings(call: Call, silent_save: bool | None = None, desktop_toast: bool | None = None) -> dict[str, Any]:
    hooks = call.bank.hooks
    given = {"silent_save": silent_save, "desktop_toast": desktop_toast}
    wanted = {name: value for name, value in given.items() if value is not None}
    before = hooks.settings().as_dict()
    held = (hooks.set(**wanted) if wanted else hooks.settings()).as_dict()
    changed = [f"{name}: {str(before[name]).lower()} → {str(value).lower()}" for name, value in held.items()
               if value != before[name]]  # fmt: skip
    return {**held, "settings": held, **({"updated": changed} if wanted else {})}


def memories_filed_away(call: Call) -> dict[str, Any]:
    last = call.bank.hooks.last()
    if last is None:
        message = "No hook has saved this palace yet."
        return {
            "filed": False,
            "message_count": 0,
            "timestamp": None,
            "status": "quiet",
            "message": message,
            "count": 0,
        }
    return {
        "filed": True,
        "message_count": last.messages,
        "timestamp": last.at,
        "status": "ok",
        "message": f"{last.messages:,} messages were saved at {last.at}.",
        "count": last.messages,
    }


def reconnect(call: Call) -> dict[str, Any]:
    """Report the palace's state. There is no connection to renew: every call reads committed data."""
    bank = call.bank
    embedding = bank.recall("").plan["embedding"]
    # An empty palace has no vectors yet; that is no fault.
    by_meaning = embedding["usable"] or ("model" in embedding and "note" not in embedding)
    told: dict[str, Any] = {
        "message": "Every call reads the current palace, so there was nothing to reconnect.",
        "drawers": sum(bank.places.counts().values()),
        "vector_disabled": not by_meaning,
        "pending": embedding.get("pending", 0),
    }
    if not by_meaning:
        told["vector_disabled_reason"] = str(embedding["note"])
    return told
