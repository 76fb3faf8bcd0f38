"""The tools that ask for facts and state them."""

from __future__ import annotations

from typing import Any

from pieria.bank.read.times import fact_times
from pieria.toolsets.call import Spoken
from pieria.toolsets.host import Call
from pieria.toolsets.pieria.words import change_that_made, done, sentence, triple

MOST = 100
"""How many facts a reply lists, the last ones; `left_out` says that there are more."""
TITLES = {"closed": "It made room", "conflicts": "It contradicts"}


def facts(
    call: Call,
    about: str,
    predicate: str | None = None,
    when: str | None = None,
    as_of: str | None = None,
    history: bool = False,
) -> Spoken:
    times = fact_times(call.bank.core, when=when, as_of=as_of)
    found = call.bank.facts.query(
        entity=about,
        predicate=predicate,
        valid_at=times["when"],
        known_at=times["as_of"],
        history=history,
        limit=MOST + 1,
    )
    shown, zone = found[-MOST:], call.bank.zone
    told: dict[str, object] = {"facts": [triple(fact, zone) for fact in shown]}
    said = [sentence(fact, zone) for fact in shown] or [f"No fact is known about {about}."]
    if len(found) > MOST:
        told["truncated"] = True
        said.append(f"These are the last {MOST}; ask for one predicate.")
    return Spoken(told, "\n".join(said))


def state_fact(
    call: Call,
    subject: str,
    predicate: str,
    object: str,
    valid_from: str | None = None,
    valid_until: str | None = None,
    supersede: bool = False,
) -> Spoken:
    bank = call.bank
    stated = bank.facts.state(
        subject, predicate, object, valid_from=valid_from, valid_until=valid_until, supersede=supersede
    )
    fact, zone = stated.fact, bank.zone
    told: dict[str, Any] = {"change": change_that_made(bank, fact)} if stated.is_new else {"known": True}
    said = "Stated: {}." if stated.is_new else "Known already: {}. Nothing was changed."
    lists = {"closed": stated.closed, "conflicts": stated.conflicts}
    more = [f"{TITLES[name]}: {sentence(held, zone)}." for name, facts in lists.items() for held in facts[:MOST]]
    told |= {name: [triple(held, zone) for held in facts[:MOST]] for name, facts in lists.items() if facts}
    return done("\n".join([said.format(sentence(fact, zone)), *more]), id=fact.id, **told)
