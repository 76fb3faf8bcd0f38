"""`pieria` for asyncio: the same classes, methods and functions, to be awaited. Only the names are here.

They are made from the table in `table.py`; type checkers read `__init__.pyi`, which is generated from the same table.
"""

from pieria.aio.mirror import NAMES, Opening

__all__ = [*NAMES, "Opening"]  # noqa: PLE0604 - the names are texts

globals().update(NAMES)
