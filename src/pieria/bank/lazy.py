"""What a bank loads when it is first asked for, so that no fork falls into the middle of it.

A child would wait for ever: for the lock of what a thread was loading that does not exist there.
"""

from __future__ import annotations

import os
import sys
import threading
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

_loading = threading.RLock()


def _settle() -> None:
    """Waits for what other threads are loading of ours; what else they load is not ours to wait for."""
    for name, module in list(sys.modules.items()):
        if name.startswith("pieria.") and getattr(getattr(module, "__spec__", None), "_initializing", False):
            import_module(name)


# The last is called first: while the lock is held, nothing more begins to be loaded under it.
os.register_at_fork(before=_settle)
os.register_at_fork(before=_loading.acquire, after_in_parent=_loading.release, after_in_child=_loading.release)

if TYPE_CHECKING:
    loaded_property = cached_property
else:

    class loaded_property(cached_property):
        """A `cached_property` for which a fork waits."""

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            with _loading:
                return super().__get__(instance, owner)
