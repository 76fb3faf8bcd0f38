"""A process that files into a palace and searches it, and prints each acknowledged drawer."""

import sys
from pathlib import Path
from typing import Any

from pieria.toolsets import Banks, Host, Paths, called, registry
from pieria.workspace import Workspace


def main(data: str, who: str, number: str) -> None:
    with Workspace(data, {"embedder": "hashing"}) as workspace:
        host = Host(Banks(workspace, who), "home", None, Paths(Path(data), ()))

        def ask(tool: str, **arguments: Any) -> Any:
            reply = called(registry(), f"mempalace_{tool}", {"wing": who, **arguments}, host)
            assert reply.error is None, reply.text
            return reply.value

        for one in range(int(number)):
            content = f"Crate {one} of {who} holds {one * 7} kestrels."
            id = ask("add_drawer", room=f"r{one % 3}", content=content)["drawer_id"]
            # A filed drawer is found at once, with any other writer; by words, as its vector may be pending.
            assert id in [hit["drawer_id"] for hit in ask("search", query=f'"{content}"', limit=3)["results"]]
            assert sum(ask("list_rooms")["rooms"].values()) == one + 1
            sys.stdout.write(f"{id}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
