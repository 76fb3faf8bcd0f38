"""`pieria` for asyncio: the same classes, verbs and functions, each to be awaited. Here are only their names.

They are made from the table in `table.py`; what type checkers see is `__init__.pyi`, which is written from the same.
"""

from pieria.aio.mirror import NAMES, Opening

__all__ = [*NAMES, "Opening"]  # noqa: PLE0604 - the names are texts

globals().update(NAMES)
