"""The base state machine: a bank, a plain oracle for each of its banks, and the checks that compare them.

Two handles on one file see different memories. The bank and the user's own bank have an oracle each.
Subclasses add the verbs and the questions.
"""

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
from tests.properties.oracle_rules import Reader, may_see

import pieria
from pieria.bank import Bank
from pieria.errors import ConflictError, InputError, NotFoundError, PieriaError, PrivacyError
from pieria.record.time import micros

QUICK: dict[str, Any] = {"durability": "off", "count_uses": False}
REFUSALS = (InputError, PrivacyError, NotFoundError, ConflictError)


def without_row(memories: Iterable[pieria.Memory]) -> list[dict[str, Any]]:
    """Return the memories as the oracle shows them, without the store's row number."""
    return [{name: value for name, value in memory.as_dict().items() if name != "row"} for memory in memories]


class Life(RuleBasedStateMachine):
    """Hold two handles on one bank; both read the time from `self.clock`."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="pieria-machine-"))
        self.aside = Path(tempfile.mkdtemp(prefix="pieria-aside-"))
        self.clock = START
        self.ours = Oracle("bank", self.now)
        self.mine = Oracle("@me", self.now)
        self.notes: dict[str | None, dict[str, str]] = {reader.session: {} for reader in (ALICE, BOB)}
        self.handles: dict[Reader, Bank] = {}
        self.open_handles()
        self.watch = sqlite3.connect(self.folder / "bank.db")

    def now(self) -> int:
        return micros(self.clock)

    def open_handles(self) -> None:
        """Open a handle for each reader. Their settings differ, so each has its own store and connections."""
        for reader in (ALICE, BOB):
            self.handles[reader] = pieria.open(
                "bank",
                data=self.folder,
                session=reader.session,
                channel=reader.channel,
                author=reader.author,
                author_type=reader.author_type,
                via=reader.via,
                clock=lambda: self.clock,
                settings={**QUICK, "secrets": "redact" if reader.redacts else "flag"},
            )

    def close(self) -> None:
        self.watch.close()
        for bank in self.handles.values():
            bank.close()
        shutil.rmtree(self.folder)
        shutil.rmtree(self.aside)

    # --- the two banks and their oracles

    def user_bank(self) -> Bank | None:
        core = self.handles[ALICE].core.user_core(False)
        return None if core is None else Bank(core)

    def banks(self) -> list[tuple[Oracle, Bank]]:
        """Return each existing bank with its oracle, opened by a reader who sees no session's private memories."""
        users = self.user_bank()
        return [(self.ours, self.handles[ALICE]), *([] if users is None else [(self.mine, users)])]

    def oracle_of(self, id: str) -> Oracle:
        """Return the oracle that has this id. If neither has it, return the one of the bank itself."""
        return self.mine if id in self.mine.memories and id not in self.ours.memories else self.ours

    def sees(self, id: str, reader: Reader) -> bool:
        oracle = self.oracle_of(id)
        return id in oracle.memories and may_see(reader, oracle.current(id))

    def some_id(self, data: st.DataObject) -> str:
        """Return a random id: mostly live, often linked, sometimes removed, purged or unknown."""
        oracles = (self.ours, self.mine)
        there = [id for oracle in oracles for id, found in oracle.known() if not found.values["ended"]]
        ties = [stretch.values for oracle in oracles for stretch in oracle.ties().values()]
        tied: list[str] = [values[end] for values in ties for end in ("source", "target") if values[end] in there]
        choice = data.draw(st.integers(0, 9), label="any id, a tied one, or one that stands")
        if choice > 0 and there:
            return data.draw(st.sampled_from(tied if tied and choice < 5 else there), label="id")
        every = [id for oracle in oracles for id in (*oracle.memories, *oracle.purged)]
        return data.draw(st.sampled_from([*every, "nobody"]), label="any id")

    def a_moment(self, number: int) -> int:
        """Return a moment of the past: the time of a change, or one microsecond before."""
        known = [micros(START), *(entry.at for entry in self.ours.journal)]
        return known[(number // 2) % len(known)] - number % 2

    # --- agreement

    def agree(self, real: Callable[[], Any], model: Callable[[Any], Any]) -> Any:
        """Check that both accept or both refuse with the same class of error. `model` gets the bank's answer."""
        refused: PieriaError | None = None
        answer = None
        before = self.state_of_the_files()
        try:
            answer = real()
        except REFUSALS as error:
            refused = error
        if refused is None:
            model(answer)
        else:
            try:
                model(None)
            except type(refused):
                pass
            else:
                raise AssertionError("the oracle would have done it") from refused
            assert self.state_of_the_files() == before, "a refused verb wrote"
        return answer

    def state_of_the_files(self) -> tuple[Any, ...]:
        version = self.watch.execute("PRAGMA data_version").fetchone()[0]
        heads = []
        for _, bank in self.banks():
            with bank.core.store.reading() as reader:
                heads.append(reader.head().seq)
        # A refused verb may have created the user's bank. That bank is still empty.
        return version, *(seq for seq in heads if seq)

    def check_shown(self, oracle: Oracle, memory: pieria.Memory) -> None:
        assert without_row([memory]) == [oracle.shown(memory.id, oracle.memories[memory.id][-1])]

    # --- what happens to every bank

    @rule(hours=st.sampled_from([-30, -1, 0, 1, 1, 5, 30]), micro=st.integers(-1, 1))
    def move_the_clock(self, hours: int, micro: int) -> None:
        self.clock += timedelta(hours=hours, microseconds=micro)

    @rule()
    def reopen(self) -> None:
        for bank in self.handles.values():
            assert bank.sync()
            bank.close()
        self.open_handles()
