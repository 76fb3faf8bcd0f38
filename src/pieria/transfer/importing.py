"""One import, from the checked file to changesets: which of the two ways it takes, and what the file holds besides."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pieria.record.changeset import Changeset
from pieria.store.protocol import Reader
from pieria.transfer.checking import Checked
from pieria.transfer.file import Source
from pieria.transfer.groups import groups
from pieria.transfer.joining import BATCH, Join
from pieria.transfer.replaying import replayed
from pieria.transfer.rules import Rules
from pieria.transfer.tally import BROKEN, Tally

ON_ERROR = ("stop", "skip")


def is_empty(reader: Reader) -> bool:
    """Nothing has ever happened here, so that the bank can become the one that was exported."""
    return reader.head().seq == 0


def planned(
    reader: Reader,
    source: Source,
    checked: Checked,
    rules: Rules,
    tally: Tally,
    *,
    mode: str,
    force: bool,
    progress: Callable[[int], None],
) -> Iterator[Changeset]:
    """What to write, a changeset at a time. Each must be applied before the next is asked for."""
    for what, ids in checked.left.items():
        if ids:
            tally.leave({"memory": "memories"}.get(what, f"{what}s"), BROKEN, len(ids))
    if is_empty(reader):
        yield from replayed(reader, groups(source, checked, tally, progress), rules, tally)
        return
    tally.not_carried["changes"] = checked.counts["change"]
    join = Join(reader, source, checked, rules, tally, mode=mode, force=force)
    yield from join.changesets(groups(source, checked, tally, progress, BATCH))
