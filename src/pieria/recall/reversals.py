"""Which memories a later one overturns, for a reader and a moment. The bank makes the links, not this module."""

from __future__ import annotations

from collections.abc import Sequence

from pieria.recall.answer import Overturned
from pieria.record.filter import ANY_TIME, Filter
from pieria.record.link import OVERTURNS, End
from pieria.record.memory import VISIBLE_STATUSES
from pieria.record.time import moment
from pieria.record.trust import may_overturn
from pieria.store.protocol import Reader


def find_overturning(reader: Reader, filter: Filter, ids: Sequence[str]) -> dict[str, Overturned]:
    """Return by id what overturns these memories, the newest of each. It takes two look-ups, or one without such links.

    A later memory counts if this reader may see it, and if it was said by the moment in question. It must also be
    trusted as far as the memory it overturns. Who made the link does not matter.
    """
    wanted = set(ids)
    ties = [
        (link.target.name, link.source.name)
        for link in (reader.links([End("memory", id) for id in wanted], OVERTURNS, filter.known_at) if ids else ())
        if link.target.name in wanted and link.target.what == link.source.what == "memory"
    ]
    if not ties:
        return {}
    both = tuple({id for tie in ties for id in tie})
    seen = Filter(
        now=filter.now,
        viewer=filter.viewer,
        ids=both,
        known_at=filter.known_at,
        valid_at=filter.valid_at,
        status=(*VISIBLE_STATUSES, "archived"),
        quarantined=filter.quarantined,
    )
    standing = reader.states(both, seen)
    older = reader.states(both, seen.anything())
    at = filter.now if filter.valid_at is None else filter.valid_at
    found: dict[str, tuple[int, str]] = {}
    for old_id, new_id in ties:
        if new_id not in standing or old_id not in older:
            continue
        old, new = older[old_id].state, standing[new_id].state
        is_said = at == ANY_TIME or new.at <= at
        if is_said and may_overturn(new.via, new.trust, old.via, old.trust):
            found[old_id] = max(found.get(old_id, (new.at, new.id)), (new.at, new.id))
    return {id: Overturned(by, moment(said)) for id, (said, by) in found.items()}
