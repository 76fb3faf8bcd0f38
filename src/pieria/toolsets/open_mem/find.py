"""The tools `find`, `get` and `help`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pieria.bank import Bank
from pieria.errors import ConflictError, NotFoundError
from pieria.language.analyser import STOP_WORDS, spans, terms
from pieria.record.banks import USER_BANK
from pieria.record.memory import STATEMENT, Memory
from pieria.record.time import is_over, iso
from pieria.toolsets.call import doubts
from pieria.toolsets.host import Call
from pieria.toolsets.open_mem.history import Lineage
from pieria.toolsets.open_mem.words import (
    ARCHIVED,
    KIND,
    NOTED,
    PROJECT,
    TYPES,
    USER,
    Answer,
    answer,
    asked_types,
    brief,
    scope_of,
    title_of,
    tokens_of,
    type_of,
)
from pieria.toolsets.registry import Access, Tool, toolset_in

EVERYTHING = "all"
SCOPES: dict[str, tuple[str, ...] | None] = {PROJECT: ("session", "bank"), USER: ("user",), EVERYTHING: None}
MARK = "**"
DIGITS, FEW = 6, 3
RELATIONS = 10
PACKAGE = __name__.rpartition(".")[0]
BEGIN = (
    "Look before you act: mem-find (short hits), mem-history (its neighbours in time), "
    "mem-get (full text of the few that matter)."
)
TYPED = f"Types: {', '.join(TYPES)}. One thing each, with its reason and files; no small talk."
CHANGING = (
    "Revise what is no longer right, with the reason; remove what should never have been kept. "
    "Put private text between <private> and </private>; keys and passwords are removed automatically."
)
LOCKED = "Nothing can be changed here."


def find(
    call: Call,
    query: str,
    scope: str,
    limit: int,
    types: list[str] | None = None,
    cursor: str | None = None,
    include: dict[str, bool] | None = None,
) -> Answer:
    bank = call.bank
    if scope == USER:
        call.host.reached(USER_BANK)
    # In the user's own bank, every memory is in the user's scope.
    scopes = None if bank.is_user_bank else SCOPES[scope]
    # A turn has no type, so it is none of the types asked for.
    wanted_types = asked_types(types)
    kinds = None if wanted_types is None else (*NOTED, STATEMENT)
    found = bank.recall(query, k=limit, scope=scopes, types=wanted_types, kinds=kinds, cursor=cursor)
    wanted = include or {}
    results = []
    for hit in found:
        result = _short(hit.memory)
        if wanted.get("snippets"):
            result["snippet"] = marked(hit.snippet, query)
        if wanted.get("scores"):
            result |= _scores(hit.score, hit.why, found.plan)
        if wanted.get("relations"):
            result["relations"] = _relations(bank, hit.memory)
        results.append(result)
    warnings = [
        *_out_of_reach(call, scope),
        *_degraded(query, found.plan.get("embedding", {})),
        *doubts(found),
    ]
    return answer(
        call,
        bank,
        {"results": results, "nextCursor": found.cursor},
        confidence=round(found.confidence, DIGITS),
        warnings=warnings or None,
    )


def _short(memory: Memory) -> dict[str, Any]:
    """Return the memory as a short hit. `kind` names what is not an observation."""
    return {
        "id": memory.id,
        "title": title_of(memory),
        "type": type_of(memory),
        "summary": brief(memory.text),
        "source": scope_of(memory),
        "createdAt": iso(memory.at),
        "tokenCount": tokens_of(memory),
        **({} if memory.kind == KIND else {"kind": memory.kind}),
    }


def _scores(score: float, why: Mapping[str, float], plan: Mapping[str, Any]) -> dict[str, Any]:
    reasons = {name: round(value, FEW) for name, value in why.items()}
    return {
        "score": round(score, DIGITS),
        "rankingSource": plan["policy"],
        "explain": {"matchedBy": list(reasons), "features": reasons},
    }


def _relations(bank: Bank, memory: Memory) -> list[dict[str, Any]]:
    try:
        near = bank.neighbors(memory.id, limit=RELATIONS)
    except (NotFoundError, ConflictError):
        # A later page shows the snapshot of the first one; the memory may have been removed since.
        return []
    shown = []
    for each in near:
        if each.memory is None:
            end = {"place": each.place}
        else:
            end = {"id": each.memory.id, "title": title_of(each.memory), "type": type_of(each.memory)}
        shown.append({"relation": each.link.relation, "outward": each.link.source.name == memory.id, **end})
    return shown


def marked(text: str, query: str) -> str:
    """Return the text with the query's words between marks."""
    asked = {term for term in terms(query) if term not in STOP_WORDS} or set(terms(query))
    parts, end = [], 0
    for begin, stop in _joined((span.start, span.end) for span in spans(text) if span.term in asked):
        parts += [text[end:begin], MARK, text[begin:stop], MARK]
        end = stop
    return "".join([*parts, text[end:]])


def _joined(places: Iterable[tuple[int, int]]) -> Sequence[tuple[int, int]]:
    """Return the ranges, merged where they overlap. Terms of scripts without spaces overlap, for example."""
    joined: list[tuple[int, int]] = []
    for begin, end in sorted(places):
        if joined and begin <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((begin, end))
    return joined


def _out_of_reach(call: Call, scope: str) -> list[str]:
    if scope == EVERYTHING and not call.host.covers(USER_BANK):
        return ["scope: the user's memories are not available here; these are the project's."]
    return []


def _degraded(query: str, embedding: Mapping[str, Any]) -> list[str]:
    said = [] if query.strip() else ["query: a blank query finds nothing."]
    note = embedding.get("reason") or embedding.get("note")
    if note:
        said.append(str(note))
    elif embedding.get("pending"):
        said.append(f"Vectors not yet made: {embedding['pending']:,}. These texts were searched by their words.")
    return said


def get_(call: Call, ids: list[str], includeHistory: bool, limit: int) -> Answer:
    bank = call.bank
    wanted = list(dict.fromkeys(ids))
    opened = _Opened(bank)
    for id in wanted[:limit]:
        opened.open(id)
    data: dict[str, Any] = {
        "observations": opened.observations,
        "missing": opened.missing,
        "superseded": opened.superseded,
        "deleted": opened.deleted,
        "ended": opened.ended,
        "archived": opened.archived,
    }
    if includeHistory:
        data["history"] = {id: lineage.nodes() for id, lineage in opened.lineages.items()}
    left = wanted[limit:]
    hint = f"limit is {limit}: ask for the others in another call." if left else None
    return answer(call, bank, data, left=left or None, warnings=[hint] if hint else None)


class _Opened:
    def __init__(self, bank: Bank) -> None:
        self._bank = bank
        self.observations: list[dict[str, Any]] = []
        self.missing: list[str] = []
        self.superseded: dict[str, str] = {}
        self.deleted: list[str] = []
        self.ended: dict[str, str] = {}
        self.archived: list[str] = []
        self.lineages: dict[str, Lineage] = {}

    def open(self, id: str) -> None:
        memory = self._bank.get(id, include_removed=True)
        if memory is None:
            self.missing.append(id)
            return
        lineage = self.lineages[id] = Lineage(self._bank, memory.id)
        head = lineage.head
        if head.removed:
            # If the head was removed, do not show an earlier revision instead.
            self.deleted.append(id)
            return
        if head.valid_until is not None and is_over(head.valid_until, self._bank.clock()):
            self.ended[id] = iso(head.valid_until)
        if head.status == ARCHIVED:
            self.archived.append(id)
        if _key(head) != _key(memory):
            self.superseded[id] = head.id
        one = next(each for each in lineage.revisions if each.key == _key(memory))
        self.observations.append(lineage.told(one))


def _key(memory: Memory) -> tuple[str, int]:
    return memory.id, memory.version


def help(call: Call) -> Answer:
    toolset = toolset_in(PACKAGE)
    listed = [tool for tool in toolset.tools if tool.access <= call.host.access]
    may_write = call.host.access >= Access.write
    lines = [BEGIN, "", *map(_line, listed), "", TYPED, CHANGING if may_write else LOCKED]
    # Do not open the bank: `help` must not create one.
    return Answer({"guide": "\n".join(lines)}, {"bank": call.host.bank_name, "session": call.host.session})


def _line(tool: Tool) -> str:
    """Return the tool's name, its parameters (required ones first) and its title."""
    required = tool.input_schema.get("required", ())
    optional = [name for name in tool.parameters if name not in required]
    parameters = ", ".join([*required, *(f"{name}?" for name in optional)])
    return f"- {tool.name}({parameters}): {tool.title.lower()}"
