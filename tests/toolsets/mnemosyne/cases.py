"""Banks that the calls of `cases.toml` need before them."""

import json

from tests.toolsets.outcome import Run


def rested(run: Run) -> None:
    """Write three notes on one subject, then move the clock by days; the same in another bank."""
    for bank in ("notes", "other"):
        host = run.host.having(bank_name=bank)
        for number in range(3):
            text = f"The billing service answers invoice {number} of the billing team."
            host.bank.remember(text, entities=["billing"], importance=0.9 if number else 0.5)
    run.clock.move(days=3)


def another_bank(run: Run) -> None:
    run.host.having(bank_name="other").bank.remember("Elsewhere.", source="letter")


def files(run: Run) -> None:
    """Write exports of the original, for import."""
    for name, content in (("one", "First."), ("two", "Second.")):
        row = {"id": name, "content": content, "timestamp": "2026-01-01T10:00:00", "scope": "global"}
        document = {"mnemosyne_export": {"version": "1.3"}, "working_memory": [row]}
        (run.folder / f"{name}.json").write_text(json.dumps(document))


def dated(run: Run) -> None:
    run.host.bank.facts.add("Maya", "lives_in", "Berlin", valid_from="2020-01-01", valid_until="2021-01-01")
    run.host.bank.facts.add("Maya", "lives_in", "Porto", valid_from="2022-01-01")


def three(run: Run) -> None:
    for id, text in (("one", "First."), ("two", "Second."), ("three", "Third.")):
        run.host.bank.remember(text, id=id)
