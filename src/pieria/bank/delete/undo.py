"""Undo one change by a new change that restores the earlier state. Refused when later changes depend on it."""

from __future__ import annotations

from pieria.bank.core import Core
from pieria.bank.delete.quarantine import is_quarantine, lifting
from pieria.bank.facts.extracted import Read
from pieria.bank.facts.extraction import draw_anew
from pieria.bank.write.person_only import check_undo
from pieria.errors import AccessError, ConflictError, NotFoundError
from pieria.record import check
from pieria.record.changeset import FOREVER, Change, Changeset, Record, State, Stored, Write
from pieria.record.fact import Fact, FactQuery, FactRow
from pieria.record.fact import row_of as fact_row
from pieria.record.link import OVERTURNS, End, Link, LinkRow
from pieria.record.link import row_of as link_row
from pieria.record.time import micros
from pieria.record.trust import DECLINED_RULES, PERSON
from pieria.store.protocol import Reader, Writer


def undo(core: Core, seq: int) -> Change:
    check.whole(seq, "seq", 1)
    reworded: list[str] = []

    def plan(writer: Writer) -> Changeset:
        found = writer.changes(seqs=[seq])
        if not found:
            raise NotFoundError("change", str(seq), hint="`changes` lists the numbers.")
        if is_quarantine(writer, seq):
            if core.via != PERSON:
                raise AccessError("not_a_person", hint=f"A person lifts it: pieria quarantine --lift {seq}")
            return lifting(writer, seq, f"undo {seq}")[0]
        states, links, facts = writer.opened(seq)
        held = writer.records(DECLINED_RULES) if found[0].what == "decline" else {}
        declined = [id for id in found[0].ids if id in held]
        _check_complete(found[0], states, links, facts, declined)
        _check_visible(core, writer, states, links, facts)
        _check_untouched(writer, seq, states, links, facts)
        _check_nothing_rests_on(core, writer, found[0], states)
        changeset = _reversed(core, writer, found[0], states, links, facts)
        pairs = zip(states, changeset.writes, strict=True)
        check_undo(core, writer, found[0].what, ((stored.state, write.state) for stored, write in pairs))
        changeset.records += [Record(DECLINED_RULES, id, None) for id in declined]
        reworded.extend(_reworded(states, changeset))
        return changeset

    with core.writing() as writer:
        change = core.write_changes(writer, plan)
        assert change is not None
        for id in reworded:
            draw_anew(core, writer, id, core.at_hand(writer, id), Read(core))
        return change


def _check_visible(core: Core, reader: Reader, states: list[Stored], links: list[Link], facts: list[Fact]) -> None:
    """Raise if the change touched what this session cannot see; the error does not say what."""
    ids = {held.state.id for held in states}
    ids.update(fact.memory for fact in facts if fact.memory is not None)
    ids.update(end.name for link in links for end in (link.source, link.target) if end.what == "memory")
    here = ids & reader.states(ids, core.everything()).keys()
    seen = reader.states(here, core.opening(here, quarantined=True))
    if here - seen.keys():
        raise ConflictError("it changed records that this session may not see", hint="Undo it from its own session.")


def _check_nothing_rests_on(core: Core, reader: Reader, change: Change, states: list[Stored]) -> None:
    """Raise if a memory that the change added has later links or facts."""
    everything = core.everything()
    known = micros(change.at)
    before = reader.states([held.state.id for held in states], everything.having(known_at=known - 1))
    fresh = [held.state.id for held in states if held.state.id not in before]
    # A link that overturns a memory does not rest on it.
    ties = [link for link in reader.links([End("memory", id) for id in fresh]) if link.relation != OVERTURNS]
    later = [link.id for link in ties if link.known_from > change.at]
    for id in fresh:
        later += [fact.id for fact in reader.facts(FactQuery(memory=id), everything) if fact.known_from > change.at]
    if later:
        hint = "Undo those first, or use remove."
        raise ConflictError(f"later links or facts depend on change {change.seq}", ids=tuple(later), hint=hint)


def _reversed(
    core: Core, reader: Reader, change: Change, states: list[Stored], links: list[Link], facts: list[Fact]
) -> Changeset:
    before = micros(change.at) - 1
    everything = core.everything().having(known_at=before)
    old_states = reader.states([held.state.id for held in states], everything)
    old_links = {link.id: link for link in reader.links(ids=[link.id for link in links], every_version=True)
                 if link.known_until == change.at}  # fmt: skip
    query = FactQuery(ids=tuple(fact.id for fact in facts), include_ended=True, every_version=True)
    old_facts = {fact.id: fact for fact in reader.facts(query, everything) if fact.known_until == change.at}
    reason = f"undo of change {change.seq}"
    return Changeset(
        f"undo {change.seq}",
        writes=[Write(_state_before(held.state, old_states.get(held.state.id), reason)) for held in states],
        links=[_link_before(link, old_links.get(link.id)) for link in links],
        facts=[_fact_before(fact, old_facts.get(fact.id), reason) for fact in facts],
    )


def _check_complete(
    change: Change, states: list[Stored], links: list[Link], facts: list[Fact], declined: list[str]
) -> None:
    opened = {held.state.id for held in states} | {link.id for link in links} | {fact.id for fact in facts}
    opened.update(declined)
    lost = tuple(id for id in change.ids if id not in opened)
    if lost or not opened:
        raise ConflictError(
            f"change {change.seq} ({change.what}) changed data without versions, or data purged since",
            ids=lost,
            hint="Purges, usage, the scratchpad and settings cannot be undone.",
        )


def _check_untouched(reader: Reader, seq: int, states: list[Stored], links: list[Link], facts: list[Fact]) -> None:
    ended = [(held.state.id, held.known_until) for held in states if held.known_until != FOREVER]
    ended += [(link.id, micros(link.known_until)) for link in links if link.known_until is not None]
    ended += [(fact.id, micros(fact.known_until)) for fact in facts if fact.known_until is not None]
    if not ended:
        return
    moments = {moment for _, moment in ended}
    since = reader.changes(since=seq)
    later = [change for change in since if micros(change.at) in moments]
    if all(change.what == f"undo {seq}" for change in later):
        raise ConflictError(f"change {seq} was undone already, by change {later[0].seq}")
    numbers = ", ".join(str(change.seq) for change in later)
    hint = f"Undo those first: {numbers}. `changes` says what they did."
    if {change.what for change in since} & {f"undo {change.seq}" for change in later}:
        # Undoing has opened new rows, and nothing opens those of this change again.
        hint = f"Undo does not reach behind what was undone before ({numbers}): change or remove the record itself."
    raise ConflictError(f"later changes depend on change {seq}", ids=tuple(id for id, _ in ended), hint=hint)


def _reworded(states: list[Stored], changeset: Changeset) -> list[str]:
    """Return the ids that have another version again."""
    pairs = zip(states, changeset.writes, strict=True)
    return [
        write.state.id for held, write in pairs if write.state.version != held.state.version and not write.state.ended
    ]


def _state_before(state: State, old: Stored | None, reason: str) -> State:
    if old is None:
        return state._replace(ended="removed", reason=reason)
    return old.state


def _link_before(link: Link, old: Link | None) -> LinkRow:
    return link_row(link)._replace(ended="removed") if old is None else link_row(old)


def _fact_before(fact: Fact, old: Fact | None, reason: str) -> FactRow:
    return fact_row(fact)._replace(ended="removed", reason=reason) if old is None else fact_row(old)
