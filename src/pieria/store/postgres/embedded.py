"""Writes vectors to PostgreSQL in pgvector's form."""

from __future__ import annotations

from pieria.store.postgres.halves import Halves
from pieria.store.sql.embedded import VectorRows


class PostgresVectorRows(VectorRows):
    def _held(self, half: bytes) -> Halves:
        return Halves(half)
