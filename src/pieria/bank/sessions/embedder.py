"""Check the embedder for a session of a bank: its vectors must be in the bank's space, which stores them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pieria.errors import ConflictError, UnavailableError
from pieria.learning.models import embedder_of
from pieria.sessions.opened import Judges, Judging, Own

if TYPE_CHECKING:
    from pieria.bank import Bank


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
