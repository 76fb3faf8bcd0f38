"""A memory's fading as a picture: computed once, then drawn in the terminal or on a page, as PNG, or as SVG.

The PNG needs the standard library only: a grid of colours, and letters of three by five dots. The SVG is built by an
XML library, so that a memory's text cannot become markup."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from itertools import pairwise
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, SubElement, tostring

from pieria.record.time import micros, moment

if TYPE_CHECKING:
    from pieria.bank.upkeep.review import Curve

CROWDED = 0.9
"""Where a line is this far to the right, its label goes before it."""
BLUE, RED, ORANGE, GREEN, GREY = "#2563eb", "#dc2626", "#d97706", "#16a34a", "#6b7280"
WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 720, 360, 120, 40, 20, 50
DOT = 2
"""Pixels of one dot of a letter, in width and height."""
WHITE = b"\xff\xff\xff"
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:"
_ROWS = """
25755 65656 34443 65556 74647 74644 34553 55755 72227 11152 55655 44447 57755 65555 25552 65644 25573 65655 34216 72222
55557 55552 55775 55255 55222 71247 25552 26227 61247 61216 55711 74616 34652 71122 25252 25316 00002 00700 00007 02020
"""
SIGNS = dict(zip(_LETTERS, _ROWS.split(), strict=True))
"""Five rows for each sign, from the top, a digit a row: 4 for the left dot, 2 for the middle, 1 for the right."""
SVG_LEFT = 90


@dataclass(frozen=True, slots=True)
class Level:
    """A horizontal or vertical line, at a fraction of the picture's height or width."""

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


def _day(at: datetime) -> date:
    return at.date()


def picture(curve: Curve, day: Callable[[datetime], date] = _day) -> Picture:
    """`day` maps a moment to its day, by default in UTC."""
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


class Sheet:
    def __init__(self) -> None:
        self._rows = [bytearray(WHITE * WIDTH) for _ in range(HEIGHT)]

    def dot(self, x: float, y: float, colour: str, size: int = 1) -> None:
        painted = bytes.fromhex(colour[1:])
        for down in range(size):
            for across in range(size):
                column, line = round(x) + across, round(y) + down
                if 0 <= column < WIDTH and 0 <= line < HEIGHT:
                    self._rows[line][3 * column : 3 * column + 3] = painted

    def line(
        self, begin: tuple[float, float], end: tuple[float, float], colour: str, size: int = 1, gap: int = 1
    ) -> None:
        steps = int(max(abs(end[0] - begin[0]), abs(end[1] - begin[1]), 1))
        for step in range(0, steps + 1, gap):
            share = step / steps
            x = begin[0] + share * (end[0] - begin[0])
            self.dot(x, begin[1] + share * (end[1] - begin[1]), colour, size)

    def text(self, x: float, y: float, written: str, colour: str = GREY) -> None:
        """Draw text. A character without a sign leaves a gap."""
        for place, letter in enumerate(written.upper()):
            for down, digit in enumerate(SIGNS.get(letter, "00000")):
                for across in range(3):
                    if int(digit) & (4 >> across):
                        self.dot(x + DOT * (4 * place + across), y + DOT * down, colour, DOT)

    def packed(self) -> bytes:
        head = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)
        body = zlib.compress(b"".join(b"\0" + bytes(row) for row in self._rows), 9)
        return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", head) + _chunk(b"IDAT", body) + _chunk(b"IEND", b"")


def png(picture: Picture) -> bytes:
    sheet = Sheet()
    sheet.text(LEFT, TOP / 2 - 5, picture.title)
    for level in picture.across:
        sheet.line(_at(0, level.at), _at(1, level.at), level.colour, gap=4)
        sheet.text(6, _at(0, level.at)[1] - 5, level.label, level.colour)
    for number, level in enumerate(picture.down):
        sheet.line(_at(level.at, 0), _at(level.at, 1), level.colour, gap=4)
        beside = 4 if level.at < CROWDED else -4 * DOT * len(level.label) - 4
        sheet.text(_at(level.at, 0)[0] + beside, TOP + 4 + 14 * (number % 4), level.label, level.colour)
    sheet.line(_at(0, 0), _at(1, 0), GREY)
    sheet.line(_at(0, 0), _at(0, 1), GREY)
    places = [_at(across, up) for across, up in picture.points]
    for begin, end in pairwise(places):
        sheet.line(begin, end, BLUE, size=2)
    sheet.text(LEFT, HEIGHT - BOTTOM / 2, picture.begins)
    sheet.text(WIDTH - RIGHT - 4 * DOT * len(picture.ends), HEIGHT - BOTTOM / 2, picture.ends)
    return sheet.packed()


def _at(across: float, up: float) -> tuple[float, float]:
    return LEFT + across * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM)


def _chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def svg(picture: Picture) -> bytes:
    size = {"width": f"{WIDTH}", "height": f"{HEIGHT}", "viewBox": f"0 0 {WIDTH} {HEIGHT}"}
    root = Element(
        "svg", {"xmlns": "http://www.w3.org/2000/svg", "font-family": "sans-serif", "font-size": "12", **size}
    )
    SubElement(root, "title").text = picture.title
    SubElement(root, "rect", {"width": "100%", "height": "100%", "fill": "white"})
    _text(root, WIDTH / 2, TOP / 2, picture.title, "middle")
    for level in picture.across:
        _line(root, (0, level.at), (1, level.at), level.colour)
        _text(root, SVG_LEFT - 6, _y(level.at) + 4, level.label, "end", level.colour)
    for number, level in enumerate(picture.down):
        _line(root, (level.at, 0), (level.at, 1), level.colour)
        side, anchor = (3, "start") if level.at < CROWDED else (-3, "end")
        _text(root, _x(level.at) + side, TOP + 12 + 14 * (number % 4), level.label, anchor, level.colour)
    for begin, end in (((0.0, 0.0), (1.0, 0.0)), ((0.0, 0.0), (0.0, 1.0))):
        _line(root, begin, end, GREY, "")
    points = " ".join(f"{_x(across):.1f},{_y(up):.1f}" for across, up in picture.points)
    SubElement(root, "polyline", {"points": points, "fill": "none", "stroke": BLUE, "stroke-width": "2.5"})
    _text(root, SVG_LEFT, HEIGHT - BOTTOM / 2, picture.begins, "start")
    _text(root, WIDTH - RIGHT, HEIGHT - BOTTOM / 2, picture.ends, "end")
    written: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return written


def _x(share: float) -> float:
    return SVG_LEFT + share * (WIDTH - SVG_LEFT - RIGHT)


def _y(share: float) -> float:
    return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)


def _line(
    root: Element, begin: tuple[float, float], end: tuple[float, float], colour: str, dashes: str = "4 4"
) -> None:
    ends = {"x1": _x(begin[0]), "y1": _y(begin[1]), "x2": _x(end[0]), "y2": _y(end[1])}
    given = {name: f"{value:.1f}" for name, value in ends.items()} | {"stroke": colour}
    SubElement(root, "line", given | ({"stroke-dasharray": dashes} if dashes else {}))


def _text(root: Element, x: float, y: float, written: str, anchor: str, colour: str = GREY) -> None:
    place = {"x": f"{x:.1f}", "y": f"{y:.1f}", "text-anchor": anchor, "fill": colour}
    SubElement(root, "text", place).text = "".join(letter for letter in written if letter.isprintable())
