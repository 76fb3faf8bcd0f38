"""A random mix of all writing verbs, shared by the tests with kills and crowds.

`take` runs one verb and returns the things it touched. `observed` returns a digest of a thing. A thing is (what, id).
This module makes no assertions.
"""

import hashlib
import json
import random
from collections.abc import Callable
from typing import Any

from pieria import Memory
from pieria.bank import Bank
from pieria.record.fact import FactQuery
from pieria.record.filter import Filter, Viewer

Thing = tuple[str, str]
GONE = "gone"
WORDS = ("heron", "stork", "crane", "egret", "ibis", "bittern", "spoonbill", "avocet")


def digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()[:16]


def observed(bank: Bank, thing: Thing) -> str:
    what, id = thing
    everything = Filter(now=0, viewer=Viewer(everything=True)).anything()
    if what == "memory":
        memory = bank.get(id, include_removed=True)
        return GONE if memory is None else digest(memory.as_dict())
    if what == "note":
        return digest([entry.content for entry in bank.scratchpad.read() if entry.id == id])
    with bank.core.store.reading() as reader:
        if what == "usage":
            return digest([usage.as_dict() for usage in reader.usage([id]).values()])
        if what == "link":
            return digest([link.as_dict() for link in reader.links(ids=[id])])
        return digest([fact.as_dict() for fact in reader.facts(FactQuery(ids=(id,)), everything)])


class Mix:
    """Run random but repeatable verbs on a bank, on the memories this mix has made."""

    def __init__(self, bank: Bank, seed: object) -> None:
        self.bank = bank
        self.chance = random.Random(str(seed))
        self.mine: list[str] = []
        self.made = 0
        self.drawn: dict[Thing, set[str]] = {}
        """For each link, fact or usage, the memories whose purge erases it."""
        self.verbs: list[Callable[[], list[Thing]]] = [
            *[self.remember] * 4, self.remember_many, self.revise, self.purge, self.touch, self.link, self.fact,
            self.note, self.undo,
            *[lambda: self.change(lambda id: bank.update(id, text=self.text()))] * 2,
            lambda: self.change(lambda id: bank.restore(bank.remove(id).id)),
            lambda: self.change(lambda id: bank.pin(id, self.chance.random() < 0.5)),
            lambda: self.change(bank.remove, is_last=True),
            lambda: self.change(bank.invalidate, is_last=True),
        ]  # fmt: skip

    def take(self) -> list[Thing]:
        verb = self.chance.choice(self.verbs) if len(self.mine) > 2 else self.remember
        return verb()

    def text(self) -> str:
        self.made += 1
        return f"{' '.join(self.chance.choices(WORDS, k=self.chance.randrange(1, 30)))} number {self.made}"

    def some(self) -> str:
        return self.chance.choice(self.mine)

    def remember(self) -> list[Thing]:
        memory = self.bank.remember(self.text(), tags=[self.chance.choice(WORDS)])
        self.mine.append(memory.id)
        return [("memory", memory.id)]

    def remember_many(self) -> list[Thing]:
        made = self.bank.remember_many({"text": self.text()} for _ in range(self.chance.randrange(2, 12)))
        self.mine += [memory.id for memory in made]
        return [("memory", memory.id) for memory in made]

    def change(self, act: Callable[[str], Memory], *, is_last: bool = False) -> list[Thing]:
        """Change one memory; after its last change the mix leaves it alone."""
        id = self.some()
        if is_last:
            self.mine.remove(id)
        return [("memory", act(id).id)]

    def revise(self) -> list[Thing]:
        old = self.some()
        self.mine.remove(old)
        new = self.bank.revise(old, text=self.text(), reason="better known").id
        self.mine.append(new)
        return [("memory", old), ("memory", new)]

    def purge(self) -> list[Thing]:
        receipt = self.bank.purge(self.some())
        gone = {*receipt.ids, *receipt.also}
        self.mine = [id for id in self.mine if id not in gone]
        drawn = [thing for thing, from_these in self.drawn.items() if from_these & gone]
        return [*(("memory", id) for id in gone), *drawn]

    def touch(self) -> list[Thing]:
        id = self.some()
        self.bank.touch(id, reviews=1)
        return self.drawn_from("usage", id, id)

    def link(self) -> list[Thing]:
        one, other = self.chance.sample(self.mine, 2)
        return self.drawn_from(
            "link", self.bank.link(one, other, "follows", weight=self.chance.random()).id, one, other
        )

    def fact(self) -> list[Thing]:
        about, source = self.chance.choice(WORDS), self.some()
        self.made += 1
        return self.drawn_from(
            "fact", self.bank.facts.add(about, "seen_at", f"lake {self.made}", memory=source).id, source
        )

    def drawn_from(self, what: str, id: str, *sources: str) -> list[Thing]:
        self.drawn[what, id] = set(sources)
        return [(what, id)]

    def note(self) -> list[Thing]:
        return [("note", self.bank.scratchpad.write(self.text()).id)]

    def undo(self) -> list[Thing]:
        made = self.bank.remember(self.text())
        seq = next(change.seq for change in reversed(self.bank.changes()) if made.id in change.ids)
        self.bank.undo(seq)
        return [("memory", made.id)]
