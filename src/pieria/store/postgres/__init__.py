"""The store on a server: one PostgreSQL database for any number of banks, processes and machines.

The driver is an extra: it is imported only when a bank is opened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pieria.store.postgres.store import PostgresStore, bank_names, has_bank

__all__ = ["PostgresStore", "bank_names", "has_bank"]
DRIVER = "psycopg"


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from pieria.store.postgres import store
    except ModuleNotFoundError as problem:
        if (problem.name or "").partition(".")[0] != DRIVER:
            raise
        from pieria.errors import UnsuitableError

        hint = 'Install it with: pip install "pieria[postgres]"'
        raise UnsuitableError("open", f"the driver for PostgreSQL is missing ({problem.name})", hint=hint) from problem
    return getattr(store, name)
