"""Memories that must stay because others are derived from them."""

from __future__ import annotations

from collections.abc import Sequence

from pieria.record.link import DRAWN_FROM, End
from pieria.store.protocol import Reader


def drawn_on(reader: Reader, ids: Sequence[str]) -> set[str]:
    """Return the ids that other memories were drawn from. Upkeep never forgets them."""
    links = reader.links([End("memory", id) for id in ids], DRAWN_FROM) if ids else []
    return {link.target.name for link in links}
