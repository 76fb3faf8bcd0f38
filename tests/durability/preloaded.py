"""Imports for the server in `processes`, done before it forks: all modules a bank imports only on use."""

import tempfile

import tests.durability.test_kill  # noqa: F401 - its children unpickle their work from there

import pieria


def _warm() -> None:
    with tempfile.TemporaryDirectory() as folder, pieria.open("warm", data=folder) as bank:
        memory = bank.remember("warm")
        bank.recall("warm")
        bank.facts.add("a", "is", "b")
        bank.purge(memory.id)


_warm()
