"""Strategies for random histories of a bank. Instants are whole microseconds; `spelt` converts them to text."""

from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st
from tests.properties.oracle_rules import Reader

from pieria.recall.arms import ARMS
from pieria.recall.scores import WEIGHTS
from pieria.record.time import iso, micros, moment

WORDS = ("heron", "stork", "crane", "egret", "bittern", "avocet")
ODD = ("日本", "👩‍👩‍👧", "ÉCOLE", 'quo"ted', "back\\slash", "\u202eturned\u202c", "e\u0301", "{}", "\x01")
"""Words that an export must not change."""
START = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = 3_600_000_000
KINDS = ("note", "note", "observation", "diary", "tag")
GIVEN_IDS = ("id", "id@1", "id@2", "Ein Id", "ид-5")
EVERYTHING: dict[str, Any] = {"include": ["removed", "revised", "invalid", "archived"]}
ALICE, BOB = Reader(), Reader("s1", "c1", "ola", "agent")
EVERYBODY = [Reader(session, channel) for session in (None, "s1", "s2", "s3") for channel in (None, "c1", "c2")]

words = st.sampled_from(WORDS)
plain = st.lists(words, min_size=1, max_size=4).map(" ".join)
texts = st.one_of(plain, plain, st.tuples(plain, st.sampled_from(ODD)).map(" ".join))
instants = st.integers(-48, 48).map(lambda hours: micros(START) + hours * HOUR)
reasons = st.none() | st.sampled_from(["because", "after all"])
readers = st.sampled_from([ALICE, BOB])
sessions, channels = st.sampled_from(["s1", "s2"]), st.sampled_from(["c1", "c2"])
authors, author_types = st.sampled_from(["maya", "ola"]), st.sampled_from(["human", "agent", "system"])
files = words.map("src/{}.py".format)
body_types = st.sampled_from(["bugfix", "feature"])
numbers = st.integers(0, 3)

contents: dict[str, st.SearchStrategy[Any]] = {
    "text": texts,
    "title": st.none() | texts,
    "tags": st.lists(words, max_size=2, unique=True),
    "entities": st.lists(words.map(str.title), max_size=2, unique=True),
    "files": st.lists(files, max_size=1),
    "body": st.fixed_dictionaries({}, optional={"type": body_types, "subtitle": plain}),
    "context": st.none() | texts,
    "meta": st.fixed_dictionaries({}, optional={"n": numbers, "list": st.lists(st.booleans(), max_size=2)}),
}
judgements: dict[str, st.SearchStrategy[Any]] = {
    "importance": st.sampled_from([0.0, 0.25, 0.5, 1.0]),
    "confidence": st.none() | st.sampled_from([0.0, 0.9]),
    "strength": st.sampled_from([0.0, 1.0, 2.0]),
    "place": st.sampled_from(["attic/birds", "attic/notes", "cellar/birds"]),
    "at": instants,
}
standings: dict[str, st.SearchStrategy[Any]] = {
    "scope": st.sampled_from(["session", "bank"]),
    "status": st.sampled_from(["active", "promoted", "archived"]),
    "tier": st.sampled_from(["working", "kept"]),
}
periods = st.tuples(st.none() | instants, st.none() | st.integers(1, 48)).map(
    lambda drawn: {"valid_from": drawn[0], "valid_until": drawn[1] and (drawn[0] or micros(START)) + drawn[1] * HOUR}
)
maybe_period = st.one_of(st.just(dict[str, Any]()), st.just(dict[str, Any]()), periods)
memories = st.builds(
    lambda fixed, more, period: {**fixed, **more, **{k: v for k, v in period.items() if v is not None}},
    st.fixed_dictionaries({"text": texts, "kind": st.sampled_from(KINDS)}),
    st.fixed_dictionaries(
        {},
        optional={
            **{name: values for name, values in contents.items() if name != "text"},
            **judgements,
            "scope": st.sampled_from(["session", "session", "bank"]), "session": sessions, "channel": channels,
            "author": authors, "author_type": author_types, "source": st.sampled_from(["mail", "chat"]),
            "sequence": st.integers(0, 9), "pinned": st.booleans(), "id": st.sampled_from(GIVEN_IDS),
            "unless_exists": st.sampled_from(["id", "text"]),
        },
    ),
    maybe_period,
)  # fmt: skip
updates = st.builds(
    lambda given, period: given | period,
    st.fixed_dictionaries({}, optional={**contents, **judgements, **standings}),
    maybe_period,
)
narrower = periods | st.just({"scope": "session"})
revisions = st.fixed_dictionaries(
    {},
    optional={
        **contents, **{name: judgements[name] for name in ("importance", "confidence", "at")},
        "author": authors, "author_type": author_types,
    },
)  # fmt: skip
conditions = st.fixed_dictionaries(
    {},
    optional={
        "kinds": st.sampled_from(KINDS), "types": body_types, "tags": words, "entities": words, "files": files,
        "author": authors, "author_type": author_types, "channel": channels,
        "session": sessions, "scope": st.sampled_from(["session", "bank"]), "source": st.sampled_from(["mail", "chat"]),
        "place": st.sampled_from(["attic", "cellar/birds", "*/birds"]), "meta": st.builds(lambda n: {"n": n}, numbers),
        "since": instants, "until": instants.map(lambda at: at + 97 * HOUR), "valid_at": instants,
        "status": st.sampled_from(["active", "promoted", "archived"]), "pinned": st.booleans(),
        "include": st.sampled_from([["removed"], ["revised", "archived"], ["invalid"]]),
    },
)  # fmt: skip


def spelt(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values as a caller writes them, with instants as ISO texts."""
    return {
        name: iso(moment(value)) if isinstance(value, int) and value > HOUR else value for name, value in values.items()
    }


def weights_of(arm: str | None) -> dict[str, float] | None:
    """Return weights that switch on all features of one arm, so that everything it brings is shown."""
    return None if arm is None else {name: float(name in ARMS[arm].features) for name in WEIGHTS}
