"""Memories for people: hits with their reasons, lists, one memory in full, its history and links, and erased ones."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pieria.doors.cli.console import (
    Parts,
    age,
    block,
    console,
    counted,
    day_and_age,
    inert,
    interval,
    line,
    pairs,
    plain_ascii,
    row,
    stacked,
    stamp,
    table,
    unbroken,
)
from pieria.record.clip import clipped
from pieria.record.memory import Memory
from pieria.record.time import system_clock
from pieria.record.usage import Usage

if TYPE_CHECKING:
    from rich.text import Text

    from pieria import Hit, Neighbor, Page, Recall, Receipt


BAR = 8
REPLY = 240
"""Characters shown of a hit's reply."""
NARROW, WIDE = 60, 110
LEAST = 30
"""Columns that a memory's text needs in a list; with fewer, its id goes below the text."""
UNTOLD = ("row", "version", "known_from", "known_until", "flags", "id")
"""Fields that differ between versions without an edit."""
PRODUCT = "product(feature ** weight)"
OFF = "none of its features has a weight"
"""The plan's text for an arm without weights."""
MATTERS = 0.05
"""Smallest share of all reasons, for and against a hit, at which a reason is shown."""


def show_recall(found: Recall) -> Parts:
    """Yield the hits, best first: rank, score and passage, and below them the memory and the reasons."""
    without = lacking(found)
    if not found:
        yield line(_nothing(found, without))
        if without:
            yield line((without, "dim"))
        yield from _more(found.cursor)
        return
    from rich.table import Table

    asked = _looked_for(found.query)
    now = system_clock()
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(justify="right", style="bold")
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold", ratio=1)
    for rank, hit in enumerate(found, 1):
        told = [hit.snippet] if hit.reply is None else [hit.snippet, f"→ {clipped(hit.reply.text, REPLY)}"]
        passage = stacked([*(_highlighted(each, asked) for each in told), _about(found, hit, now)])
        grid.add_row(str(rank), _score(hit.score), passage)
    yield grid
    yield line()
    doubt = ": these are the nearest memories, and probably no answer" if found.is_doubtful else ""
    yield line((f"confidence {found.confidence:.2f} that the answer is in this bank{doubt}", "dim"))
    if without:
        yield line((without, "dim"))
    yield from _more(found.cursor)


def show_page(page: Page) -> Parts:
    """Yield a line for each memory."""
    if not page:
        yield line("Nothing to list.")
        return
    now = system_clock()
    width = console().width
    whole, roomy = width >= NARROW, width >= WIDE
    rows = [(memory, _listed_with(memory, now, whole, roomy)) for memory in page]
    beside = max(len(memory.id) + sum(2 + len(str(cell)) for cell, _ in about) for memory, about in rows)
    apart = width - beside - 2 < LEAST
    first = () if apart else ("id",)
    headings = (*first, *(("when", "kind") if whole else ()), *(("place", "tags") if roomy else ()), "text")
    made = table(*headings, wide=("text",))
    for memory, about in rows:
        id = (memory.id, "dim")
        if apart:
            row(made, *about, title(memory))
            row(made, *("" for _ in about), id)
        else:
            row(made, id, *about, title(memory))
    yield made
    yield line((counted(len(page), "memory", "memories"), "dim"))
    yield from _more(page.cursor)


def _listed_with(memory: Memory, now: datetime, whole: bool, roomy: bool) -> list[tuple[str, str]]:
    about = [(age(memory.at, now), ""), (memory.kind, "")] if whole else []
    return about + ([(memory.place[:30], "dim"), (" ".join(memory.tags)[:30], "cyan")] if roomy else [])


def show_memory(memory: Memory, usage: Usage) -> Parts:
    """Yield all details of one memory."""
    now = system_clock()
    if memory.title:
        yield line((memory.title, "bold"))
    yield block(memory.text)
    yield line()
    yield pairs(
        [
            ("id", f"{memory.id}  version {memory.version}"),
            ("standing", _standing(memory)),
            ("kind", memory.kind),
            ("drawn from", memory.drawn_from),
            ("place", memory.place),
            ("tags", ("  ".join(memory.tags), "cyan")),
            ("entities", "  ".join(memory.entities)),
            ("files", "  ".join(memory.files)),
            ("noticed", ("  ".join(memory.flags), "yellow")),
            ("at", day_and_age(memory.at, now)),
            ("known from", day_and_age(memory.known_from, now)),
            ("valid", interval(memory.valid_from, memory.valid_until)),
            ("judged", _judged(memory)),
            ("scope", memory.scope if memory.scope != "bank" else None),
            ("session", memory.session),
            ("channel", memory.channel),
            ("author", _author(memory)),
            ("source", memory.source),
            ("context", memory.context),
            ("body", _written(memory.body)),
            ("meta", _written(memory.meta)),
            ("used", _used(usage, now)),
        ]
    )


def show_history(history: Sequence[Memory]) -> Parts:
    """Yield a memory's versions, each with its changes."""
    from rich.table import Table

    now = system_clock()
    several = len({memory.id for memory in history}) > 1
    made = Table.grid(padding=(0, 2, 0, 0))
    made.add_column(no_wrap=True)
    made.add_column(no_wrap=True, style="dim")
    made.add_column(overflow="fold", ratio=1)
    before: Memory | None = None
    for memory in history:
        since = f"{stamp(memory.known_from)} ({age(memory.known_from, now)})"
        version = memory.reference if several else str(memory.version)
        before = before if before and before.id == memory.id else None
        made.add_row(line((version, "bold")), line(since), _changed(before, memory))
        before = memory
    yield made


def show_neighbors(found: Sequence[Neighbor]) -> Parts:
    """Yield linked items, nearest first."""
    if not found:
        yield line("Nothing is linked to it.")
        return
    made = table("hops", "link", "relation", "to", "", wide=("",), right=("hops",))
    for neighbor in found:
        link = neighbor.link
        what = title(neighbor.memory) if neighbor.memory else ("place", "dim")
        there = neighbor.memory.id if neighbor.memory else neighbor.place or ""
        row(made, str(neighbor.hops), (link.id, "dim"), link.relation, there, what)
    yield made


def title(memory: Memory) -> tuple[str, str]:
    """Return a memory's status and title on one line, and a style."""
    mark = {"removed": "(removed) ", "revised": "(revised) "}.get(memory.standing.ended, "")
    if not mark and memory.status == "archived":
        mark = "(archived) "
    pinned = "(pinned) " if memory.pinned else ""
    return f"{mark}{pinned}{words(memory)}", "dim" if mark else ""


def words(memory: Memory) -> str:
    """Return a memory's title, or the start of its text, on one line."""
    return " ".join((memory.title or memory.text[:400]).split())


def _looked_for(question: str) -> set[str]:
    """Return the query's terms without stop words, unless there are no others."""
    from pieria.language.analyser import query_terms

    words = query_terms(question)
    return {word.term for word in words if not word.stop} or {word.term for word in words}


def _highlighted(passage: str, asked: Collection[str]) -> Text:
    from pieria.language.analyser import spans

    text = line(" ".join(inert(passage).split()))
    for span in spans(text.plain):
        if span.term in asked:
            text.stylize("bold yellow", span.start, span.end)
    return text


def _nothing(found: Recall, without: str) -> str:
    if not found.query.strip():
        return "Nothing in this bank answers that: the question is empty."
    return "Nothing was found." if without else "Nothing in this bank answers that."


def _about(found: Recall, hit: Hit, now: datetime) -> Text:
    memory = hit.memory
    marks = [memory.kind, age(memory.at, now), memory.place, *(f"#{tag}" for tag in memory.tags[:5])]
    fails = "" if hit.overturned is None else f"{hit.overturned}  "
    about = (f"{memory.id}  {'  '.join(marks)}  ", "dim")
    return line(about, (fails, "yellow"), ("  ".join(reasons(found, hit)), "dim italic"))


def _score(score: float) -> Text:
    full = round(BAR * min(1.0, max(0.0, score)))
    on, off = ("#", ".") if plain_ascii() else ("█", "░")
    return line((on * full, "green"), (off * (BAR - full), "dim"), f" {score:.2f}")


def _more(cursor: str | None) -> Parts:
    """Yield the cursor on an unbroken line, so that it can be copied."""
    if cursor:
        yield unbroken((f"there is more: --cursor {cursor}", "dim"))


def _standing(memory: Memory) -> str:
    said = [memory.standing.ended or memory.status, memory.tier]
    if memory.pinned:
        said.append("pinned")
    if memory.superseded_by:
        said.append(f"superseded by {memory.superseded_by}")
    if memory.standing.reason:
        said.append(f"reason: {memory.standing.reason}")
    return "  ".join(said)


def _judged(memory: Memory) -> str:
    said = [f"importance {memory.importance:g}", f"trust {memory.trust:g}"]
    if memory.confidence is not None:
        said.append(f"confidence {memory.confidence:g}")
    if memory.strength != 1.0:
        said.append(f"strength {memory.strength:g}")
    return "  ".join(said)


def _author(memory: Memory) -> str | None:
    if memory.author_type is None:
        return memory.author
    return f"{memory.author or 'unnamed'} ({memory.author_type})"


def _written(value: Mapping[str, Any]) -> str | None:
    import json

    return json.dumps(dict(value), ensure_ascii=False) if value else None


def _used(usage: Usage, now: datetime) -> str | None:
    if not usage.accesses and not usage.reviews:
        return None
    said = [counted(usage.accesses, "time")]
    if usage.last_access:
        said.append(f"last {age(usage.last_access, now)}")
    if usage.reviews:
        said.append(counted(usage.reviews, "review"))
    return "  ".join(said)


def _changed(before: Memory | None, memory: Memory) -> Text:
    """Return what changed from one version to the next."""
    why = memory.standing.reason
    if before is None:
        said = [line(("remembered", "green"), f"  {words(memory)}")]
    elif memory.standing.ended and not before.standing.ended:
        heir = f" as {memory.superseded_by}" if memory.superseded_by else ""
        said = [line((f"{memory.standing.ended}{heir}", "red"))]
    elif before.standing.ended and not memory.standing.ended:
        said = [line(("restored", "green"))]
    else:
        old, new = before.as_dict(), memory.as_dict()
        names = [name for name in new if new[name] != old[name] and name not in (*UNTOLD, "reason")]
        said = [line((f"{name}  ", "cyan"), _difference(name, old[name], new[name])) for name in names]
    if why:
        said.append(line((f"because: {why}", "dim")))
    return stacked(said or [line(("no visible change", "dim"))])


def _difference(name: str, old: Any, new: Any) -> str:
    return str(new) if name == "text" else f"{_value(old)} -> {_value(new)}"


def _value(value: Any) -> str:
    if value is None or value == [] or value == {}:
        return "nothing"
    return "  ".join(map(str, value)) if isinstance(value, list) else str(value)


def reasons(found: Recall, hit: Hit) -> list[str]:
    """Return the reasons of a hit's score, strongest first: the amount that each adds, or its factor. A reranker's
    score comes first, since it decides the rank.
    """
    placed = [f"rerank {hit.why['rerank']:.2f}"] if "rerank" in hit.why else []
    return placed + _weighed(found, hit)


def _weighed(found: Recall, hit: Hit) -> list[str]:
    weights = found.plan["weights"]
    if found.plan["scoring"] == PRODUCT:
        factors = {name: math.pow(max(0.0, hit.why.get(name, 0.0)), weights[name]) for name in weights if weights[name]}
        smallest = sorted(factors, key=factors.__getitem__)
        telling = smallest[:1] + [name for name in smallest[1:] if factors[name] <= 1 - MATTERS]
        return [f"{name} ×{factors[name]:.2f}" for name in telling]
    shares = {name: weights[name] * value for name, value in hit.why.items() if name in weights}
    least = MATTERS * math.fsum(map(abs, shares.values()))
    strongest = sorted(shares, key=lambda name: -abs(shares[name]))
    return [f"{name} {shares[name]:+.2f}" for name in strongest if abs(shares[name]) >= least]


def lacking(found: Recall) -> str:
    """Return what was left out and its effect, on one line; empty if the answer is complete."""
    plan = found.plan
    return "; ".join([*_arms(plan), *_vectors(plan["embedding"]), *_cut(plan)])


def _arms(plan: Mapping[str, Any]) -> Iterator[str]:
    """Yield the arms that were left out, by reason. Arms without weight are expected, so they are not listed."""
    by_reason: dict[str, list[str]] = {}
    for arm, reason in plan["left_out"].items():
        if reason != OFF:
            by_reason.setdefault(reason, []).append(arm)
    for reason, arms in by_reason.items():
        yield f"without {', '.join(arms)}: {reason}"
    note = plan["embedding"].get("note")
    if note is not None and note not in by_reason:
        yield note.rstrip(".")


def _vectors(embedding: Mapping[str, Any]) -> Iterator[str]:
    if embedding["pending"] and "model" in embedding:
        yield f"{counted(embedding['pending'], 'vector is', 'vectors are')} pending"
    if "question" in embedding:
        yield f"only the first {embedding['question']['characters']:,} characters of the question were embedded"


def _cut(plan: Mapping[str, Any]) -> Iterator[str]:
    cut = plan["truncated"]
    if "terms" in cut:
        yield f"{counted(cut['terms']['left_out'], 'word')} of the question not looked up"
    if "tokens" in cut:
        told = cut["tokens"]
        budget = counted(told["budget"], "token")
        yield f"{counted(told['left_out'], 'hit')} beyond {budget}, the next of about {told['next']:,}"
    copies = sum(map(len, plan["folded"].values()))
    if copies:
        yield f"{counted(copies, 'copy', 'copies')} of these not shown"


def show_receipt(receipt: Receipt, is_told: bool) -> Parts:
    yield line(("would be erased for good" if is_told else "erased for good", "bold red"))
    yield pairs(
        [
            ("ids", " ".join(receipt.ids)),
            ("erased with them", " ".join(receipt.also)),
            *((name, f"{number:,}") for name, number in receipt.erased.items()),
            *([("digest", receipt.digest)] if is_told else []),
        ]
    )
    for place in receipt.unreached:
        yield line(("not reached: ", "yellow"), place)
