"""The verbs that change a memory: new versions, revisions under a new id, end of validity, pins.

No content is overwritten.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import UTC, tzinfo
from functools import partial
from typing import Any, TypedDict, Unpack

from pieria.bank.core import EVERYTHING, Core, check_decided, last_read
from pieria.bank.facts.drawn_facts import check_trusted, correct_fact, end_fact, is_drawn
from pieria.bank.facts.extracted import Read
from pieria.bank.facts.extraction import draw_anew, was_drawn
from pieria.bank.facts.statements import check_wording
from pieria.bank.read.lineage import REVISES
from pieria.bank.write.person_only import told_again
from pieria.errors import ConflictError, InputError
from pieria.language.pasted import REPEATS
from pieria.record import check
from pieria.record.changeset import Changeset, State, Stored, Write
from pieria.record.draft import Draft, Instant, NewMemory, Problems, checked, moment, seen_by
from pieria.record.ids import new_id
from pieria.record.link import DRAWN_FROM, End, LinkRow, row_of
from pieria.record.memory import AUTHOR_TYPES, GIVEN_STATUSES, STATEMENT, TIERS, Memory
from pieria.record.time import is_over, iso
from pieria.record.time import moment as at_moment
from pieria.record.trust import GIVEN, PERSON, TRUST, lowered
from pieria.store.protocol import Reader, Writer
from pieria.store.rows import content_of, type_of, with_index


class Revised(TypedDict, total=False):
    """What a revision may give anew. A name that is left out keeps its value."""

    text: str
    title: str | None
    body: Mapping[str, Any]
    tags: Collection[str]
    entities: Collection[str]
    files: Collection[str]
    context: str | None
    meta: Mapping[str, Any]
    importance: float
    confidence: float | None
    place: str | End
    valid_from: Instant | None
    valid_until: Instant | None


class Changes(Revised, total=False):
    """What an update may change. A name that is left out keeps its value."""

    strength: float
    scope: str
    status: str
    tier: str
    at: Instant


WORDING = frozenset(("text", "title", "body", "context"))
"""The fields of a memory that can instruct an agent."""
CONTENT = ("text", "title", "body", "tags", "entities", "files", "context", "meta")


def update(
    core: Core,
    id: str,
    *,
    reason: str | None,
    unless_changed_since: Instant | None,
    via: str | None,
    **named: Unpack[Changes],
) -> Memory:
    given = _given("update", named, Changes)
    problems = Problems()
    changes, kept_reason = _checked(core, problems, id, given, reason)
    since = last_read(problems, unless_changed_since)
    way = core.via if via is None else problems.of(check.one_of, via, "via", GIVEN)
    problems.settle()
    holder = core.holder(id)
    if is_drawn(holder, id):
        return correct_fact(holder, id, given, changes, kept_reason, since, way)
    if holder.is_user_bank and "scope" in given:
        raise InputError("scope", "no change of scope: the user's memories stay in the user's bank", given["scope"])

    def plan(writer: Writer) -> Changeset:
        held = holder.standing(writer, id)
        holder.check_unchanged(writer, id, since)
        if _RESTS_ON.intersection(given):
            check_decided(held.state)
        if held.state.kind == STATEMENT and any(
            changes[name] != getattr(held.state, name) for name in _OF_A_FACT & changes.keys()
        ):
            check_trusted(id, way, held.state)
        changed = told_again(core, writer, held.state, _changed_state(held.state, changes, kept_reason))
        contents = {name: given[name] for name in CONTENT if name in given}
        write = Write(changed)
        if contents:
            write = next_version(holder, writer, held, changed, contents, way) or write
            if held.state.kind == STATEMENT and "text" in given:
                _check_fact(writer, write, held.state, way, holder.zone)
        unchanged = held.state if kept_reason is not None else held.state._replace(reason=None)
        if write.content is None and write.state == unchanged:
            return Changeset("update")
        return Changeset("update", writes=[write])

    read = _read_ahead(holder, id, given.get("text"))
    with holder.writing() as writer:
        holder.write_changes(writer, plan)
        changed = holder.at_hand(writer, id)
        if "text" in given:
            draw_anew(holder, writer, id, changed, read)
        return changed


def widen(
    core: Core, id: str, *, importance: float | None, scope: str | None, valid_until: Instant | None, reason: str | None
) -> Memory:
    asked = {"importance": importance, "scope": scope, "valid_until": valid_until}
    given = _given("widen", {name: value for name, value in asked.items() if value is not None}, Changes)
    problems = Problems()
    changes, kept_reason = _checked(core, problems, id, given, reason)
    problems.settle()
    holder = core.holder(id)

    def plan(writer: Writer) -> Changeset:
        held = holder.standing(writer, id).state
        more = {name: value for name, value in changes.items() if _is_more(name, value, getattr(held, name))}
        changed = told_again(core, writer, held, _changed_state(held, more, kept_reason))
        return Changeset("update", writes=[Write(changed)] if more else [])

    return holder.changed(id, plan)


def revise(
    core: Core,
    id: str,
    *,
    author: str | None,
    author_type: str | None,
    at: Instant | None,
    reason: str | None,
    unless_changed_since: Instant | None,
    **named: Unpack[Revised],
) -> Memory:
    given = _given("revise", named, Revised)
    problems = Problems()
    changes, kept_reason = _checked(core, problems, id, given, reason)
    said_at = None if at is None else problems.of(moment, at, "at")
    since = last_read(problems, unless_changed_since)
    speaker = _speaker(problems, author or core.author, author_type or core.author_type)
    problems.settle()
    holder = core.holder(id)
    if _is_fact(holder, id):
        _check_unsigned(author=author, author_type=author_type, at=at)
        return update(core, id, reason=reason, unless_changed_since=unless_changed_since, via=None, **named)
    revised = new_id()
    before_it: list[str] = []

    def plan(writer: Writer) -> Changeset:
        held = holder.standing(writer, holder.newest_revision(writer, id))
        holder.check_unchanged(writer, id, since)
        if is_over(held.state.valid_until, core.now()):
            hint = "Remember a new memory, or set another valid_until with update."
            raise ConflictError("the memory is no longer valid", ids=(held.state.id,), hint=hint)
        if _RESTS_ON.intersection(given):
            check_decided(held.state)
        before = content_draft(holder, writer, held)
        draft = redrafted(holder, before, {name: given[name] for name in CONTENT if name in given})
        state = _changed_state(held.state, changes, kept_reason)
        now = core.now() if said_at is None else said_at
        said_by = _said_by(held.state, *speaker)
        state = state._replace(id=revised, version=1, row=0, at=now, superseded_by=None, **said_by)
        state = told_again(core, writer, held.state, _said_through(state, core.via, given, before.new))
        content = content_of(draft, revised, 1)
        ended = held.state._replace(ended="revised", superseded_by=revised, reason=kept_reason)
        link = LinkRow(new_id(), "memory", revised, REVISES, "memory", held.state.id, 1.0, kept_reason, None, "")
        writes = [Write(ended), with_index(state._replace(type=type_of(draft.body)), content, draft, fresh=True)]
        before_it.append(held.state.id)
        return Changeset("revise", writes=writes, links=[link, *_same_sources(writer, held.state.id, revised)])

    read = _read_ahead(holder, id, given.get("text"))
    with holder.writing() as writer:
        holder.write_changes(writer, plan)
        memory = holder.at_hand(writer, revised)
        draw_anew(holder, writer, before_it[-1], memory, read)
        return memory


def invalidate(
    core: Core,
    id: str,
    *,
    at: Instant | None,
    replacement: str | None,
    reason: str | None,
    unless_changed_since: Instant | None,
) -> Memory:
    problems = Problems()
    problems.of(check.identifier, id, "id")
    zone = None if at is None else _fact_zone(core, problems, id)
    ends = None if at is None else problems.of(partial(moment, end=zone is not None, zone=zone or UTC), at, "at")
    kept_reason = problems.of(core.reason, reason)
    since = last_read(problems, unless_changed_since)
    if replacement == id:
        problems.found.append(InputError("replacement", "another memory's id", replacement))
    problems.settle()
    holder = core.holder(id)
    if is_drawn(holder, id):
        return end_fact(holder, id, ends, replacement, kept_reason, since, core.via)
    if replacement is not None:
        other = core.holder(check.identifier(replacement, "replacement"))
        with other.reading() as reader:
            other.standing(reader, replacement)

    def plan(writer: Writer) -> Changeset:
        held = holder.standing(writer, id).state
        holder.check_unchanged(writer, id, since)
        if held.kind == STATEMENT:
            check_trusted(id, core.via, held)
        until = holder.now() if ends is None else ends
        if held.valid_until is not None and held.valid_until <= until:
            until = held.valid_until
            if replacement in (None, held.superseded_by):
                raise ConflictError("the memory was no longer valid at that time", ids=(id,))
        # A fact may end the instant it began, and stays in its history.
        is_instant = held.kind == STATEMENT and until == held.valid_from
        if held.valid_from is not None and until <= held.valid_from and not is_instant:
            raise InputError("at", "a time after the memory's valid_from", at, hint="Or use remove.")
        leads_to = replacement or held.superseded_by
        changed = held._replace(valid_until=until, superseded_by=leads_to, reason=kept_reason)
        return Changeset("invalidate", writes=[Write(changed)])

    return holder.changed(id, plan)


def pin(core: Core, id: str, pinned: bool) -> Memory:
    check.identifier(id, "id")
    check.flag(pinned, "pinned")
    holder = core.holder(id)

    def plan(writer: Writer) -> Changeset:
        held = holder.standing(writer, id).state
        changeset = Changeset("pin" if pinned else "unpin")
        if held.pinned != int(pinned):
            changeset.writes.append(Write(held._replace(pinned=int(pinned), reason=None)))
        return changeset

    return holder.changed(id, plan)


def _check_fact(reader: Reader, write: Write, held: State, via: str, zone: tzinfo) -> None:
    """Raise if a new text is no longer the statement's fact, or has less trust than the fact."""
    if write.content is not None:
        check_wording(reader, write.content, zone)
        check_trusted(held.id, via, held)


def _is_fact(core: Core, id: str) -> bool:
    """Return whether a revision keeps the id, because it is a fact's."""
    with core.reading() as reader:
        held = core.known(reader, id)
    if held is None:
        return is_drawn(core, id)
    return held.state.kind == STATEMENT and held.state.ended != "revised"


def _fact_zone(core: Core, problems: Problems, id: str) -> tzinfo | None:
    """Return the zone of days that are given for a fact. None for a memory: its days are in UTC."""
    if problems.found:
        return None
    holder = core.holder(id)
    return holder.zone if _is_fact(holder, id) else None


def _check_unsigned(**given: object) -> None:
    problems = Problems()
    for name, value in given.items():
        if value is not None:
            problems.found.append(InputError(name, "no value: a revised fact stays the same fact", value))
    problems.settle()


def _checked(
    core: Core, problems: Problems, id: str, given: Mapping[str, Any], reason: str | None
) -> tuple[dict[str, Any], str | None]:
    """Return the changed state fields and the reason. Content is checked too, to report all problems at once."""
    problems.of(check.identifier, id, "id")
    contents = {name: given[name] for name in CONTENT if name in given}
    if contents:
        problems.of(checked, NewMemory(**{"text": "unchanged", **_filled(contents)}))
    zone = _fact_zone(core, problems, id) if given.keys() & {"valid_from", "valid_until"} else None
    return _state_changes(problems, given, zone or UTC), problems.of(core.reason, reason)


def _read_ahead(core: Core, id: str, text: Any) -> Read:
    """Read the new text before the transaction, if facts were extracted from the memory.

    Long texts must not block other writers.
    """
    read = Read(core)
    if text is not None:
        with core.reading() as reader:
            wanted = was_drawn(core, reader, core.newest_revision(reader, id))
        if wanted is not None:
            read.ahead(core.screening.draft(checked(NewMemory(text))).text, wanted)
    return read


def content_draft(core: Core, reader: Reader, held: Stored) -> Draft:
    """Return the present content as a draft."""
    # The caller has already checked visibility.
    memory = reader.memories([held.state.row], core.filter().having(viewer=EVERYTHING))[held.state.row]
    kept = ("text", "title", "kind", "body", "tags", "entities", "files", "context", "meta")
    draft = checked(NewMemory(**{name: getattr(memory, name) for name in kept}))
    draft.flags = memory.flags
    return draft


def redrafted(core: Core, before: Draft, contents: Mapping[str, Any]) -> Draft:
    draft = core.screening.draft(checked(replace(before.new, **_with_repeats(before.new, _filled(contents)))))
    if "text" not in contents:
        # Keep earlier flags: the removed text cannot be found again.
        draft.flags = tuple(dict.fromkeys((*before.flags, *draft.flags)))
    return draft


def next_version(
    core: Core,
    writer: Writer,
    held: Stored,
    changed: State,
    contents: Mapping[str, Any],
    via: str,
    *,
    anew: bool = False,
) -> Write | None:
    """Return the write of the next version, or None if the content is unchanged and no write is forced."""
    before = content_draft(core, writer, held)
    draft = redrafted(core, before, contents)
    number = writer.newest_version(held.state.id) + 1
    content = content_of(draft, held.state.id, number)
    same = content_of(before, held.state.id, number)
    if not anew and content._replace(flags=None) == same._replace(flags=None):
        return None
    state = changed._replace(version=number, type=type_of(draft.body))
    if WORDING.intersection(contents):
        state = lowered(state, via)
    return with_index(state, content, draft, fresh=False)


def _filled(contents: Mapping[str, Any]) -> dict[str, Any]:
    """Replace None by the empty value of a list or mapping."""
    return {name: _NONE_MEANS.get(name) if value is None else value for name, value in contents.items()}


def _with_repeats(before: NewMemory, contents: dict[str, Any]) -> dict[str, Any]:
    """Return the contents with the spans of the text that repeat a tool; callers cannot set or remove them.

    The spans stay only if the text stays.
    """
    if not contents.keys() & {"text", "meta"}:
        return contents
    held = {REPEATS: before.meta[REPEATS]} if REPEATS in before.meta else {}
    is_same = contents.get("text", before.text) == before.text
    meta = {name: value for name, value in contents.get("meta", before.meta).items() if name != REPEATS}
    return {**contents, "meta": {**meta, **(held if is_same else {})}}


def _same_sources(reader: Reader, id: str, revised: str) -> list[LinkRow]:
    """Return links from the revision to the sources of the revised memory."""
    return [
        row_of(link)._replace(id=new_id(), source=revised)
        for link in reader.links([End("memory", id)], DRAWN_FROM)
        if link.source == End("memory", id)
    ]


def _given(verb: str, named: Mapping[str, Any], known: type) -> dict[str, Any]:
    """Return the named values. Raise `InputError` if there are none."""
    check.keywords(named, known, verb)
    if not named:
        raise InputError(verb, "at least one value to change", None)
    return dict(named)


def _state_changes(problems: Problems, given: Mapping[str, Any], zone: tzinfo) -> dict[str, Any]:
    """Return the checked changes of the state. Days of its validity are days in the zone."""
    changes: dict[str, Any] = {}
    for name, (check_value, arguments) in _STATE_VALUES.items():
        if name in given:
            missing = given[name] is None and name in _MAY_BE_NONE
            changes[name] = None if missing else problems.of(check_value, given[name], name, *arguments)
    for name, is_end in (("valid_from", False), ("valid_until", True)):
        if name in given:
            bound = partial(moment, end=is_end, zone=zone)
            changes[name] = None if given[name] is None else problems.of(bound, given[name], name)
    return changes


def _changed_state(state: State, changes: Mapping[str, Any], reason: str | None) -> State:
    changed = state._replace(reason=reason, **changes)
    if changed.scope == "session":
        seen_by(changed.session, changed.channel)
    begin, end = changed.valid_from, changed.valid_until
    if begin is not None and end is not None and end <= begin:
        raise InputError("valid_until", f"a time after valid_from ({iso(at_moment(begin))})", iso(at_moment(end)))
    return changed


def _is_more(name: str, value: Any, held: Any) -> bool:
    if name == "scope":
        return bool(value == "bank" and held == "session")
    # A memory without an end already has the latest.
    return held is not None and bool(value > held)


def _speaker(problems: Problems, author: object, author_type: object) -> tuple[str | None, str | None]:
    """Return the checked author and author type."""
    return (
        None if author is None else problems.of(check.name, author, "author"),
        None if author_type is None else problems.of(check.one_of, author_type, "author_type", AUTHOR_TYPES),
    )


def _said_by(held: State, author: str | None, author_type: str | None) -> dict[str, Any]:
    """Return the author fields of the new version.

    If neither is given, both stay. Another name drops the type, and another type drops the name.
    """
    if author_type is not None:
        same = held.author_type in (None, author_type)
        return {"author": author or (held.author if same else None), "author_type": author_type}
    if author in (None, held.author):
        return {"author": held.author, "author_type": held.author_type}
    return {"author": author, "author_type": None}


def _said_through(state: State, via: str, given: Collection[str], before: NewMemory) -> State:
    """Return the state of a revision that came in by `via`. It is a person's if a person gave all of its wording."""
    if via == PERSON and all(name in given for name in WORDING if getattr(before, name)):
        return state._replace(via=PERSON, trust=TRUST[PERSON])
    return lowered(state, via) if WORDING.intersection(given) else state


_NONE_MEANS: dict[str, Any] = {"tags": (), "entities": (), "files": (), "body": {}, "meta": {}}
_OF_A_FACT = frozenset({"confidence", "valid_from", "valid_until"})
"""The fields that change the fact as well, in a memory that states one."""
_RESTS_ON = frozenset({"status", "body", "tags"})
"""The fields that identify and support a proposal; without them no decision on it is possible."""
_MAY_BE_NONE = ("confidence",)
_STATE_VALUES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "importance": (check.number, ()),
    "confidence": (check.number, ()),
    "strength": (check.number, (0.0, 2.0)),
    "place": (check.place, ()),
    "scope": (check.one_of, (("session", "bank"),)),
    "status": (check.one_of, (GIVEN_STATUSES,)),
    "tier": (check.one_of, (TIERS,)),
    "at": (moment, ()),
}
"""How each value of a state is checked. A memory moves between session and bank; the user's memories stay in `@me`."""
