"""Doubts about a bank that another person may have made, logged once in a process and listed by `doctor`.

The rules of trust are in `settings`.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from pieria.errors import ReadOnlyError
from pieria.store.protocol import Finding

if TYPE_CHECKING:
    from pieria.settings import Resolved
    from pieria.settings.source import Remark
    from pieria.workspace.locations import Spot

log = logging.getLogger("pieria.workspace")

_said: set[str] = set()
"""Remarks that this process has logged. One command opens several workspaces."""


def doubts_about(resolved: Resolved, spot: Spot) -> list[Remark]:
    """Return a remark for each untrusted project around a bank's files; none for a bank that is believed."""
    if not resolved.is_judged:
        return []
    from pieria.settings.files import CHECK, how_to_trust, shown
    from pieria.settings.source import Remark
    from pieria.settings.trust import Trust

    trust = Trust.read()
    found = dict.fromkeys(project for file in spot.files if (project := trust.doubted_bank(file)) is not None)
    return [
        Remark(
            f"the bank {spot.name} is in the untrusted folder {shown(str(project))}: it is read-only, as hearsay",
            how_to_trust(project),
            CHECK,
        )
        for project in found
    ]


def refuse_doubted(resolved: Resolved, spot: Spot) -> None:
    """Raise `ReadOnlyError` for a foreign bank: a copy elsewhere would be believed."""
    for doubt in doubts_about(resolved, spot):
        raise ReadOnlyError("copy", doubt.what, hint=doubt.remedy)


def is_data_doubted(resolved: Resolved) -> bool:
    """Return whether the data folder lies in an untrusted project: other people may have put files into it."""
    from pieria.settings.trust import Trust

    return resolved.is_judged and Trust.read().doubted_project(resolved.settings.folder) is not None


def finding_of(remark: Remark) -> Finding:
    return Finding(remark.check, True, remark.what, remark.remedy)


def say_once(remark: Remark) -> None:
    told = f"{remark.what}. {remark.remedy}"
    if told not in _said:
        _said.add(told)
        log.warning("%s", told)
