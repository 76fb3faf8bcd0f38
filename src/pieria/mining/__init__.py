"""Mining: brings what lies in files into a bank, and again whenever they have changed.

A project's tree comes in as passages, conversations with agents and people as turns. Nothing of what is written here
knows how a bank keeps anything; nothing below knows what a file is.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pieria.errors import InputError, NotFoundError, PieriaError
from pieria.mining.formats import FORMATS, LARGEST, PROJECT
from pieria.mining.report import Refused, Report
from pieria.record import check
from pieria.record.pathnames import check_length

if TYPE_CHECKING:
    from pieria.bank import Bank
    from pieria.mining.miner import Miner, Progress
    from pieria.record.memory import Memory

__all__ = ["FORMATS", "Refused", "Report", "mine", "passages", "watch"]

log = logging.getLogger(__name__)


def mine(
    bank: Bank,
    path: str | Path,
    *,
    conversations: bool = False,
    format: str | None = None,
    wing: str | None = None,
    place: str | None = None,
    largest: int = LARGEST,
    force: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> Report:
    """Brings in what is new at a path and brings up to date what has changed, since it was last mined into this bank.

    A project's tree; with `conversations`, or a `format` of them, conversations. What one record cannot give is
    refused and told, and the rest comes in. `wing` or `place` say where new memories are kept; otherwise that follows
    from the source. Files of more than `largest` bytes are left out of a tree. With `force` everything is read again,
    and what was purged or removed here comes back. `dry_run` tells what would be done, and does nothing. When it
    returns, all is committed; `bank.sync` waits for vectors. `progress` counts bytes.
    """
    miner = _miner(bank, path, conversations, format, wing, place, largest, force, dry_run)
    return miner.run(progress)


def watch(
    bank: Bank,
    path: str | Path,
    *,
    wait: Callable[[], bool],
    conversations: bool = False,
    format: str | None = None,
    wing: str | None = None,
    place: str | None = None,
    largest: int = LARGEST,
    progress: Progress | None = None,
) -> Iterator[Report]:
    """Mines again and again, and yields a report of the first look and of each that changed or refused something.

    Between two looks it calls `wait`, and ends when that says so. A path that is not there for a while is waited for,
    and so is a bank that is busy.
    """
    miner = _miner(bank, path, conversations, format, wing, place, largest, False, False)
    told: set[Refused] | None = None
    while True:
        if os.path.exists(miner.path):
            report = _looked(miner, progress)
            if report is not None:
                if told is None or report.changed_anything or set(report.refused) - told:
                    yield report
                told = (told or set()) | set(report.refused)
        if wait():
            return


def passages(bank: Bank, path: str | Path) -> list[Memory]:
    """What a file of a project says, as it was mined last, in its order. What was purged or removed is not among it.

    Raises `NotFoundError` for a file that was not mined.
    """
    named = str(given_path(path).resolve())
    mark = bank.sources.known(f"{PROJECT}:{named}").get(f"{PROJECT}:{named}")
    if mark is None:
        raise NotFoundError("source", named, hint="Mine the project that it belongs to.")
    found = (bank.get(id) for id in mark["units"])
    return [memory for memory in found if memory is not None]


def _looked(miner: Miner, progress: Progress | None) -> Report | None:
    """None where the bank was busy: the next look takes up what this one could not."""
    try:
        return miner.run(progress)
    except PieriaError as problem:
        if not problem.retryable:
            raise
        log.warning("%s could not be mined just now: %s", miner.path, problem.message)
        return None


def _miner(
    bank: Bank,
    path: str | Path,
    conversations: bool,
    format: str | None,
    wing: str | None,
    place: str | None,
    largest: int,
    force: bool,
    dry_run: bool,
) -> Miner:
    from pieria.mining.miner import Miner
    from pieria.mining.records import Filing, name
    from pieria.mining.trees import tree_at

    if format is not None:
        check.one_of(format, "format", FORMATS)
    if wing is not None and place is not None:
        raise InputError("wing", "either wing or place", wing, hint="A place names the wing already.")
    filing = Filing(
        wing=None if wing is None else check.place(f"{wing}/room", "wing").partition("/")[0],
        place=None if place is None else check.place(place),
    )
    top = _there(path)
    tree = None
    if not (check.flag(conversations, "conversations") or format):
        tree = tree_at(top, Path.home(), bank.data.resolve())
        filing = Filing(filing.wing, filing.place, name(tree.root.name))
    whole = check.whole(largest, "largest", 1)
    return Miner(bank, top, tree=tree, format=format, filing=filing, largest=whole, force=force, dry_run=dry_run)


def given_path(path: object) -> Path:
    """A path as a caller may give it. One that is no text could not be written down."""
    expected = "the path of a file or folder"
    named = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not isinstance(named, str) or not named.strip() or "\0" in named:
        raise InputError("path", expected, path)
    check_length(named, "path")
    try:
        named.encode()
        return Path(named).expanduser()
    except (UnicodeEncodeError, RuntimeError):
        raise InputError("path", f"{expected} whose name is UTF-8", path) from None


def _there(path: str | Path) -> Path:
    """The path in full, without links on the way, so that it is the same however it is spelt."""
    given = given_path(path)
    check_length(str(given.absolute()), "path")
    try:
        return given.resolve(strict=True)
    except (OSError, RuntimeError) as problem:
        why = getattr(problem, "strerror", None) or str(problem)
        raise InputError("path", "a file or folder that can be looked at", str(path), hint=f"{given}: {why}.") from None
