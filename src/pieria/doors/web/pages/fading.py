"""Fading: memories that will soon be forgotten, how a memory fades, and a preview of upkeep."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pieria.doors.drawn import picture
from pieria.doors.http.schemas import share, text
from pieria.doors.web.page import Answer, Asked, Begun, Moved, Page, Shown, View
from pieria.errors import ConflictError
from pieria.record.memory import LISTED_KINDS
from pieria.record.time import moment
from pieria.toolsets import Access

if TYPE_CHECKING:
    pass

DUE = 20
LISTED, DRAWN_FROM = 100, 20
"""Most memories shown of a result, and sources of a summary. The journal holds the whole result."""


@dataclass(frozen=True, slots=True)
class Work:
    """A kind of upkeep: its title, its description, the button of the real run, and its function."""

    title: str
    does: str
    deed: str
    do: Callable[..., Any]


def _of(name: str) -> Callable[..., Any]:
    return lambda upkeep, **given: getattr(upkeep, name)(**given)


WORKS: Mapping[str, Work] = {
    "sleep": Work(
        "Sleep", "Summarizes groups of quiet memories, and confirms those that proved right.", "Run it", _of("sleep")
    ),
    "promote": Work(
        "Promote",
        "Makes memories permanent that were used enough.",
        "Make them permanent",
        lambda upkeep, dry_run, progress: upkeep.promote(dry_run=dry_run),
    ),
    "archive": Work(
        "Archive",
        "Archives memories that are about to fade. Recall still finds them on request.",
        "Archive them",
        _of("archive"),
    ),
    "gc": Work("Collect", "Removes memories that have faded. Each can be restored.", "Remove them", _of("gc")),
}
PARTS: Mapping[str, Callable[[Any], tuple[Any, ...]]] = {
    "faded": lambda one: (one.memory.id, one.retained),
    "promoted": lambda one: (one.memory.id, one.why),
    "settled": lambda one: (one.memory.id, one.why),
    "shortened": lambda one: (one.memory.id, one.text),
    "summaries": lambda one: (one.text, [source.id for source in one.sources]),
    "failed": lambda one: (one.reason, len(one.ids)),
}
"""Parts of a reply, with the values kept of each. Memories are loaded when they are shown, so that purged ones never
appear.
"""
FADING = ("archive", "gc")
"""Kinds of upkeep that take a threshold."""


@dataclass(frozen=True, slots=True)
class Part:
    """The count of a reply's part, and its first values."""

    count: int
    first: tuple[tuple[Any, ...], ...]

    @staticmethod
    def of(reply: Any, name: str) -> Part:
        every = getattr(reply, name, ())
        return Part(len(every), tuple(map(PARTS[name], every[:LISTED])))


def _overview(asked: Asked) -> Answer:
    bank, id = asked.bank, asked.given.get("id")
    if id is None:
        lately = bank.list(limit=1, order="changed", kinds=LISTED_KINDS)
        id = lately[0].id if lately else None
    curve = None if id is None else bank.upkeep.curve(id)
    values: dict[str, Any] = {"curve": curve, "works": WORKS, "fading_works": FADING}
    if curve is not None:
        marks = {"from": curve.review_from, "to": curve.review_to, "collected": curve.collected}
        values |= {
            "picture": picture(curve, asked.zone.day),
            "days": {name: None if at is None else moment(at) for name, at in marks.items()},
        }
    return Shown("fading/fading.html", values, part="curve")


def _due(asked: Asked) -> Answer:
    return Shown("fading/due.html", {"due": asked.bank.upkeep.due(DUE)}, part="due")


def _reviewed(asked: Asked) -> Answer:
    [reviewed] = asked.bank.upkeep.review(asked.given["id"]).results
    if reviewed.missing is not None:
        raise ConflictError(reviewed.missing, hint="No review was counted. Load the list of due memories again.")
    return Moved(asked.path("fading"))


def _worked(asked: Asked) -> Answer:
    """Run one kind of upkeep as a task. A dry run and a real run share this code and its page."""
    bank, name, really = asked.bank, asked.given["what"], "really" in asked.given
    work = WORKS[name]
    threshold = {"threshold": asked.given["threshold"]} if "threshold" in asked.given and name in FADING else {}

    def done(progress: Callable[[int, int], None]) -> dict[str, Any]:
        reply = work.do(bank.upkeep, dry_run=not really, progress=progress, **threshold)
        parts = {name: Part.of(reply, name) for name in PARTS}
        ended = {"stopped": getattr(reply, "stopped", None), "left": getattr(reply, "left", 0)}
        ended |= {"reasons": getattr(reply, "reasons", ())}
        return {"what": name, "work": work, "really": really, "sources": DRAWN_FROM, **threshold, **parts, **ended}

    title = work.title if really else f"{work.title}: what it would do"
    task = asked.tasks.begin(
        asked.caller.name, asked.bank_name, title, asked.path("fading"), done, "fading/outcome.html"
    )
    return Begun(task)


PAGE = Page(
    name="fading",
    title="Fading",
    key="f",
    about="memories that are about to be forgotten, and what upkeep would do",
    views=(
        View("GET fading", _overview, {"id": text("The memory whose curve is drawn.")}),
        View("GET fading/due", _due),
        View("POST fading/review", _reviewed, {"id": text("The reviewed memory.")}, ("id",), Access.write),
        View(
            "POST fading/work",
            _worked,
            {
                "what": text("Which work.", enum=list(WORKS)),
                "really": text("yes: do it; left out: only show it.", enum=["yes"]),
                "threshold": share("Memories with a retention below this are affected."),
            },
            ("what",),
            Access.write,
        ),
    ),
    css=("fading/fading.css",),
)
