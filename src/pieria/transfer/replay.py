"""Import into an empty bank: repeats every change of the export with its number and time, so that its past is equal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pieria.language.index_terms import labels, stated
from pieria.record.changeset import Changeset, Content, State, Write
from pieria.store.protocol import Reader
from pieria.store.rows import names_of, terms_of
from pieria.transfer.groups import Group, content_of, state_of
from pieria.transfer.rules import Rules
from pieria.transfer.tally import Tally


def replayed(reader: Reader, groups: Iterable[Group], rules: Rules, tally: Tally) -> Iterator[Changeset]:
    """Yield one changeset per change. The caller must apply each before it asks for the next, which reads its rows."""
    for group in groups:
        yield Changeset(
            group.change.what,
            writes=_writes(reader, group, rules, tally),
            links=[rules.link(line.row) for line in group.links],
            facts=[rules.fact(line.row) for line in group.facts],
            usage=group.usage,
            records=[rules.record(record) for record in group.records],
            purged=group.purged,
            replay=group.change,
        )
        for what, lines in (("links", group.links), ("facts", group.facts)):
            tally.added[what] += sum(line.last for line in lines)
        for what, number in (("usage", group.usage), ("records", group.records), ("purged", group.purged)):
            tally.added[what] += len(number)


def _writes(reader: Reader, group: Group, rules: Rules, tally: Tally) -> list[Write]:
    rows = rows_of(reader, [state_of(line) for line, content in group.states if content is None])
    writes = []
    for line, content in group.states:
        state = rules.state(state_of(line))
        if content is None:
            writes.append(Write(state._replace(row=rows[state.id])))
        else:
            writes.append(written(state, rules.content(content_of(content))))
            tally.versions += 1
        tally.added["memories"] += line.last
    return writes


def rows_of(reader: Reader, states: list[State]) -> dict[str, int]:
    """Return the row of each state's content in this bank. Try the current content first: it usually is the one."""
    held = reader.states([state.id for state in states]) if states else {}
    return {
        state.id: held[state.id].state.row
        if state.id in held and held[state.id].state.version == state.version
        else reader.version(state.id, state.version)[0].row
        for state in states
    }


def written(state: State, content: Content, *, fresh: bool = False) -> Write:
    """Return the write with this bank's search terms and labels."""
    tags, entities, files = names_of(content.tags), names_of(content.entities), names_of(content.files)
    found = terms_of(content)
    standing = stated(content.text, state.kind, state.via)
    return Write(state, content, found, labels(tags, entities, files, standing), fresh)
