"""Banks that the calls of `cases.toml` need before them."""

from typing import Any

from tests.toolsets.outcome import Run


def several(run: Run) -> None:
    """Write four observations by id, in two sessions; one of them revised, one removed."""
    for id in ("one", "two", "three", "four"):
        values: dict[str, Any] = {"id": id, "title": f"Title {id}", "kind": "observation", "body": {"type": "decision"}}
        bank = run.host.having(session="sunday" if id == "one" else "monday").bank
        bank.remember(f"SQLite keeps part {id} of the cache.", **values)
        run.clock.move(minutes=1)
    run.host.bank.revise("one", text="SQLite keeps all of the cache.", reason="measured")
    run.host.bank.remove("four", reason="wrong")
    run.clock.move(minutes=1)
    for session in ("sunday", "monday"):
        run.host.bank.upkeep.summarize(session)


def blocks(run: Run) -> None:
    """Write a file with a user's words beside a block, and one with only a block."""
    several(run)
    block = "<!-- open-mem-context -->\nold\n<!-- /open-mem-context -->\n"
    (run.folder / "AGENTS.md").write_text(f"# Ours\n\n{block}")
    (run.folder / "src").mkdir()
    (run.folder / "src" / "AGENTS.md").write_text(block)
