"""The base of the state machines: two handles on a bank, an oracle, and the checks that compare them."""

import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule
from tests.properties.bank_values import ALICE, BOB, START
from tests.properties.oracle import Oracle
from tests.properties.oracle_rules import Reader

import pieria
from pieria.bank import Bank
from pieria.errors import ConflictError, InputError, NotFoundError, PieriaError, PrivacyError
from pieria.record.time import micros

REFUSALS = (InputError, PrivacyError, NotFoundError, ConflictError)


def without_row(memories: Iterable[pieria.Memory]) -> list[dict[str, Any]]:
    """Return the memories as the oracle shows them, without the store's row number."""
    return [{name: value for name, value in memory.as_dict().items() if name != "row"} for memory in memories]


class Life(RuleBasedStateMachine):
    """Hold two handles on one bank; both read the time from `self.clock`."""

    embedder = "none"
    server: str | None = None  # its address, if the bank is not in a file

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="pieria-machine-"))
        self.aside = Path(tempfile.mkdtemp(prefix="pieria-aside-"))
        self.clock = START
        self.name = self.folder.name
        self.oracle = Oracle(self.name, self.now)
        self.handles: dict[Reader, Bank] = {}
        self.open_handles()
        self.watch = None if self.server else sqlite3.connect(self.folder / f"{self.name}.db")

    def now(self) -> int:
        return micros(self.clock)

    def open_handles(self) -> None:
        """Open a handle for each reader. Their settings differ, so each has its own store and connections."""
        for reader in (ALICE, BOB):
            self.handles[reader] = pieria.open(
                self.name,
                data=self.server or self.folder,
                session=reader.session,
                channel=reader.channel,
                author=reader.author,
                author_type=reader.author_type,
                clock=lambda: self.clock,
                settings={"embedder": self.embedder, "secrets": "redact" if reader is BOB else "flag"},
            )

    def close(self) -> None:
        if self.watch:
            self.watch.close()
        for bank in self.handles.values():
            bank.close()
        shutil.rmtree(self.folder)
        shutil.rmtree(self.aside)

    def some_id(self, data: st.DataObject) -> str:
        """Return a random id: mostly live, often linked, sometimes removed, purged or unknown."""
        there = [id for id, found in self.oracle.known() if not found.values["ended"]]
        ties = self.oracle.ties().values()
        tied: list[str] = [values[end] for values in ties for end in ("source", "target") if values[end] in there]
        choice = data.draw(st.integers(0, 9), label="any id, a tied one, or one that stands")
        if choice > 0 and there:
            return data.draw(st.sampled_from(tied if tied and choice < 5 else there), label="id")
        return data.draw(st.sampled_from([*self.oracle.memories, *self.oracle.purged, "nobody"]), label="any id")

    def some_ids(self, data: st.DataObject, several: int) -> list[str]:
        return list(dict.fromkeys(self.some_id(data) for _ in range(several)))

    def a_moment(self, number: int) -> int:
        """Return a moment of the past: the time of a change, or one microsecond before."""
        known = [micros(START), *(entry.at for entry in self.oracle.journal)]
        return known[(number // 2) % len(known)] - number % 2

    def agree(self, real: Callable[[], Any], model: Callable[[Any], Any]) -> Any:
        """Check that both accept or both refuse with the same class of error. `model` gets the bank's answer."""
        refused: PieriaError | None = None
        answer = None
        before = self.state_of_the_file()
        try:
            answer = real()
        except REFUSALS as error:
            refused = error
        if refused is None:
            model(answer)
            if isinstance(answer, pieria.Memory):
                self.check_shown(answer)
        else:
            try:
                model(None)
            except type(refused):
                pass
            else:
                raise AssertionError("the oracle would have done it") from refused
            assert self.state_of_the_file() == before, "a refused verb wrote"
        return answer

    def state_of_the_file(self) -> tuple[Any, ...]:
        version = self.watch.execute("PRAGMA data_version").fetchone() if self.watch else None
        with self.handles[ALICE].core.store.reading() as reader:
            return version, reader.head().seq

    def check_shown(self, memory: pieria.Memory) -> None:
        assert without_row([memory]) == [self.oracle.shown(memory.id, self.oracle.memories[memory.id][-1])]

    @rule(hours=st.sampled_from([-30, -1, 0, 1, 1, 5, 30]), micro=st.integers(-1, 1))
    def move_the_clock(self, hours: int, micro: int) -> None:
        self.clock += timedelta(hours=hours, microseconds=micro)

    @rule()
    def reopen(self) -> None:
        for bank in self.handles.values():
            assert bank.sync()
            bank.close()
        self.open_handles()
