"""The picture of a memory's fading: what stands where, before anything is drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING

from pieria.record.time import micros, moment

if TYPE_CHECKING:
    from pieria.bank.upkeep.review import Curve


@dataclass(frozen=True, slots=True)
class Level:
    """A line across, and one down: each from 0 to 1 of the picture, seen from the left and from below."""

    at: float
    label: str
    colour: str


@dataclass(frozen=True, slots=True)
class Picture:
    title: str
    points: tuple[tuple[float, float], ...]
    across: tuple[Level, ...]
    down: tuple[Level, ...]
    begins: str
    ends: str


CROWDED = 0.9
"""From here on a label stands before its line, not behind it."""
BLUE, RED, ORANGE, GREEN, GREY = "#2563eb", "#dc2626", "#d97706", "#16a34a", "#6b7280"


def _day(at: datetime) -> date:
    return at.date()


def picture(curve: Curve, day: Callable[[datetime], date] = _day) -> Picture:
    """`day` says of which day a moment is: by default, of which in UTC."""
    fading, first, last = curve.fading, curve.points[0][0], curve.points[-1][0]
    used, memory = curve.now.used, curve.now.memory
    accessed = None if used.last_access is None else micros(used.last_access)
    reviewed = None if used.last_review is None else micros(used.last_review)
    moments = (
        ("written", None if first in (accessed, reviewed) else first, GREY),
        ("used", accessed, GREEN),
        ("reviewed", reviewed, GREEN),
        ("now", curve.at, BLUE),
        ("review", curve.review_from, ORANGE),
        ("late", curve.review_to, ORANGE),
        ("gc", curve.collected, RED),
    )
    across = [("gc", fading.forget, RED), ("late", fading.review_from, ORANGE), ("review", fading.review_to, ORANGE)]
    return Picture(
        title=f"{memory.id} · {fading.model} · {curve.now.retention:.2f} left",
        points=tuple(((at - first) / (last - first), min(1.0, score)) for at, score in curve.points),
        across=tuple(Level(level, f"{label} {level:g}", colour) for label, level, colour in across),
        down=tuple(
            Level((at - first) / (last - first), label, colour)
            for label, at, colour in moments
            if at is not None and first <= at <= last
        ),
        begins=day(moment(first)).isoformat(),
        ends=day(moment(last)).isoformat(),
    )
