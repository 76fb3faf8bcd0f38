"""Add statements to facts that an older version kept without a memory, in batches.

A record of the bank says how far this went, so that another process can continue. `facts.statements` keeps the two in
step afterwards.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pieria.bank.facts.statements import DONE, EVERYTHING, KEY, are_due, statement_of
from pieria.errors import PieriaError, PrivacyError
from pieria.record.changeset import FACTS_STATED, Changeset, Record
from pieria.record.fact import Fact, FactQuery, row_of
from pieria.record.time import micros
from pieria.record.trust import AGENT, HEARSAY, lowest
from pieria.runtime.background import LAST_STEP, background
from pieria.store.protocol import Reader

if TYPE_CHECKING:
    from pieria.bank.core import Core

log = logging.getLogger(__name__)

AT_ONCE = 200


def state_old_facts(core: Core, via: str = AGENT) -> None:
    """State the first batch at once, and the others in the background. Failures are logged, and tried next time.

    A bank without such facts costs one look-up.
    """
    try:
        with core.reading() as reader:
            if not are_due(reader):
                return
    except PieriaError as problem:
        log.info("bank %s: cannot check whether its facts have statements: %s", core.name, problem.message)
        return
    stating = _Stating(core, via)
    if stating.step() is not None:
        background.add(stating)


def begin_anew(core: Core) -> None:
    """Search all facts again: an import may have brought facts of an older version."""
    with core.writing() as writer:
        if not writer.sourceless(0, 1):
            return
        writer.note([Record(FACTS_STATED, KEY, None)])
    state_old_facts(core, HEARSAY)


class _Stating:
    """The background work for one bank."""

    last_step = LAST_STEP

    def __init__(self, core: Core, via: str) -> None:
        self._core = core
        self._via = via

    def step(self) -> float | None:
        if self._core.closed:
            return None
        try:
            return 0.0 if self._some() else None
        except PieriaError as problem:
            log.info("bank %s: some facts have no statements yet: %s", self._core.name, problem.message)
            return None

    def _some(self) -> bool:
        """State one batch, and return whether there is more."""
        with self._core.writing() as writer:
            if not are_due(writer):
                return False
            after = writer.records(FACTS_STATED).get(KEY, 0)
            found = writer.sourceless(after, AT_ONCE)
            if found:
                facts = [fact for _, fact in found]
                known = _first_known(writer, [fact.id for fact in facts], self._core.now())
                changeset = self._stated(facts, known)
                self._core.write_changes(writer, lambda _: changeset)
            writer.note([Record(FACTS_STATED, KEY, found[-1][0] if found else DONE)])
            return bool(found)

    def _stated(self, facts: Sequence[Fact], known: Mapping[str, int]) -> Changeset:
        speaker = self._core.speaker()
        speaker = speaker._replace(via=lowest(speaker.via, self._via), author=None, author_type=None, channel=None)
        changeset = Changeset("facts state")
        for fact in facts:
            row = row_of(fact)._replace(memory=fact.id)
            try:
                write = statement_of(row, speaker, known[fact.id])
            except PrivacyError as problem:
                log.info("fact %s: its statement cannot be written (%s)", fact.id, problem.code)
                continue
            changeset.facts.append(row)
            changeset.writes.append(write)
        return changeset


def _first_known(reader: Reader, ids: Sequence[str], now: int) -> dict[str, int]:
    """Return when each fact was stated: its first version may have been changed since. Known time may run ahead."""
    found: dict[str, int] = {}
    query = FactQuery(ids=tuple(ids), include_ended=True, every_version=True)
    for fact in reader.facts(query, EVERYTHING):
        found[fact.id] = min(micros(fact.known_from), found.get(fact.id, now))
    return found
