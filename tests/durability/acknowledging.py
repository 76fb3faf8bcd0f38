"""A process that calls each writing verb in turn and prints when the verb begins and when it is acknowledged.

The tests run it under strace, which shows its output and its syncs in one order: `python -m … FOLDER SETTING`.
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
    """Return every writing verb, since each could reach the disk in its own way."""
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
