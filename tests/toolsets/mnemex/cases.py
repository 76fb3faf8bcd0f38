"""Banks that the calls of `cases.toml` need before them."""

from tests.toolsets.outcome import Run

from pieria.toolsets import Banks
from pieria.workspace import Workspace

DEPLOYS = ("The deploy runs every Friday at noon.", "The deploy runs every Friday at noon!", "Deploys run on Fridays.")


def remembered(run: Run) -> None:
    """Write memories by id, with several ages, uses, tags and statuses, and one that another relates to."""
    bank = run.host.bank
    bank.remember("Kestrels nested on the old tower.", id="old", tags=["birds"])
    run.clock.move(days=9)
    bank.remember("Kestrels hunt by the mill.", id="used", tags=["birds", "mill"], entities=["Kestrel"])
    bank.remember("Kestrels were counted in May.", id="away", tags=["birds"], source="census")
    bank.update("away", status="archived")
    run.clock.move(days=2)
    bank.touch("used", accesses=6)
    bank.remember("Kestrels eat voles.", id="new", tags=["food"], context="a walk", meta={"a": 1}, title="Food")
    bank.remember("Tea is in the kitchen.", id="tea", entities=["Kestrel"])
    bank.remember("Kestrels rest at night.", id="kept")
    bank.update("kept", status="promoted")
    bank.link("new", "used", "supports", weight=0.5)
    run.clock.move(hours=1)


def worn(run: Run) -> None:
    """Write twelve faded memories and a fresh one."""
    run.host.bank.remember_many([{"text": f"Passing thought {n}.", "id": f"m{n:02}"} for n in range(12)])
    run.clock.move(days=60)
    run.host.bank.remember("Not yet.", id="fresh")


def proven(run: Run) -> None:
    """Write two memories with enough uses and one without, and a vault to promote them to."""
    vault = run.folder / "vault"
    vault.mkdir()
    run.host.banks.close()
    run.workspace = Workspace(run.folder / "data", {"vault": str(vault)}, clock=run.clock)
    run.host = run.host.having(banks=Banks(run.workspace, "test"))
    run.host.bank.remember("We chose JWT.", id="jwt")
    run.host.bank.remember("We chose SQLite.", id="sqlite")
    run.host.bank.remember("We saw a bird.", id="bird")
    run.host.bank.touch(["jwt", "sqlite"], accesses=6)
    run.clock.move(days=2)


def deploys(run: Run) -> None:
    for number, text in enumerate(DEPLOYS):
        run.host.bank.remember(text, id=f"d{number}", tags=["deploy"], entities=["CI"], source="Maya", context="ops")
        run.clock.move(minutes=1)
    run.host.bank.remember("Tea.", id="tea", tags=["deploy", "tea"])
    for number in range(2):
        run.host.bank.remember("Kestrels nest on the tower.", id=f"k{number}", tags=["birds"])
