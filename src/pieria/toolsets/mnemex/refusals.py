"""What the bank would do and these tools do not: its reply tells why, with values of its own."""

from __future__ import annotations

from typing import Any

from pieria.errors import ConflictError


class RefusedError(ConflictError):
    """What was asked for does not meet its criteria; ``told`` is what the reply says beside that."""

    def __init__(self, message: str, ids: tuple[str, ...], *, hint: str | None = None, **told: Any) -> None:
        self.told = told
        super().__init__(message, ids=ids, hint=hint)
