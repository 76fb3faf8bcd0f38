"""Banks that the calls of `cases.toml` need before them."""

from tests.toolsets.outcome import Run, Step


def kept(run: Run) -> None:
    """Write drawers with known ids, of different days and sources."""
    values = [
        ("one", "api", "decisions", "We chose JWT for all new APIs.", "2026-01-01", "decision"),
        ("two", "api", "backend", "The JWT service runs on port 8080.", "2026-02-01", "fact"),
        ("three", "web", "decisions", "Maya likes JWT in cookies.", "2026-02-20", "preference"),
    ]
    for id, wing, room, text, at, type in values:
        run.host.bank.remember(
            text, id=id, kind="drawer", place=f"{wing}/{room}", at=at, body={"type": type},
            source=str(run.folder / f"{id}.md"), entities=["JWT"],
        )  # fmt: skip


def tied(run: Run) -> None:
    kept(run)
    run.steps([tunnel("api", "decisions", "web", "decisions"), tunnel("api", "backend", "web", "decisions")])


def tunnel(*ends: str) -> Step:
    names = ("source_wing", "source_room", "target_wing", "target_room")
    return "mempalace_create_tunnel", dict(zip(names, ends, strict=True))


def dated(run: Run) -> None:
    facts = run.host.bank.facts
    facts.add("Maya", "lives_in", "Berlin", valid_from="2020-01-01", valid_until="2021-01-01")
    facts.add("Maya", "lives_in", "Porto", valid_from="2022-01-01")
    facts.add("Omar", "knows", "Maya", valid_from="2023-01-01")


def saved(run: Run) -> None:
    run.host.bank.hooks.checkpoint(15)


def one_file(run: Run) -> None:
    kept(run)
    (run.folder / "two.md").touch()
    (run.folder / "sub").mkdir()
    run.host.bank.remember("Gone.", id="four", kind="drawer", place="web/old", source=str(run.folder / "sub" / "x.md"))


def diaries(run: Run) -> None:
    for name in ("Tester", "Tester", "Helper"):
        run.steps([("mempalace_diary_write", {"agent_name": name, "entry": f"{name} wrote at {run.clock.now}."})])
        run.clock.move(hours=1)
