"""A memory provider for the Hermes Agent: Mnemosyne's tools, with automatic recall and storage.

Hermes finds it by this package's entry point, or by the folder that `pieria hermes install` writes. This package
imports nothing of Hermes.
"""

from __future__ import annotations

from typing import Any


def register(ctx: Any) -> None:
    """Register the provider. Hermes calls this with the plugin's context."""
    from pieria.hermes.provider import provider

    ctx.register_memory_provider(provider())
