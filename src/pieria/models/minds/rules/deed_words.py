"""Wordings for deeds in notes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from pieria.models.mind import TITLE, Deed
from pieria.record.clip import clipped

COMMAND, ERROR = 90, 160
EDITS = 5
LISTED = 4
_COMMIT = re.compile(r"\bgit commit\b")
_MESSAGE = re.compile(r"""-\w*m\s*=?\s*(?:"((?:\\.|[^"\\])*)"|'([^']*)')|--message[= ](?:"([^"]*)"|'([^']*)')""")
_UNTELLING = re.compile(r"no reason given|exit code|\W*(?:tests?\W+)?\d+ (?:failed|passed|errors?)\b", re.IGNORECASE)
"""An error line that only counts."""
_STOPPED = re.compile(r"[.!?…。！？][)”\"'’»]*\Z")
_FOLDED = re.compile(r"(?: 2>&1)?(?: \| (?:tail|head|tee|grep|cat)\b[^|]*)*\Z")
_TEST = re.compile(r"(?:^|[/_.-])(?:test|spec)s?(?:[_.-][^/]*)?\Z", re.IGNORECASE)
"""The name of a file with tests."""

Placed = tuple[int, Deed]


def command(line: str) -> str:
    """Return the command as quoted in a note: without its program's folder and without filters of its output."""
    flat = _FOLDED.sub("", " ".join(line.split()))
    first, blank, rest = flat.partition(" ")
    program = first.rpartition("/")[2] if "/bin/" in first else first
    return f"`{clipped(f'{program}{blank}{rest}', COMMAND)}`"


def error_of(deed: Deed) -> str:
    """Return the line with the error, without counts."""
    return clipped(deed.detail.partition("; ")[0], ERROR) if deed.detail else "no reason given"


def how(deed: Deed) -> str:
    return f" ({deed.detail})" if deed.detail else ""


def ran(deed: Deed) -> str:
    times = f", {deed.times} times" if deed.times > 1 else ""
    return f"{command(deed.target)}{how(deed)}{times}"


def listed(parts: Sequence[str], most: int = LISTED) -> str:
    kept = list(dict.fromkeys(parts))
    more = f" and {len(kept) - most} more" if len(kept) > most else ""
    return "; ".join(kept[:most]) + more


def files(edits: Sequence[Placed]) -> list[str]:
    return list(dict.fromkeys(deed.target for _, deed in edits))


def edits(edits: Sequence[Placed]) -> str:
    """Return the edits by file, with the replaced text of each."""
    by_file: dict[str, list[str]] = {}
    for _, deed in edits:
        by_file.setdefault(deed.target, [])
        if deed.detail and deed.detail not in by_file[deed.target]:
            by_file[deed.target].append(deed.detail)
    told = [f"{file} ({'; '.join(details[:2])})" if details else file for file, details in by_file.items()]
    more = f" and {len(told) - EDITS} more files" if len(told) > EDITS else ""
    return ", ".join(told[:EDITS]) + more


def sentence(told: str) -> str:
    return f"Changed {told}." if told else ""


def changed(edits: Sequence[Placed]) -> str:
    """Return a title for a change without a request."""
    names = files(edits)
    more = f" and {len(names) - 2} more" if len(names) > 2 else ""
    return f"Changed {' and '.join(names[:2]) if not more else ', '.join(names[:2])}{more}"


def fixed(how: str, error: str, command: str) -> str:
    """Return what mended the error, or the command if the error says nothing."""
    return f"{how}{_mended(error, command)}"


def fixed_title(how: str, error: str, command: str) -> str:
    """Return the same in the length of a title, with the end of the change left out."""
    mended = _mended(error, command)
    return f"{clipped(how, TITLE - len(mended))}{mended}"


def _mended(error: str, command: str) -> str:
    short = re.sub(
        r"\A\S+(?::\d+(?::\d+)?|\(\d+,\d+\)): (?:error:? )?|\A(?:\w+\.)+(?=\w+(?:Error|Exception))", "", error
    )
    what = command if _UNTELLING.match(short) else clipped(short, TITLE // 2)
    return f" mended {what}"


def stopped(text: str) -> str:
    """Return the text with a mark at its end."""
    text = text.rstrip(" ,;:–—")
    return text if not text or _STOPPED.search(text) else f"{text}."


class Vain(NamedTuple):
    """Failed attempts to fix a command, and the index of the last failure that shows it."""

    told: list[str]
    until: int


def in_vain(deeds: Sequence[Deed], first: int, last: int) -> Vain:
    """Describe the edits between a failure and the next failures of the same command."""
    told: list[str] = []
    since = first
    for place in range(first + 1, last):
        deed = deeds[place]
        if deed.what != "ran" or not deed.failed or not _alike(deed, deeds[last]):
            continue
        tried = [(n, deeds[n]) for n in range(since + 1, place) if deeds[n].what == "edited"]
        if tried:
            which = "A further attempt" if told else "A first attempt"
            told.append(f"{which}, {edits(tried)}, was not enough: {error_of(deed)}.")
            since = place
    return Vain(told, since)


def is_new_test(failure: Deed, edits: Sequence[Deed]) -> bool:
    """Return whether a test failed that these edits wrote before its code: a step of the work, not a bug."""
    shown = f"{failure.target} {failure.detail}"
    return any(_TEST.search(deed.target) and PurePosixPath(deed.target).name in shown for deed in edits)


def address(target: str) -> str:
    return re.sub(r"\Ahttps?://(?:www\.)?", "", target).rstrip("/")


def is_commit(deed: Deed) -> bool:
    return deed.what == "ran" and _COMMIT.search(deed.target) is not None


def commit_message(deeds: Sequence[Deed]) -> str:
    """Return the first line of the last commit message."""
    for deed in reversed(deeds):
        if is_commit(deed) and not deed.failed:
            found = _MESSAGE.search(deed.target)
            if found:
                message = next((group for group in found.groups() if group), "")
                return clipped(message.replace('\\"', '"').split("\n")[0], 120)
    return ""


def _alike(one: Deed, other: Deed) -> bool:
    return command(one.target).split()[0] == command(other.target).split()[0]
