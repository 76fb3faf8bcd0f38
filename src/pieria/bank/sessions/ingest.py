"""Ingest experiences from elsewhere, each at most once.

The knowledge and a receipt are written in one transaction. So the same payload is not learned from or paid for twice,
and another payload under its name is refused. The vectors of a session must be in the bank's space, which stores them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pieria.bank.results.general import IngestReceipt
from pieria.bank.sessions.records import kept_receipt, receipt_of
from pieria.errors import ConflictError, InputError, PieriaError, UnavailableError
from pieria.learning.answers import Answers
from pieria.learning.draft import prepared
from pieria.learning.episode import Episode
from pieria.learning.experience import Experience, Taken
from pieria.learning.judgement import append_step, judge_whole
from pieria.learning.models import embedder_of
from pieria.learning.structuring import extract
from pieria.record import check
from pieria.record.changeset import Record
from pieria.record.draft import Problems
from pieria.runtime.key_locks import turns
from pieria.sessions.opened import Judges, Judging, Own

if TYPE_CHECKING:
    from pieria.bank import Bank
    from pieria.graph.changeset import Changeset
    from pieria.sessions.opened import Judges
    from pieria.store.protocol import Progress, Reader, Writer


TRIES = 16
"""Failed experiences of a bank that are kept in memory, with what a model has answered about them."""


def ingest(bank: Bank, trajectory: Experience | Mapping[str, Any]) -> IngestReceipt:
    return _ingested(bank, Experience.of(trajectory))


def ingest_many(
    bank: Bank, trajectories: Iterable[Experience | Mapping[str, Any]], progress: Progress | None
) -> list[IngestReceipt]:
    if isinstance(trajectories, str | bytes | Mapping) or not isinstance(trajectories, Iterable):
        raise InputError("trajectories", "a list of mappings", trajectories)
    given = _experiences(list(trajectories))
    _check_all(bank, given)
    taken_in = []
    for each in given:
        taken_in.append(_ingested(bank, each))
        if progress is not None:
            progress(len(taken_in), len(given))
    return taken_in


def receipt(bank: Bank, source_id: str) -> IngestReceipt | None:
    with bank.core.reading() as reader:
        found = receipt_of(reader, check.identifier(source_id, "source_id"))
    return None if found is None else found[1]


def _check_all(bank: Bank, given: Sequence[Experience]) -> None:
    """Raise `ConflictError` with every name that the bank, or an earlier item, has with another payload.

    Then raise the problems of payloads not ingested before.
    """
    digests: dict[str, str] = {}
    unknown: dict[str, int] = {}
    with bank.core.reading() as reader:
        for number, each in enumerate(given):
            found = receipt_of(reader, each.source_id)
            if found is None:
                unknown.setdefault(each.source_id, number)
            digests.setdefault(each.source_id, (found and found[0]) or each.digest)
    others = dict.fromkeys(each.source_id for each in given if digests[each.source_id] != each.digest)
    if others:
        raise _other_payload(*others)
    problems = Problems()
    for number in unknown.values():
        problems.of(_screened, bank, given[number], f"trajectories[{number}].")
    problems.settle()


def _ingested(bank: Bank, given: Experience) -> IngestReceipt:
    with turns.of(id(bank.core.store), given.source_id):
        with bank.core.reading() as reader:
            known = _known(reader, given)
        return known or _kept(bank, given, _learnt(bank, given))


def _learnt(bank: Bank, given: Experience) -> Changeset:
    """Return what the experience teaches, adapted to the bank's knowledge. Nothing is written."""
    judges = judging_of(bank)({})
    mind, embedder, config = judges.mind, judges.embedder, judges.config
    tries = bank.sessions.tries
    episode, answers = tries.pop(given.digest, None) or (_lived(bank, given, judges), Answers())
    about: dict[str, Any] = {"config": config, "repo_id": bank.name, "clock": bank.clock}
    try:
        learnt = extract(episode, llm=mind, embedding=embedder, answers=answers, **about)
        return prepared(learnt, bank.graph, mind, embedder, config)
    except PieriaError:
        # What the model has answered serves the next try.
        tries[given.digest] = episode, answers
        for digest in list(tries)[:-TRIES]:
            tries.pop(digest, None)
        raise


def _lived(bank: Bank, given: Experience, judges: Judges) -> Episode:
    """Return the episode. Private parts are cut before a mind sees it."""
    mind, config = judges.mind, judges.config
    goal, steps = _screened(bank, given)
    embedder = embedder_of(judges.embedder)
    episode = Episode(goal)
    for words in steps:
        episode, _ = append_step(episode, *words, mind, embedder, config=config, repo_id=bank.name)
    return judge_whole(episode, mind, embedder, config).close()


def _screened(bank: Bank, given: Experience, where: str = "") -> tuple[str, list[Taken]]:
    """Return the screened goal and steps. Raise `InputError` for a text that is empty afterwards."""
    goal = bank.core.screen(given.goal, f"{where}goal").text
    return goal, [
        Taken(*(bank.core.screen(text, f"{where}steps[{number}].{name}").text for name, text in step._asdict().items()))
        for number, step in enumerate(given.steps)
    ]


def _kept(bank: Bank, given: Experience, learnt: Changeset) -> IngestReceipt:
    """Write the knowledge and the receipt. If another process was faster, return its receipt."""
    ids = tuple(learnt.nodes())
    receipt = IngestReceipt(given.source_id, ids, bank.clock())
    found: list[IngestReceipt] = []

    def records(writer: Writer) -> Iterator[Record]:
        known = _known(writer, given)
        if known is not None:
            found.append(known)
            raise _QuickerError
        yield kept_receipt(given.digest, receipt)

    more = {"source": given.source_id, "meta": json.loads(given.metadata or "{}")}
    try:
        bank.graph._commit(learnt, records, dict.fromkeys(ids, more))
    except _QuickerError:
        return found[0]
    return receipt


class _QuickerError(Exception):
    """Another process has written the same experience in the meantime."""


def _experiences(given: list[Experience | Mapping[str, Any]]) -> list[Experience]:
    """Return the experiences, or raise all problems as one error."""
    read, found = [], []
    for number, each in enumerate(given):
        try:
            read.append(Experience.of(each))
        except InputError as problem:
            where = f"trajectories[{number}]"
            others = [one for one in problem.errors if isinstance(one, InputError)]
            problem.errors = ()
            found += [one.renamed(f"{where}.{one.parameter}") for one in (problem, *others)]
    if found:
        first, *others = found
        first.errors = tuple(others)
        raise first
    return read


def _known(reader: Reader, given: Experience) -> IngestReceipt | None:
    """Return the receipt of the same payload or of a purged one, else None.

    Raise `ConflictError` for another payload.
    """
    found = receipt_of(reader, given.source_id)
    if found is None:
        return None
    digest, receipt = found
    if digest not in (given.digest, None):
        raise _other_payload(given.source_id)
    return receipt


def _other_payload(*source_ids: str) -> ConflictError:
    hint = "Use another source_id for a different payload."
    return ConflictError("this source_id already has another payload", ids=source_ids, hint=hint)


def judging_of(bank: Bank) -> Judging:
    def judging(own: Own) -> Judges:
        if bank.core.judging is None:
            raise UnavailableError(
                "session", "this bank was opened for inspection only", hint="Open it with pieria.open."
            )
        judges = bank.core.judging(own)
        _check_space(bank, judges)
        return judges

    return judging


def _check_space(bank: Bank, judges: Judges) -> None:
    """Raise `ConflictError` if the session's vectors could not be compared with the bank's."""
    with bank.core.reading() as reader:
        held = reader.space()
    embedder = embedder_of(judges.embedder)
    if held is not None and not bank.core.embedding.takes_over(held):
        named = held.name
        is_other = embedder.space_of(held.dimension).name != named
    else:
        own = bank.core.embedding.embedder
        named = own.model if own is not None else ""
        is_other = own is not None and embedder.model != named
    if is_other:
        hint = "Open the bank with its own embedder, or move it: pieria models use NAME."
        raise ConflictError(
            f"the bank's vectors are from {named}, but those of the session from {embedder.model}", hint=hint
        )
