"""Offers: the stores of other systems that an empty bank could take in, with the command for each.

Only the user's home and environment are searched, never a project: a cloned repository may bring a store along.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from pieria.importers import IMPORTERS, importer

FILE = "offers.json"
"""Lists in the data folder the systems that are not offered again: they were imported."""


@dataclass(frozen=True, slots=True)
class Offer:
    system: str
    title: str
    path: Path

    @property
    def command(self) -> str:
        return f"pieria import --from {self.system} {quote(str(self.path))}"

    def told(self, bank: str) -> str:
        """Return the offer in words, with the command for this bank."""
        command = f"{self.command} --bank {quote(bank)}"
        return f"This bank is empty, and {self.title} has a store on this machine. To bring it in: {command}"


def offers(data: Path, environment: Mapping[str, str] | None = None, home: Path | None = None) -> list[Offer]:
    """Return an offer for each store that is found and that was not imported before."""
    done = _settled(data)
    there = os.environ if environment is None else environment
    return list(_found(done, there, Path.home() if home is None else home))


def _found(done: set[str], environment: Mapping[str, str], home: Path) -> Iterator[Offer]:
    for system in IMPORTERS:
        if system in done:
            continue
        one = importer(system)
        try:
            path = one.find(environment, home)
        except OSError:
            # A store that cannot be looked at cannot be imported either.
            continue
        if path is not None:
            yield Offer(system, one.title, path)


def settle(data: Path, system: str) -> None:
    """Offer this system no more."""
    done = _settled(data)
    if system in done or not data.is_dir():
        return
    aside = data / f".{FILE}.{os.getpid()}"
    aside.write_text(json.dumps(sorted({*done, system})) + "\n", "utf-8")
    os.replace(aside, data / FILE)


def _settled(data: Path) -> set[str]:
    try:
        read = json.loads((data / FILE).read_text("utf-8"))
    except (OSError, ValueError):
        return set()
    return {each for each in read if isinstance(each, str)} if isinstance(read, list) else set()


class Once:
    """Makes the offers for one process: it looks at the first call, and only if the bank is empty. Thread-safe."""

    def __init__(self, data: Path, *, offered: bool) -> None:
        """`offered` is the setting `offer_imports`."""
        self._data = data
        self._lock = threading.Lock()
        self._waits = offered

    def __call__(self, bank: str, is_empty: Callable[[], bool]) -> list[str]:
        with self._lock:
            waits, self._waits = self._waits, False
        return [offer.told(bank) for offer in offers(self._data)] if waits and is_empty() else []
