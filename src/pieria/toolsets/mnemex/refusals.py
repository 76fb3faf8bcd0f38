"""Refusals of these tools where the bank itself would act. The reply gives the reason and extra values."""

from __future__ import annotations

from typing import Any

from pieria.errors import ConflictError


class RefusedError(ConflictError):
    """The request does not meet the tool's criteria; `told` is extra content for the reply."""

    def __init__(self, message: str, ids: tuple[str, ...], *, hint: str | None = None, **told: Any) -> None:
        self.told = told
        super().__init__(message, ids=ids, hint=hint)
