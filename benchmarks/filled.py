"""A bank filled with the workload: a vector for each memory, windows for a tenth, and the time it took."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.vectors import Meaning
from benchmarks.workload import Workload, place, session
from pieria.bank import Bank
from pieria.workspace import Workspace

if TYPE_CHECKING:
    import numpy as np

Say = Callable[[str, int, int], None]
STEP = 10_000


@dataclass(slots=True)
class Filled:
    """`rows` and `places` are by text number; `size` and `seconds` tell how much was written, and how long it took."""

    bank: Bank
    workload: Workload
    meaning: Meaning
    texts: list[str]
    rows: list[int]
    places: list[str]
    size: int = 0
    seconds: float = 0.0

    def write(self, number: int) -> None:
        """Write this many more memories."""
        begin = len(self.texts)
        texts = list(self.workload.texts(number))
        items = _items(begin, texts, self.meaning)
        begun = time.perf_counter()
        made = self.bank.remember_many(items)
        self.seconds += time.perf_counter() - begun
        self.meaning.forget_prepared()
        self.texts += texts
        self.rows += [memory.row for memory in made]
        self.places += [item["place"] for item in items]
        self.size = len(self.texts)

    def write_one(self) -> None:
        text, where = self.workload.text(), "rest/room"
        vector = self.meaning.vectors([self.meaning.subject()])[0]
        self.rows.append(self.bank.remember(text, place=where, vectors=vector).row)
        self.texts.append(text)
        self.places.append(where)

    def question(self) -> tuple[str, np.ndarray[Any, Any]]:
        """Return eight words of one text, and a vector near that text's."""
        number = self.workload.below(len(self.texts))
        text, vector = self.workload.question(self.texts[number]), self.meaning.question(number)
        self.meaning.prepare(text, vector)
        return text, vector


@contextmanager
def filled(data: Path | str, size: int, say: Say, name: str = "bench") -> Iterator[Filled]:
    meaning = Meaning()
    with Workspace(data=data, embedder=meaning.embed) as workspace, workspace.open(name) as bank:
        made = Filled(bank, Workload(), meaning, [], [], [])
        for begin in range(0, size, STEP):
            made.write(min(STEP, size - begin))
            say(f"filling {size:,}", len(made.texts), size)
        yield made


def _items(begin: int, texts: list[str], meaning: Meaning) -> list[dict[str, Any]]:
    sessions = [session(begin + n) for n in range(len(texts))]
    subjects: dict[str, int] = {}
    about = [
        meaning.subject() if within is None else subjects.setdefault(within, meaning.subject()) for within in sessions
    ]
    items = []
    for n, (text, vector, within) in enumerate(zip(texts, meaning.vectors(about), sessions, strict=True)):
        item: dict[str, Any] = {"text": text, "place": place(begin + n), "vectors": vector}
        if within is not None:
            meaning.prepare(text, vector)
            item |= {"session": within, "kind": "turn"}
        items.append(item)
    return items
