"""Memory for the Hermes Agent: a provider that it loads, with Mnemosyne's tools, which recalls and keeps by itself.

Hermes finds it by the entry point of this package, or by the small folder that `pieria hermes install` writes. Nothing
of Hermes is imported.
"""

from __future__ import annotations

from typing import Any


def register(ctx: Any) -> None:
    """What Hermes calls with the context of a plugin."""
    from pieria.hermes.provider import provider

    ctx.register_memory_provider(provider())
