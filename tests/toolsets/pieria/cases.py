"""Banks that the calls of `cases.toml` need before them."""

from tests.toolsets.outcome import Run


def kestrels(run: Run) -> None:
    """Write memories of several ages and kinds, a corrected one, one that ended, and the user's own."""
    bank = run.host.bank
    bank.remember("Kestrels nested on the old tower.", id="old", tags=["birds"], at="2024-05-01")
    run.clock.move(days=9)
    bank.remember("Kestrels hunt by the mill.", id="mill", tags=["mill"], files=["mill.md"])
    bank.remember("Kestrels slept in the barn.", id="barn", valid_until="2026-01-01")
    bank.remember("A kestrel was seen today.", id="diary", kind="diary")
    bank.remember("Tests run before a deploy.", id="rule", pinned=True)
    bank.remember("Kestrels fly far.", id="mine", scope="user")
    run.clock.move(days=2)
    bank.update("mill", text="Kestrels hunt by the river.", reason="seen there")


def derived(run: Run) -> None:
    """Write a memory with a source, and one that was drawn from it."""
    kestrels(run)
    bank = run.host.bank
    bank.remember("A ranger counted nests.", id="report")
    for derived, source in (("mill", "report"), ("old", "mill")):
        bank.link(derived, source, "provenance")


def homes(run: Run) -> None:
    """State facts: one that ended, one that a later statement replaced, and others of the same person."""
    facts = run.host.bank.facts
    facts.declare("lives_in")
    facts.add("Maya", "lives_in", "Berlin", valid_from="2020-01-01", valid_until="2023-01-01")
    facts.add("Maya", "lives_in", "Paris", valid_from="2023-01-01")
    run.clock.move(days=5)
    facts.add("Maya", "works_on", "billing")
    facts.add("Maya", "speaks", "French")
