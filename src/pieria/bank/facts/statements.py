"""Keep facts and their statements in step: a fact without a source memory gets a memory that states it, for recall.

The two share an id. Every change, through any verb, gives both the same validity and removes, restores or erases them
together. The sentence is worded and read here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, tzinfo
from typing import NamedTuple

from pieria.errors import InputError
from pieria.language.index_terms import labels
from pieria.record.changeset import FACTS_STATED, Changeset, Content, Stored, Write
from pieria.record.days import first_day, last_day
from pieria.record.draft import Draft, NewMemory
from pieria.record.fact import Fact, FactQuery, FactRow, checked_name, folded, row_of
from pieria.record.filter import ANY_TIME, Filter, Viewer
from pieria.record.memory import STATEMENT
from pieria.record.privacy import find_secrets
from pieria.record.time import moment
from pieria.record.trust import lowered
from pieria.store.protocol import Reader, Writer
from pieria.store.rows import first_write, names_of, terms_of

KEY, DONE = "after", -1
"""The record key for how far facts of older versions have statements, and its value when all have."""
UNSAID = "its memory was reworded"
EVERYTHING = Filter(now=0, viewer=Viewer(everything=True), quarantined=True).anything()
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_ENDS = ".!?。！？"
_DATES = re.compile(r" \((?:(?:from \S+ )?until \S+|from \d{4}-\d\d-\d\d)\)$")


class Speaker(NamedTuple):
    """The author, `via` and channel of facts stated in a bank, the function that screens a statement, and the zone."""

    bank: str
    scope: str
    via: str
    author: str | None
    author_type: str | None
    channel: str | None
    screen: Callable[[Draft], Draft]
    zone: tzinfo
    """The zone of the days in sentences."""


def hold_to_statements(writer: Writer, changeset: Changeset, speaker: Speaker, now: int) -> None:
    """Add to a change what keeps facts without a source memory, and the memories that state them, in step."""
    stated = {row.id: number for number, row in enumerate(changeset.facts) if row.source_memory is None}
    written = {write.state.id: number for number, write in enumerate(changeset.writes)}
    told = [id for id, number in written.items() if changeset.writes[number].state.kind == STATEMENT]
    if alone := [id for id in stated if id not in written]:
        held = writer.states(alone)
        for id in alone:
            _state(writer, changeset, stated[id], held.get(id), speaker, now)
    if lead := [id for id in told if id not in stated]:
        facts = facts_of(writer, lead)
        for id in lead:
            _follow(writer, changeset, written[id], facts.get(id), speaker.zone)


def are_due(reader: Reader) -> bool:
    """Return whether facts of an older version may still lack a statement."""
    if not reader.last_fact():
        return False
    after = reader.records(FACTS_STATED).get(KEY, 0)
    return after != DONE and bool(reader.sourceless(after, 1))


def statement_of(row: FactRow, speaker: Speaker, at: int) -> Write:
    """Return the memory that states a fact; `at` is the time of the statement."""
    new = NewMemory(
        sentence_of(row, speaker.zone),
        kind=STATEMENT,
        confidence=row.confidence,
        scope=speaker.scope,
        source=_name_of(row.source),
        author=speaker.author,
        author_type=speaker.author_type,
        channel=speaker.channel,
        via=speaker.via,
    )
    draft = Draft(new, new.text, None, None, None, None, (), (), (), at, row.valid_from, row.valid_until, None)
    write = first_write(speaker.screen(draft), row.id, at, f"{speaker.bank}/{STATEMENT}")
    return write._replace(state=write.state._replace(ended=row.ended, reason=row.reason))


def _name_of(source: str | None) -> str | None:
    """Return the source for the memory, or None if it contains a secret, because a source cannot be edited."""
    return None if source is None or find_secrets(source) else source


def facts_of(reader: Reader, ids: Sequence[str]) -> dict[str, FactRow]:
    """Return the facts that these memories state, removed ones included."""
    found = reader.facts(FactQuery(ids=tuple(ids), include_ended=True), EVERYTHING)
    return {fact.id: row_of(fact) for fact in found if fact.memory == fact.id}


def find_fact(reader: Reader, id: str, filter: Filter) -> Fact | None:
    """Return the visible fact of this id, removed or not, if no memory has the id."""
    if reader.states([id]):
        return None
    found = reader.facts(FactQuery(ids=(id,), include_ended=True), filter.having(valid_at=ANY_TIME))
    return found[0] if found else None


def ids_of_facts(reader: Reader, ids: Sequence[str]) -> set[str]:
    """Return those of the ids that are facts, visible or not."""
    return {fact.id for fact in reader.facts(FactQuery(ids=tuple(ids), include_ended=True), EVERYTHING)}


def statements_among(reader: Reader, ids: Iterable[str]) -> list[str]:
    """Return the fact ids whose memory is only a statement."""
    wanted = list(ids)
    held = reader.states(wanted) if wanted else {}
    return [id for id in wanted if id in held and held[id].state.kind == STATEMENT]


def _state(writer: Writer, changeset: Changeset, number: int, held: Stored | None, speaker: Speaker, now: int) -> None:
    """Update the statement from its fact."""
    row = changeset.facts[number]
    if held is None:
        if not row.ended:
            row = row._replace(memory=row.id)
            changeset.writes.append(statement_of(row, speaker, now))
    elif held.state.kind == STATEMENT:
        row = row._replace(memory=row.id)
        changeset.writes.append(_restated(writer, held, row, speaker))
    changeset.facts[number] = row


def _restated(writer: Writer, held: Stored, row: FactRow, speaker: Speaker) -> Write:
    """Return the statement after a change of its fact, in a new version if the sentence differs.

    Changed words get at most the trust of the `via` that changed them.
    """
    state = held.state._replace(
        valid_from=row.valid_from,
        valid_until=row.valid_until,
        confidence=row.confidence,
        ended=row.ended,
        reason=row.reason,
    )
    write = _worded(writer, Write(state), row, speaker.zone)
    is_as_said = write.content is None and state.confidence == held.state.confidence
    return write if is_as_said else write._replace(state=lowered(write.state, speaker.via))


def _worded(writer: Writer, write: Write, row: FactRow, zone: tzinfo) -> Write:
    content = write.content or writer.contents([write.state.row])[write.state.row]
    text = sentence_of(row, zone)
    if content.text == text:
        return write
    number = writer.newest_version(write.state.id) + (write.content is None)
    content = content._replace(text=text, version=max(number, content.version))
    marks = labels(names_of(content.tags), names_of(content.entities), names_of(content.files))
    return Write(write.state._replace(row=0, version=content.version), content, terms_of(content), marks)


def _follow(writer: Writer, changeset: Changeset, number: int, row: FactRow | None, zone: tzinfo) -> None:
    """Update the fact from its statement. A statement that an import reworded into another text becomes a note."""
    write = changeset.writes[number]
    state = write.state
    if row is None:
        if write.content is not None:
            changeset.writes[number] = write._replace(state=state._replace(kind="note"))
        return
    said = row if write.content is None else _said(write.content.text, row, zone)
    if said is None:
        changeset.writes[number] = write._replace(state=state._replace(kind="note"))
        changeset.facts.append(row._replace(ended="removed", reason=UNSAID))
        return
    follows = said._replace(
        valid_from=state.valid_from,
        valid_until=state.valid_until,
        confidence=state.confidence,
        ended="removed" if state.ended else "",
    )
    if follows != row:
        changeset.facts.append(follows._replace(reason=state.reason))
    if not state.ended:
        changeset.writes[number] = _worded(writer, write, follows, zone)


def check_wording(reader: Reader, content: Content, zone: tzinfo) -> None:
    """Raise `InputError` if the new content of a statement is no longer its fact."""
    for row in facts_of(reader, [content.id]).values():
        corrected(content.text, row, zone)


def corrected(text: str, row: FactRow, zone: tzinfo) -> FactRow:
    """Return the fact with the object that the text states. Raise `InputError` if the text changes anything else."""
    said, dates = _said(text, row, zone), _DATES.search(text.strip().rstrip(_ENDS))
    if said is None:
        hint = f'Write "{_beginning(row)} …". To say something else, remove the fact, and state that instead.'
        raise InputError("text", "the sentence of this fact with another object", text, hint=hint)
    if dates is not None and dates[0] not in sentence_of(row, zone):
        hint = "Leave the dates out: valid_from and valid_until change them."
        raise InputError("text", "the sentence of this fact without other dates", text, hint=hint)
    return said


def _said(text: str, row: FactRow, zone: tzinfo) -> FactRow | None:
    """Return the fact as reworded by the text, or None if the text states another fact or none."""
    if text == sentence_of(row, zone):
        return row
    object = object_in(text, row)
    if object is None:
        return None
    try:
        kept = checked_name(object, "text")
    except InputError:
        return None
    return row._replace(object=kept, object_key=folded(kept))


def sentence_of(row: FactRow, zone: tzinfo = UTC) -> str:
    """Return the fact as a sentence: “Maya lives in Berlin.” A fact with an end also says when it held, in days."""
    told = f"{_beginning(row)} {row.object.strip()}"
    if row.valid_until is not None:
        last = last_day(moment(row.valid_until), zone)
        since = ""
        if row.valid_from is not None:
            first = first_day(moment(row.valid_from), zone)
            since, last = f"from {first} ", max(first, last)
        told = f"{told.rstrip(_ENDS)} ({since}until {last})"
    return told if told.endswith(tuple(_ENDS)) else f"{told}."


def object_in(sentence: str, row: FactRow) -> str | None:
    """Return the object in an edited sentence; None if the rest of the sentence changed."""
    for begins in (f"{_beginning(row)} ", f"{row.subject.strip()} {row.predicate.strip()} "):
        if folded(sentence[: len(begins)]) == folded(begins):
            return _DATES.sub("", sentence[len(begins) :].strip().rstrip(_ENDS)).strip() or None
    return None


def _beginning(row: FactRow) -> str:
    words = _HUMP.sub(" ", row.predicate) if "_" not in row.predicate else row.predicate.replace("_", " ")
    words = words.lower() if words.isupper() or words != row.predicate else words
    return f"{row.subject.strip()} {' '.join(words.split())}"
