"""Recall shows readers only what the oracle lets them see, with every arm and after any history of a bank."""

from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule
from tests.properties import bank_values as drawn
from tests.properties.bank_values import BOB, EVERYBODY, conditions, instants, readers, sessions, spelt, words
from tests.properties.bank_verbs import Verbs
from tests.properties.oracle_rules import ROUTING, Reader

from pieria.recall.arms import ARMS
from pieria.recall.scores import POLICIES
from pieria.record.changeset import FOREVER
from pieria.record.filter import Filter, Viewer
from pieria.record.memory import ENDINGS, VISIBLE_STATUSES
from pieria.record.time import moment
from pieria.store.sqlite import SQLiteStore

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

EXAMPLES = 60  # histories of half a second each
TIMES = ("since", "until", "valid_at")
NOT_ASKED = ("pinned", "include")
FORMS = (
    "{0} {1}", "what did Maya say about the {0}", "when did the {0} come", "Write me a letter about the {0}.",
    "Give me a summary of everything about the {0}", "the {0} yesterday", "{2} eats {3}",
    "what about {2} and {3}", "🦩",
)  # fmt: skip
SAID = ("{0} and {1}.", "Where is the {0}?", "Yes.", "Always ask the {0} before you write a letter.", "I prefer {0}.")
questions = st.builds(
    lambda form, one, other: form.format(one, other, one.title(), other.title()), st.sampled_from(FORMS), words, words
)
MEMBERS = "SELECT v.row, m.row FROM vector v JOIN member m ON m.entry = v.entry WHERE v.known_from <= ?"
turns = st.lists(
    st.builds(
        lambda form, one, other, author, scope, author_type, channel, period: {
            "text": form.format(one, other), "kind": "turn", "author": author, "scope": scope,
            "author_type": author_type, **({} if channel is None else {"channel": channel}),
            **{name: value for name, value in period.items() if value is not None},
        },
        st.sampled_from(SAID), words, words, drawn.authors,
        st.sampled_from(["bank", "bank", "session"]), st.sampled_from(["human", "agent"]),
        st.none() | drawn.channels, drawn.maybe_period,
    ),
    min_size=1, max_size=4,
)  # fmt: skip
filters = st.one_of(
    st.just(dict[str, Any]()),
    conditions.map(lambda asked: {name: value for name, value in asked.items() if name not in NOT_ASKED}),
)
some_moment = st.none() | st.integers(0, 200)
rankings = st.one_of(
    st.sampled_from([None, *ARMS]).map(lambda arm: {"weights": drawn.weights_of(arm)}),
    st.sampled_from(sorted(POLICIES)).map(lambda policy: {"policy": policy}),
)


class Leaks(Verbs):
    """Random histories with every arm. Usage counting is off, because its timing is random."""

    embedder = "hashing"

    def __init__(self) -> None:
        self.unnoted = patch("pieria.bank.read.recall._note")
        self.unnoted.start()
        super().__init__()

    def state_of_the_file(self) -> tuple[Any, ...]:
        """Return the state of the record. Embedding may change the file at any time, the record may not change."""
        return super().state_of_the_file()[1:]

    @rule(said=turns, session=sessions)
    def talk(self, said: list[dict[str, Any]], session: str) -> None:
        given = [{**turn, "session": session} for turn in said]
        self.agree(
            lambda: self.handles[BOB].remember_many([spelt(each) for each in given]),
            lambda made: self.keep(BOB, given, made),
        )

    @precondition(lambda self: self.oracle.memories)
    @rule(
        reader=readers, question=questions, asked=filters, at=some_moment, ranking=rankings,
        k=st.sampled_from([3, 10_000]),
    )  # fmt: skip
    def ask(
        self, reader: Reader, question: str, asked: dict[str, Any], at: int | None, ranking: dict[str, Any], k: int
    ) -> None:
        """Check that every page holds only what the oracle shows this reader."""
        found, expected = self.answers(reader, question, asked, at, k, **ranking)
        assert len(set(found)) == len(found)
        assert set(found) <= expected

    @rule(reader=readers, question=questions, asked=filters, at=some_moment)
    def ask_for_everything(self, reader: Reader, question: str, asked: dict[str, Any], at: int | None) -> None:
        """Check that the dense arm finds everything visible, since everything visible has a vector."""
        found, expected = self.answers(reader, question, asked, at, 10_000, weights=drawn.weights_of("dense"))
        assert set(found) == expected

    def answers(
        self, reader: Reader, question: str, asked: dict[str, Any], at: int | None, k: int, **ranking: Any
    ) -> tuple[list[Any], set[Any]]:
        known = None if at is None else self.a_moment(at)
        expected = {
            (id, stretch.values["version"])
            for id, stretch in self.oracle.visible(reader, known, **asked).items()
            if "kinds" in asked or stretch.values["kind"] not in ROUTING
        }
        given: dict[str, Any] = {name: moment(value) if name in TIMES else value for name, value in asked.items()}
        given["known_at"] = None if known is None else moment(known)
        assert self.handles[reader].sync(60)
        page = self.handles[reader].recall(question, k=k, **given, **ranking)
        found = [*page]
        while page.cursor is not None:
            page = self.handles[reader].recall(question, k=k, cursor=page.cursor, **given, **ranking)
            found += page
        return [(hit.memory.id, hit.memory.version) for hit in found], expected

    @rule(
        reader=st.sampled_from(EVERYBODY), status=st.sampled_from([VISIBLE_STATUSES, ("active",), ("archived",), None]),
        valid_at=st.none() | instants, at=some_moment, endings=st.sampled_from([("",), ENDINGS]),
        embedded=st.booleans(),
    )  # fmt: skip
    def look_into_windows(
        self, reader: Reader, status: Any, valid_at: int | None, at: int | None, endings: Any, embedded: bool
    ) -> None:
        """Check that a reader who sees a turn sees every member of its window, before and after embedding."""
        known = None if at is None else self.a_moment(at)
        viewer = Viewer(reader.session, reader.channel)
        filter = Filter(self.now(), viewer, status=status, valid_at=valid_at, known_at=known, endings=endings)
        bank = self.handles[BOB]
        assert not embedded or bank.sync(60)
        assert isinstance(bank.core.store, SQLiteStore)
        with bank.core.store.looking() as connection, bank.core.store.reading() as looking:
            held = connection.execute(MEMBERS, (FOREVER if known is None else known,)).fetchall()
            seen = looking.outlines(sorted({row for pair in held for row in pair}), filter)
        assert all(member in seen for row, member in held if row in seen)

    def teardown(self) -> None:
        self.unnoted.stop()
        self.close()


class TestLeaks(Leaks.TestCase):  # type: ignore[misc,valid-type]
    settings = settings(max_examples=EXAMPLES, stateful_step_count=60)
