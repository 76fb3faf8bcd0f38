"""One import, from the checked file to changesets: chooses between replay and join."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pieria.record.changeset import Changeset
from pieria.store.protocol import Reader
from pieria.transfer.check import Checked
from pieria.transfer.file import Source
from pieria.transfer.groups import groups
from pieria.transfer.join import BATCH, Join
from pieria.transfer.replay import replayed
from pieria.transfer.rules import Rules
from pieria.transfer.tally import BROKEN, Tally

ON_ERROR = ("stop", "skip")


AHEAD = 24 * 60 * 60 * 1_000_000
"""Microseconds that the other machine's clock may be ahead of ours."""


def is_replayed(reader: Reader, checked: Checked, now: int) -> bool:
    """Return whether to replay the export: the bank must be empty. The changes must not lie in the future or before the
    earliest known time, because later writes need later times.
    """
    return reader.head().seq == 0 and checked.begins > 0 and checked.ends <= now + AHEAD


def planned(
    reader: Reader,
    source: Source,
    checked: Checked,
    rules: Rules,
    tally: Tally,
    *,
    mode: str,
    force: bool,
    now: int,
    progress: Callable[[int], None],
) -> Iterator[Changeset]:
    """Yield changesets. The caller must apply each before it asks for the next."""
    for what, ids in checked.left.items():
        if ids:
            tally.leave({"memory": "memories"}.get(what, f"{what}s"), BROKEN, len(ids))
    if is_replayed(reader, checked, now):
        yield from replayed(reader, groups(source, checked, tally, progress), rules, tally)
        return
    tally.not_carried["changes"] = checked.counts["change"]
    join = Join(reader, source, checked, rules, tally, mode=mode, force=force)
    yield from join.changesets(groups(source, checked, tally, progress, BATCH))
