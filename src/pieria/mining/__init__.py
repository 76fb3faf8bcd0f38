"""Mining: bring the content of files into a bank, and update it when they change.

A project's files become passages; conversations become turns. Mining does not know how a bank stores memories, and the
bank does not know files.
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
from pieria.record.address import check_length
from pieria.record.place_name import place_name

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
    """Mine a path: store what is new and update what changed since the last mine into this bank.

    The path is a project's tree, or conversations with `conversations` or a `format`. Invalid records are refused and
    reported; the rest is stored. `wing` or `place` say where new memories are kept; by default the source decides.
    Files of a tree larger than `largest` bytes are left out. With `force` everything is read again, and memories that
    were purged or removed come back. `dry_run` only reports. All is committed on return; `bank.sync` waits for
    vectors. `progress` counts bytes.
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
    """Mine repeatedly; yield a report of the first run and of each run that changed or refused something.

    `wait` is called between runs and ends the loop by returning True. A missing path and a busy bank are tried again.
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
    """Return the passages of a project's file as last mined, in order, without purged or removed ones.

    Raise `NotFoundError` for a file that was not mined.
    """
    named = str(given_path(path).resolve())
    mark = bank.sources.known(f"{PROJECT}:{named}").get(f"{PROJECT}:{named}")
    if mark is None:
        raise NotFoundError("source", named, hint="Mine the project that it belongs to.")
    found = (bank.get(id) for id in mark["units"])
    return [memory for memory in found if memory is not None]


def _looked(miner: Miner, progress: Progress | None) -> Report | None:
    """Run the miner; return None if the bank was busy. The next run does the rest."""
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
    from pieria.mining.records import Filing
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
        filing = Filing(filing.wing, filing.place, place_name(tree.root.name))
    whole = check.whole(largest, "largest", 1)
    return Miner(bank, top, tree=tree, format=format, filing=filing, largest=whole, force=force, dry_run=dry_run)


def given_path(path: object) -> Path:
    """Return a path that a caller gave. It must be valid UTF-8 to be stored."""
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
    """Return the absolute path without links, so that every spelling gives the same path."""
    given = given_path(path)
    check_length(str(given.absolute()), "path")
    try:
        return given.resolve(strict=True)
    except (OSError, RuntimeError) as problem:
        why = getattr(problem, "strerror", None) or str(problem)
        raise InputError("path", "a file or folder that can be looked at", str(path), hint=f"{given}: {why}.") from None
