"""A process that does one verb after the other and says on its standard output when each begins and is acknowledged.

It is run under strace, which sees what it says and what it waits for in one order: `python -m … FOLDER SETTING`.
"""

import os
import sys
from collections.abc import Callable

import pieria
from pieria.bank import Bank

SAID = 1


def say(word: str) -> None:
    os.write(SAID, f"<{word}>\n".encode())


def verbs(bank: Bank) -> dict[str, Callable[[], object]]:
    """Each writing verb, so that none is acknowledged by another way to the disk."""
    one, other = "one", "other"
    return {
        "remember": lambda: bank.remember("first", id=one),
        "remember_many": lambda: bank.remember_many([{"text": "second", "id": other}, {"text": "third", "id": "3"}]),
        "update": lambda: bank.update(one, text="first again"),
        "pin": lambda: bank.pin(one),
        "touch": lambda: bank.touch(one),
        "link": lambda: bank.link(one, other),
        "unlink": lambda: bank.unlink(one, other),
        "fact": lambda: bank.facts.add("a", "is", "b"),
        "note": lambda: bank.scratchpad.write("a note"),
        "revise": lambda: bank.revise(other, text="second again"),
        "invalidate": lambda: bank.invalidate(one),
        "remove": lambda: bank.remove(one),
        "restore": lambda: bank.restore(one),
        "undo": lambda: bank.undo(bank.changes()[-1].seq),
        "purge": lambda: bank.purge("3"),
        "user": lambda: bank.remember("about the user", scope="user"),
    }


def main(folder: str, durability: str) -> None:
    with pieria.open("traced", data=folder, settings={"durability": durability}) as bank:
        for name, verb in verbs(bank).items():
            say(f"begin {name}")
            verb()
            say(f"acknowledged {name}")
        say("closing")


if __name__ == "__main__":
    main(*sys.argv[1:])
