"""Plain transcripts: lines that begin with a speaker, as in `Maya: …`, or a person's lines marked with `>`.

A time may precede the name: `[2026-01-31 09:30] Maya: …`. A file is read twice: first to find the speakers, since
`Note: …` is not one, then for the turns. Turns have no ids of their own, so their words identify them.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from pieria.mining.formats import TEXT
from pieria.mining.said import AGENT, ASSISTANT, HUMAN, SYSTEM, USER, Heard, Left, Said, Turn, clean
from pieria.record.ids import derived_id

NAME = TEXT
BEFORE = "before anybody speaks"
THROUGHOUT = 0.8
"""Share of all lines."""
ONE_SPEAKER = 5
"""Most lines per turn in a text with one speaker."""
QUESTIONS = 3
"""Marked passages that make a text a conversation if it does not begin with one."""
ROLES = {
    "user": HUMAN, "human": HUMAN, "me": HUMAN, "you": HUMAN, "assistant": AGENT, "ai": AGENT, "bot": AGENT,
    "claude": AGENT, "chatgpt": AGENT, "gpt": AGENT, "gemini": AGENT, "copilot": AGENT, "codex": AGENT,
    "model": AGENT, "system": SYSTEM,
}  # fmt: skip
_LABELS = (
    "note notes todo fixme warning example examples hint tip important ps p.s e.g i.e re fwd subject from to cc bcc "
    "date sent http https ftp file error summary question answer step result output input usage see source url"
)
_NO_NAMES = frozenset(_LABELS.split())
_DATE = r"(?P<date>\d{4}-\d{2}-\d{2})"
_TIME = r"(?P<time>\d{1,2}:\d{2}(?::\d{2})?(?:\.\d+)?)(?P<zone>Z|[+-]\d{2}:?\d{2})?"
_WHEN = rf"(?:{_DATE}(?:[T ,]+{_TIME})?|(?P<clock>\d{{1,2}}:\d{{2}}(?::\d{{2}})?))"
_NAME = r"(?P<name>[^\W\d_][\w.'’() -]{0,39}?)"
_HEADER = re.compile(
    rf"\A\s{{0,3}}(?:[\[(]{_WHEN}[\])]\s*[-–]?\s*|{_WHEN.replace('?P<', '?P<bare_')}\s+(?:[-–]\s+)?)?"
    rf"(?:[*_]{{2}}|\#{{1,4}}\s+)?{_NAME}\s?(?:[*_]{{2}})?:(?:[*_]{{2}})?(?:\s+(?P<said>.*)|\s*)\Z",
    re.DOTALL,
)
_DAY_LINE = re.compile(rf"\A[\s#=*_-]*{_DATE}[\s=*_-]*\Z")
_MARKED = re.compile(r"\A>\s?(.*)\Z", re.DOTALL)
_FENCE = re.compile(r"\A\s{0,3}(?:```|~~~)")
_MOST_NAMES = 10_000
_LONGEST_LINE = 1 << 20


class _Speakers:
    """The speakers of a file, found in a first read."""

    def __init__(self, path: Path) -> None:
        names: Counter[str] = Counter()
        timed: Counter[str] = Counter()
        self.lines = self.questions = self.answers = 0
        self.begins_marked = was_marked = False
        for line in (line for line, fenced in _lines(path) if not fenced):
            is_marked = bool(_MARKED.match(line))
            self.begins_marked |= is_marked and not self.lines
            self.questions += is_marked and not was_marked
            self.answers += not is_marked and bool(line.strip())
            self.lines += bool(line.strip())
            was_marked = is_marked
            found = _HEADER.match(line)
            if found and len(names) < _MOST_NAMES and _may_speak(found["name"]):
                names[found["name"].strip()] += 1
                timed[found["name"].strip()] += _when(found) != (None, None)
        # If nearly every line begins with a name, a name that occurs once is a speaker too.
        throughout = names.total() >= THROUGHOUT * self.lines
        self.names = {
            name for name, times in names.items() if throughout or times > 1 or timed[name] or name.casefold() in ROLES
        }
        self.turns = sum(names[name] for name in self.names)


def matches(path: Path) -> bool:
    """Return whether the text is a conversation.

    It needs two speakers by name, or marked and unmarked passages. It must begin with a mark or have several, so that
    a page with one quotation does not count.
    """
    found = _Speakers(path)
    by_name = found.turns > 1 and (len(found.names) > 1 or ONE_SPEAKER * found.turns >= found.lines)
    return by_name or (found.answers > 0 and (found.begins_marked or found.questions >= QUESTIONS))


def read(path: Path, _: Heard) -> Iterator[Said]:
    reading = _Reading(path, _Speakers(path))
    for line, fenced in _lines(path):
        yield from reading.line(line, fenced)
    yield from reading.end()


class _Reading:
    def __init__(self, path: Path, speakers: _Speakers) -> None:
        self._names = speakers.names if speakers.turns > 1 else set()
        self._session = f"{path.stem[:100]}-{derived_id('', str(path))[:8]}"
        self._path = str(path)
        self._folder = str(path.parent)
        dated = re.search(r"\d{4}-\d{2}-\d{2}", path.stem)
        self._day = dated[0] if dated else None
        self._author = ""
        self._at: str | None = None
        self._lines: list[str] = []
        self._sequence = 0
        self._seen: Counter[str] = Counter()

    def line(self, line: str, fenced: bool) -> Iterator[Said]:
        header = None if fenced else _HEADER.match(line)
        if header is not None and header["name"].strip() in self._names:
            yield from self.end()
            self._author, self._at = header["name"].strip(), self._moment(header)
            self._lines = [header["said"] or ""]
            return
        if not fenced and (day := _DAY_LINE.match(line)):
            self._day = day["date"]
        marked = None if fenced or self._names else _MARKED.match(line)
        if not self._names and not fenced and line.strip() and (marked is not None) != (self._author == USER):
            yield from self.end()
            self._author = USER if marked else ASSISTANT
        self._lines.append(marked[1] if marked else line)

    def end(self) -> Iterator[Said]:
        """Yield the current turn, complete."""
        text = clean("".join(self._lines))
        self._lines = []
        if not text or not self._author:
            if text:
                yield Left(BEFORE)
            return
        said = hashlib.sha256(text.encode()).hexdigest()
        self._seen[f"{self._author}\n{said}"] += 1
        self._sequence += 1
        yield Turn(
            unit=f"{self._path}\n{self._author}\n{said}\n{self._seen[f'{self._author}{chr(10)}{said}']}",
            session=self._session,
            sequence=self._sequence,
            author=self._author,
            author_type=ROLES.get(self._author.casefold(), HUMAN),
            text=text,
            at=self._at or self._day,
            folder=self._folder,
        )

    def _moment(self, header: re.Match[str]) -> str | None:
        day, time = _when(header)
        if day:
            self._day = day
        if time is None:
            return day or self._at
        return f"{self._day}T{time}" if self._day else None


def _when(header: re.Match[str]) -> tuple[str | None, str | None]:
    day = header["date"] or header["bare_date"]
    time = header["time"] or header["bare_time"] or header["clock"] or header["bare_clock"]
    zone = header["zone"] or header["bare_zone"] or ""
    return day, f"{time.rjust(5, '0') if len(time) < 6 else time.rjust(8, '0')}{zone}" if time else None


def _may_speak(name: str) -> bool:
    words = name.split()
    return 0 < len(words) <= 4 and name.strip().casefold() not in _NO_NAMES and not name.endswith(("(", "-"))


def _lines(path: Path) -> Iterator[tuple[str, bool]]:
    """Yield each line, and whether it is in a code block, where no one speaks."""
    fenced = False
    with path.open(encoding="utf-8-sig", newline=None) as file:
        while line := file.readline(_LONGEST_LINE):
            mark = bool(_FENCE.match(line))
            yield line, fenced or mark
            fenced = fenced != mark
