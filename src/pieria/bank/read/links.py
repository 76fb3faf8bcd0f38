"""The verbs on links between memories and places, and on usage."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from pieria.bank.core import Core
from pieria.bank.read.lineage import RESERVED
from pieria.bank.read.usage import spaced_uses, with_noted
from pieria.bank.results.general import Neighbor, Neighborhood
from pieria.bank.write.derived import baseless, narrowed
from pieria.errors import ConflictError, InputError, NotFoundError
from pieria.record import check
from pieria.record.changeset import Changeset
from pieria.record.draft import Problems
from pieria.record.filter import Filter
from pieria.record.ids import new_id
from pieria.record.link import DRAWN_FROM, SYMMETRIC, End, Link, LinkRow, row_of
from pieria.record.memory import Memory
from pieria.record.usage import UNUSED, Usage, Use
from pieria.store.protocol import Reader, Writer

HOPS_LIMIT = 10
DIRECTIONS = ("both", "out", "in")


def link(
    core: Core,
    source: str | End,
    target: str | End,
    relation: str,
    *,
    weight: float,
    label: str | None,
    meta: Mapping[str, Any] | None,
) -> Link:
    problems = Problems()
    ends = [problems.of(_end, value, name) for value, name in ((source, "source"), (target, "target"))]
    named = problems.of(_own_relation, relation)
    share = problems.of(check.number, weight, "weight", 0.0, 1.0)
    kept_label = None if label is None else problems.of(check.text, label, "label", 4_000)
    kept_meta = None if meta is None else problems.of(check.mapping, meta, "meta")
    if ends[0] is not None and ends[0] == ends[1]:
        problems.found.append(InputError("target", "an end other than the source", target))
    problems.settle()
    if kept_label is not None:
        kept_label = core.screen(kept_label, "label").text
    kept_meta, _ = core.screening.mapping(kept_meta, "meta")
    (source_is, one), (target_is, other) = ends
    row = LinkRow(new_id(), source_is, one, named, target_is, other, share, kept_label, kept_meta, "")
    holder = common_holder(core, _ends_of(row))
    with holder.writing() as writer:
        tied: list[str] = []
        holder.write_changes(writer, lambda writer: _tying(holder, writer, row, tied))
        return writer.links(ids=tied)[0]


def _tying(core: Core, writer: Writer, row: LinkRow, tied: list[str]) -> Changeset:
    for end in _ends_of(row):
        if end.what == "memory":
            core.standing(writer, end.name)
    old = same_tie(writer, row)
    tied.append(row.id if old is None else old.id)
    if old is not None and row_of(old) == _as_tied(row, old):
        return Changeset("link")
    if row.relation == DRAWN_FROM and row.source in _sources_of(writer, row.target):
        raise ConflictError("each memory would be the source of the other", ids=(row.source, row.target))
    if row.relation == DRAWN_FROM and row.source_is == row.target_is == "memory":
        derived, evidence = (core.standing(writer, id).state for id in (row.source, row.target))
        reason = baseless(narrowed(derived, evidence))
        if reason is not None:
            raise ConflictError(reason, ids=(row.source, row.target))
    return Changeset("link", links=[row if old is None else _as_tied(row, old)])


def unlink(core: Core, source: str | End, target: str | End | None, relation: str | None) -> list[Link]:
    if target is None:
        if relation is not None:
            raise InputError("target", "an end, together with the relation", None)
        wanted = check.identifier(source, "source")
        return _untied(_link_holder(core, wanted), lambda reader: reader.links(ids=[wanted]), wanted)
    ends = (_end(source, "source"), _end(target, "target"))
    if relation is not None:
        _own_relation(relation)
    holder = common_holder(core, ends)
    return _untied(holder, lambda reader: reader.links(between=ends, relation=relation), f"{source} – {target}")


def _link_holder(core: Core, id: str) -> Core:
    """Return the bank that holds the link, like `_holder` for a memory."""
    user: Core | None = None if core.is_user_bank else core.user_core(False)
    if user is not None:
        with user.reading() as reader:
            if reader.links(ids=[id]):
                return user
    return core


def _untied(core: Core, find: Callable[[Reader], list[Link]], asked: str) -> list[Link]:
    untied: list[Link] = []

    def plan(writer: Writer) -> Changeset:
        found = [link for link in find(writer) if link.relation not in RESERVED]
        untied.extend(_with_seen_ends(core, writer, found))
        if not untied:
            raise NotFoundError("link", asked, hint="`neighbors` shows the links, with their ids.")
        return Changeset("unlink", links=[row_of(link)._replace(ended="removed") for link in untied])

    core.apply(plan)
    return untied


def links(core: Core, end: str | End | None, *, relation: str | None) -> list[Link]:
    ends = None if end is None else (_end(end, "end"),)
    if relation is not None:
        check.name(relation, "relation")
    holder = common_holder(core, ends or ())
    with holder.reading() as reader:
        return _with_seen_ends(holder, reader, reader.links(ends, relation))


def _with_seen_ends(core: Core, reader: Reader, links: list[Link]) -> list[Link]:
    """Return the links between places and visible memories."""
    names = tuple(end.name for link in links for end in (link.source, link.target) if end.what == "memory")
    seen = reader.states(names, core.opening(names))
    return [
        link for link in links if all(end.what != "memory" or end.name in seen for end in (link.source, link.target))
    ]


def neighbors(
    core: Core, id: str | End, *, relation: str | None, direction: str, hops: int, limit: int
) -> Neighborhood:
    start = _end(id, "id")
    return _around_each(core, (start,), relation, direction, hops, limit)[start]


def neighbors_each(
    core: Core, ids: str | End | Iterable[str | End], *, relation: str | None, direction: str, hops: int, limit: int
) -> dict[str | End, Neighborhood]:
    starts = {id: _end(id, "ids") for id in _several(ids)}
    around = _around_each(core, starts.values(), relation, direction, hops, limit)
    return {id: around[start] for id, start in starts.items()}


def _around_each(
    core: Core, starts: Iterable[End], relation: str | None, direction: str, hops: int, limit: int
) -> dict[End, Neighborhood]:
    check.one_of(direction, "direction", DIRECTIONS)
    check.whole(hops, "hops", 1, HOPS_LIMIT)
    check.whole(limit, "limit", 1, 10_000)
    if relation is not None:
        check.name(relation, "relation")
    way = Way(relation, direction, hops)
    around: dict[End, Neighborhood] = {}
    for holder, theirs in _ends_by_holder(core, dict.fromkeys(starts)).items():
        with holder.reading() as reader:
            holder.all_standing(reader, [end.name for end in theirs if end.what == "memory"])
            each = walked(reader, holder.filter(), theirs, way, limit + 1)
        for start, found in zip(theirs, each, strict=True):
            around[start] = Neighborhood(found[:limit], truncated=len(found) > limit)
    return around


def _ends_by_holder(core: Core, ends: Collection[End]) -> dict[Core, list[End]]:
    """Group the ends by the bank that holds them. A place belongs to this bank."""
    holders = core.holders([end.name for end in ends if end.what == "memory"])
    holder_of = {End("memory", id): holder for holder, ids in holders.items() for id in ids}
    found: dict[Core, list[End]] = {}
    for end in ends:
        found.setdefault(holder_of.get(end, core), []).append(end)
    return found


def common_holder(core: Core, ends: Sequence[End]) -> Core:
    """Return the bank that holds the memories among the ends. Raise if there are two: links stay within a bank."""
    holders = core.holders([end.name for end in ends if end.what == "memory"])
    if len(holders) > 1:
        hint = "Links cannot cross banks, and one of the memories is the user's own, in @me."
        raise ConflictError("the ends are in two banks", ids=tuple(end.name for end in ends), hint=hint)
    return next(iter(holders), core)


def touch(
    core: Core,
    ids: str | Iterable[str],
    *,
    accesses: int,
    reviews: int,
    crossings: int,
    reward: float | None,
    boost: bool,
) -> dict[str, Usage]:
    wanted = check.identifiers(ids, "ids")
    problems = Problems()
    for value, name in ((accesses, "accesses"), (reviews, "reviews"), (crossings, "crossings")):
        problems.of(check.whole, value, name, 0, 1_000_000)
    if reward is not None:
        problems.of(check.number, reward, "reward", -1.0, 1.0)
    problems.of(check.flag, boost, "boost")
    problems.settle()
    if not (accesses or reviews or crossings or reward is not None):
        raise InputError("accesses", "at least one use to count", 0)
    from pieria.upkeep.review import strengthened

    holders = core.holders(wanted)
    for holder, theirs in holders.items():
        with holder.reading() as reader:
            holder.all_standing(reader, theirs)
    for holder, theirs in holders.items():
        now = core.now()

        def plan(writer: Writer, holder: Core = holder, theirs: list[str] = theirs, now: int = now) -> Changeset:
            standing = holder.all_standing(writer, theirs)
            by = core.habits.crossing_boost if boost else 0.0
            writes = [write for held in standing if (write := strengthened(held, by)) is not None]
            uses = [_use(id, now, accesses, reviews, crossings, reward) for id in theirs]
            return Changeset("touch", writes=writes, usage=spaced_uses(writer, uses))

        holder.apply(plan)
    return usage(core, wanted)


def usage(core: Core, ids: str | Iterable[str]) -> dict[str, Usage]:
    wanted = check.identifiers(ids, "ids")
    found: dict[str, Usage] = {}
    for holder, theirs in core.holders(wanted).items():
        noted = holder.uses.noted(theirs)
        with holder.reading() as reader:
            holder.check_known(reader, theirs)
            used, seq = reader.usage(theirs), reader.head().seq
        found |= {id: with_noted(used.get(id, UNUSED), noted.get(id, ()), seq) for id in theirs}
    return {id: found[id] for id in wanted}


def _sources_of(reader: Reader, id: str) -> set[str]:
    """Return all direct and indirect sources of an id."""
    found: set[str] = set()
    waiting = [id]
    while waiting:
        links = reader.links([End("memory", name) for name in waiting], DRAWN_FROM)
        waiting = [link.target.name for link in links if link.source.name in waiting and link.target.name not in found]
        found.update(waiting)
    return found


def _end(value: object, parameter: str) -> End:
    if not isinstance(value, End):
        return End("memory", check.identifier(value, parameter))
    if value.what == "place":
        return End("place", check.place(value.name, parameter))
    if value.what != "memory":
        raise InputError(parameter, "a memory's id or a Place", value.what)
    return End("memory", check.identifier(value.name, parameter))


def _several(value: object) -> Iterable[Any]:
    """Return the ends, at least one."""
    items = (value,) if isinstance(value, str | End) else value
    if isinstance(items, bytes | Mapping) or not isinstance(items, Iterable):
        raise InputError("ids", "an id, a Place, or a list of them", value)
    kept = tuple(items)
    if not kept:
        raise InputError("ids", "at least one id or Place", value)
    return kept


def _own_relation(value: object) -> str:
    kept = check.name(value, "relation")
    if kept in RESERVED:
        raise InputError(
            "relation", "a relation of your own", value, hint=f"Only Pieria itself links {kept}: see revise."
        )
    return kept


def _ends_of(row: LinkRow) -> tuple[End, End]:
    return End(row.source_is, row.source), End(row.target_is, row.target)


def same_tie(reader: Reader, row: LinkRow) -> Link | None:
    source, target = _ends_of(row)
    for link in reader.links(between=(source, target), relation=row.relation):
        if link.source == source or row.relation in SYMMETRIC:
            return link
    return None


def _as_tied(row: LinkRow, old: Link) -> LinkRow:
    """Return the new link with the old one's id and direction, for comparison."""
    return row._replace(
        id=old.id,
        source_is=old.source.what,
        source=old.source.name,
        target_is=old.target.what,
        target=old.target.name,
    )


def _use(id: str, now: int, accesses: int, reviews: int, crossings: int, reward: float | None) -> Use:
    return Use(
        id,
        accesses,
        now if accesses else None,
        reviews,
        now if reviews else None,
        crossings,
        0.0 if reward is None else float(reward),
        0 if reward is None else 1,
    )


class Way(NamedTuple):
    """How to walk: the relation (None for any), the direction, and the number of hops."""

    relation: str | None
    direction: str
    hops: int


def walked(reader: Reader, filter: Filter, starts: Sequence[End], way: Way, most: int) -> list[list[Neighbor]]:
    """Return for each start the visible ends of its links, nearest first, then oldest link first.

    Each start gets at most `most` neighbors, and no more of a hub is read than needed to find them.
    """
    walks = [_Walk(start, most) for start in starts]
    met: dict[str, Memory | None] = {}
    for hop in range(1, way.hops + 1):
        going = [walk for walk in walks if walk.edge and not walk.is_done]
        edge = list(dict.fromkeys(end for walk in going for end in walk.edge))
        steps = _steps(reader.links(edge, way.relation), way.direction) if edge else {}
        for walk in going:
            walk.look_ahead(steps)
        number = most
        while going := [walk for walk in going if walk.ahead and not walk.is_done]:
            _meet(reader, filter, (end for walk in going for end, _ in walk.ahead[:number]), met)
            for walk in going:
                walk.go_on(hop, number, met)
            number *= 2
    return [walk.found for walk in walks]


class _Step(NamedTuple):
    """A step over a link to its other end. `place` is the link's position among all links."""

    place: int
    to: End
    link: Link


class _Walk:
    """A walk from one end. `edge` is what the last hop reached, and `ahead` what the next may reach."""

    def __init__(self, start: End, most: int) -> None:
        self.found: list[Neighbor] = []
        self.edge = [start]
        self.ahead: list[tuple[End, Link]] = []
        self._seen = {start}
        self._most = most

    @property
    def is_done(self) -> bool:
        return len(self.found) == self._most

    def look_ahead(self, steps: Mapping[End, Sequence[_Step]]) -> None:
        reached: dict[End, Link] = {}
        for step in sorted((step for end in self.edge for step in steps.get(end, ())), key=lambda step: step.place):
            if step.to not in self._seen:
                reached.setdefault(step.to, step.link)
        self.edge, self.ahead = [], list(reached.items())

    def go_on(self, hop: int, number: int, met: Mapping[str, Memory | None]) -> None:
        """Step to the next `number` ends, if they are visible."""
        near, self.ahead = self.ahead[:number], self.ahead[number:]
        for end, link in near:
            is_place = end.what == "place"
            memory = None if is_place else met[end.name]
            if not self.is_done and (is_place or memory is not None):
                self.found.append(Neighbor(link, hop, memory, end.name if is_place else None))
                self.edge.append(end)
                self._seen.add(end)


def _steps(links: Iterable[Link], direction: str) -> dict[End, list[_Step]]:
    """Return the steps over the links, by their start."""
    steps: dict[End, list[_Step]] = {}
    for place, link in enumerate(links):
        both = direction == "both" or link.relation in SYMMETRIC
        if both or direction == "out":
            steps.setdefault(link.source, []).append(_Step(place, link.target, link))
        if both or direction == "in":
            steps.setdefault(link.target, []).append(_Step(place, link.source, link))
    return steps


def _meet(reader: Reader, filter: Filter, ends: Iterable[End], met: dict[str, Memory | None]) -> None:
    """Read the memories not met yet. None marks one that is not visible."""
    new = dict.fromkeys(end.name for end in ends if end.what == "memory" and end.name not in met)
    if new:
        met.update(new)
        met.update((memory.id, memory) for memory in reader.select(filter.having(ids=tuple(new)), limit=len(new)))
