"""The tools that ask for facts and state them."""

from __future__ import annotations

from pieria.bank.read.times import moments
from pieria.errors import InputError
from pieria.toolsets.call import Spoken
from pieria.toolsets.host import Call
from pieria.toolsets.pieria.words import change_that_made, done, sentence, triple

MOST = 100
"""How many facts a reply lists, the last ones; `left_out` says that there are more."""


def facts(
    call: Call,
    about: str,
    predicate: str | None = None,
    when: str | None = None,
    as_of: str | None = None,
    history: bool = False,
) -> Spoken:
    times = moments(call.bank.core, when=when, as_of=as_of)
    found = call.bank.facts.query(
        entity=about,
        predicate=predicate,
        valid_at=times["when"],
        known_at=times["as_of"],
        history=history,
        limit=MOST + 1,
    )
    shown = found[-MOST:]
    told: dict[str, object] = {"facts": [triple(fact) for fact in shown]}
    said = [sentence(fact) for fact in shown] or [f"No fact is known about {about}."]
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
    replaces: bool = False,
) -> Spoken:
    if replaces and valid_until is not None:
        raise InputError("valid_until", "only a beginning together with replaces", valid_until, hint="Leave one out.")
    bank = call.bank
    before = max((change.seq for change in bank.changes(last=1)), default=0)
    if replaces:
        fact = bank.facts.supersede(subject, predicate, object, at=valid_from)
    else:
        fact = bank.facts.add(subject, predicate, object, valid_from=valid_from, valid_until=valid_until)
    if not bank.changes(before, of=fact.id):
        return done(f"Known already: {sentence(fact)}. Nothing was changed.", id=fact.id, known=True)
    return done(f"Stated: {sentence(fact)}.", id=fact.id, change=change_that_made(bank, fact))
