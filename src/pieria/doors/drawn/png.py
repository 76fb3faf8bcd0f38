"""A picture as PNG, with the standard library only: a grid of colours, and letters of three by five dots."""

from __future__ import annotations

import struct
import zlib
from itertools import pairwise

from pieria.doors.drawn.curve import BLUE, CROWDED, GREY, Picture

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
