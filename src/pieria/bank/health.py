"""How the bank is: counts and sizes, and every check with what to do. Never a word of what is remembered.

What a store finds in itself, and how it is mended, is the store's; here is what lies around it.
"""

from __future__ import annotations

import shutil

from pieria.bank.core import Core
from pieria.bank.replies import Diagnosis, Stats
from pieria.facts import summary
from pieria.record import check
from pieria.record.composing import terms_of
from pieria.record.filter import ANY_TIME, Filter, Viewer
from pieria.record.time import iso, moment
from pieria.store.protocol import Finding

LITTLE_SPACE = 200 << 20
CLOCK_TOLERANCE = 5_000_000
"""Microseconds by which known time may run ahead of the clock before it is worth a word."""


class Health(Core):
    def stats(self) -> Stats:
        """Counts of what there is, by kind and standing, and the store's sizes."""
        everything = self._everything()
        with self._reading() as reader:
            groups = {by: reader.count(everything, by) for by in ("kind", "status", "tier", "scope")}
            last = reader.changes(since=max(0, reader.head().seq - 1), limit=1)
            facts = summary.stats(reader, self.clock(), everything)
        described = self.store.describe()
        return Stats(
            bank=self.name,
            counts=described.pop("counts"),
            by_kind=groups["kind"],
            by_status=groups["status"],
            by_tier=groups["tier"],
            by_scope=groups["scope"],
            facts={"facts": facts.facts, "current": facts.current, "entities": facts.entities},
            store=described,
            pending={},
            last_change=last[0].as_dict() | {"ids": len(last[0].ids)} if last else None,
        )

    def doctor(self, *, repair: bool = False) -> Diagnosis:
        """Checks file, rules of the record, projections, disk and settings. `repair` mends projections."""
        check.flag(repair, "repair")
        findings = self.store.check()
        repaired = self.store.repair(findings, terms_of) if repair else []
        if repaired:
            findings = self.store.check()
        findings += [self._disk(), self._clock_finding(), self._engine()]
        return Diagnosis(tuple(findings), self._origins, tuple(repaired))

    def sync(self, timeout: float | None = None) -> bool:
        """Waits until every projection has caught up with the record; True when they have.

        The text index is written with the record, so there is nothing to wait for.
        """
        if timeout is not None:
            check.number(timeout, "timeout", 0.0, 86_400.0)
        self._check_open()
        return True

    def _everything(self) -> Filter:
        return self._filter().having(viewer=Viewer(everything=True), status=None, valid_at=ANY_TIME)

    def _disk(self) -> Finding:
        free = shutil.disk_usage(self.data if self.data.is_dir() else self.data.parent).free
        well = free > LITTLE_SPACE
        remedy = None if well else "Free some space before writing on."
        return Finding("disk", well, f"{free / 1e6:,.0f} MB free", remedy)

    def _clock_finding(self) -> Finding:
        with self._reading() as reader:
            known = reader.head().known
        ahead = known - self._now()
        well = ahead <= CLOCK_TOLERANCE
        detail = "known time is not ahead of the clock" if well else f"the last change is of {iso(moment(known))}"
        return Finding("clock", well, detail, None if well else "Set the clock; new changes are dated after the last.")

    def _engine(self) -> Finding:
        held = self.store.describe()
        return Finding("engine", True, f"{held['engine']} {held['engine_version']}, durability {held['synchronous']}")
