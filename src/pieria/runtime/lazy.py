"""Properties of a bank that are imported at first use, safely with forks.

After a fork in the middle of an import, the child would wait for a lock of a missing thread.
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
    """Wait for imports of our modules in other threads. Imports of other packages are not waited for."""
    for name, module in list(sys.modules.items()):
        if name.startswith("pieria.") and getattr(getattr(module, "__spec__", None), "_initializing", False):
            import_module(name)


# Fork handlers run in reverse order: under the lock, no new import begins.
os.register_at_fork(before=_settle)
os.register_at_fork(before=_loading.acquire, after_in_parent=_loading.release, after_in_child=_loading.release)

if TYPE_CHECKING:
    loaded_property = cached_property
else:

    class loaded_property(cached_property):
        """A `cached_property` that forks wait for."""

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            with _loading:
                return super().__get__(instance, owner)
