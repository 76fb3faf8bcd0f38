"""A process that files into a palace and searches it, and prints each acknowledged drawer."""

import sys
from pathlib import Path

from pieria.toolsets import Banks, Host, Paths, called, registry
from pieria.workspace import Workspace


def main(data: str, who: str, number: str) -> None:
    with Workspace(data, {"embedder": "hashing"}) as workspace:
        host = Host(Banks(workspace, who), "home", None, Paths(Path(data), ()))
        for one in range(int(number)):
            content = f"Crate {one} of {who} holds {one * 7} kestrels."
            arguments = {"wing": who, "room": f"r{one % 3}", "content": content}
            filed = called(registry(), "mempalace_add_drawer", arguments, host)
            assert filed.error is None, filed.text
            # A filed drawer is found at once, with any other writer; by words, as its vector may be pending.
            asked = {"query": f'"{content}"', "wing": who, "limit": 3}
            found = called(registry(), "mempalace_search", asked, host)
            assert filed.value["drawer_id"] in [hit["drawer_id"] for hit in found.value["results"]], found.text
            counted = called(registry(), "mempalace_list_rooms", {"wing": who}, host).value["rooms"]
            assert sum(counted.values()) == one + 1, counted
            sys.stdout.write(filed.value["drawer_id"] + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
