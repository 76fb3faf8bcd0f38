"""Recall shows a reader only what they may see, with every arm and after any history.

The histories are those of the bank's machine, with vectors, conversations and standing rules. The oracle says who
sees what. Other tests check that hidden text does not affect the scores of visible hits, for example by its meaning.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule
from tests.bank.resting import rested
from tests.properties.bank_life import QUICK
from tests.properties.bank_ties import Ties
from tests.properties.bank_values import (
    ALICE,
    BOB,
    EVERYBODY,
    WORDS,
    channels,
    conditions,
    instants,
    maybe_period,
    readers,
    sessions,
    spelt,
    words,
)
from tests.properties.oracle_rules import ROUTING, Reader

import pieria
from pieria.bank import Bank
from pieria.bank.embedding.queue import Embedding
from pieria.recall.arms import ARMS
from pieria.recall.features import OWN_SHARE, RISE, WINDOW_SHARES
from pieria.recall.scores import POLICIES, WEIGHTS
from pieria.record.changeset import FOREVER
from pieria.record.filter import Filter, Viewer
from pieria.record.memory import ENDINGS, STATEMENT, VISIBLE_STATUSES
from pieria.record.time import micros, moment
from pieria.store.sqlite import SQLiteStore

pytestmark = pytest.mark.timeout(900)

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
        st.sampled_from(SAID), words, words, st.sampled_from(["maya", "ola"]),
        st.sampled_from(["bank", "bank", "session"]), st.sampled_from(["human", "agent"]),
        st.none() | channels, maybe_period,
    ),
    min_size=1, max_size=4,
)  # fmt: skip
filters = conditions.map(
    lambda asked: {name: value for name, value in asked.items() if name not in NOT_ASKED}
)  # fmt: skip


def weights_of(arm: str | None) -> dict[str, float] | None:
    """Return weights that switch on all features of one arm, so that everything it brings is shown."""
    return None if arm is None else {name: float(name in ARMS[arm].features) for name in WEIGHTS}


class Leaks(Ties):
    """Random histories with every arm. Usage counting is off, because its timing is random."""

    def __init__(self) -> None:
        self.unnoted = patch("pieria.bank.read.recall._note")
        self.unnoted.start()
        super().__init__()

    def open_handles(self) -> None:
        for reader in (ALICE, BOB):
            self.handles[reader] = pieria.open(
                "bank",
                data=self.folder,
                session=reader.session,
                channel=reader.channel,
                author=reader.author,
                author_type=reader.author_type,
                via=reader.via,
                clock=lambda: self.clock,
                settings={**QUICK, "secrets": "redact" if reader.redacts else "flag", "embedder": "hashing"},
            )

    def state_of_the_files(self) -> tuple[Any, ...]:
        """Return the state of the record. Embedding may change the file at any time, the record may not change."""
        return super().state_of_the_files()[1:]

    @rule(reader=readers, said=turns, session=sessions)
    def talk(self, reader: Reader, said: list[dict[str, Any]], session: str) -> None:
        given = [{**turn, "session": session} for turn in said]
        self.agree(
            lambda: self.handles[reader].remember_many([spelt(each) for each in given]),
            lambda made: self.keep(reader, given, made),
        )

    @precondition(lambda self: self.ours.memories)
    @rule(
        reader=readers, question=questions, asked=st.one_of(st.just({}), filters), at=st.none() | st.integers(0, 200),
        arm=st.sampled_from([None, *ARMS]), k=st.sampled_from([3, 10_000]),
    )  # fmt: skip
    def ask(
        self, reader: Reader, question: str, asked: dict[str, Any], at: int | None, arm: str | None, k: int
    ) -> None:
        """Check that every page holds only what the oracle shows this reader."""
        self.check(reader, question, asked, at, k, weights=weights_of(arm))

    @precondition(lambda self: self.ours.memories)
    @rule(
        reader=readers, question=questions, asked=st.one_of(st.just({}), filters), at=st.none() | st.integers(0, 200),
        policy=st.sampled_from(sorted(POLICIES)),
    )  # fmt: skip
    def ask_by_a_policy(
        self, reader: Reader, question: str, asked: dict[str, Any], at: int | None, policy: str
    ) -> None:
        self.check(reader, question, asked, at, 5, policy=policy)

    @rule(reader=readers, question=questions, asked=st.one_of(st.just({}), filters), at=st.none() | st.integers(0, 200))
    def ask_for_everything(self, reader: Reader, question: str, asked: dict[str, Any], at: int | None) -> None:
        """Check that the dense arm finds everything visible, since everything visible has a vector."""
        found, expected = self.check(reader, question, asked, at, 10_000, weights=weights_of("dense"))
        assert found == expected

    def check(
        self, reader: Reader, question: str, asked: dict[str, Any], at: int | None, k: int, **ranking: Any
    ) -> tuple[set[Any], set[Any]]:
        known = None if at is None else self.a_moment(at)
        expected = {
            (oracle.name, id, stretch.values["version"])
            for oracle in (self.ours, self.mine)
            for id, stretch in oracle.visible(reader, known, **asked).items()
            if "kinds" in asked or stretch.values["kind"] not in ROUTING
        }
        given: dict[str, Any] = {name: moment(value) if name in TIMES else value for name, value in asked.items()}
        given["known_at"] = None if known is None else moment(known)
        self.embed_all()
        page = self.handles[reader].recall(question, k=k, **given, **ranking)
        found = [*page]
        while page.cursor is not None:
            page = self.handles[reader].recall(question, k=k, cursor=page.cursor, **given, **ranking)
            found += page
        self.check_statements({hit.memory.id for hit in found if hit.memory.kind == STATEMENT}, known)
        found = [hit for hit in found if hit.memory.kind != STATEMENT]
        banks = {"user": self.mine.name}
        shown = [(banks.get(hit.memory.scope, self.ours.name), hit.memory.id, hit.memory.version) for hit in found]
        assert len(set(shown)) == len(shown)
        assert set(shown) <= expected
        return set(shown), expected

    def check_statements(self, ids: set[str], known: int | None) -> None:
        """Check that statements of facts are shown only while the fact is current."""
        facts = {**self.ours.facts, **self.mine.facts}
        for id in ids:
            stretches = [stretch for stretch in facts[id] if known is None or stretch.begin <= known]
            assert stretches[-1].values["ended"] == "" and stretches[-1].values["memory"] is None

    @rule(
        reader=st.sampled_from(EVERYBODY), status=st.sampled_from([VISIBLE_STATUSES, ("active",), ("archived",), None]),
        valid_at=st.none() | instants, at=st.none() | st.integers(0, 200), endings=st.sampled_from([("",), ENDINGS]),
        embedded=st.booleans(),
    )  # fmt: skip
    def look_into_windows(
        self, reader: Reader, status: Any, valid_at: int | None, at: int | None, endings: Any, embedded: bool
    ) -> None:
        """Check that a reader who sees a turn sees every member of its window, before and after embedding."""
        known = None if at is None else self.a_moment(at)
        viewer = Viewer(reader.session, reader.channel)
        filter = Filter(micros(self.clock), viewer, status=status, valid_at=valid_at, known_at=known, endings=endings)
        if embedded:
            self.embed_all()
        for _, bank in self.banks():
            assert isinstance(bank.core.store, SQLiteStore)
            with bank.core.store.looking() as connection, bank.core.store.reading() as looking:
                held = connection.execute(MEMBERS, (FOREVER if known is None else known,)).fetchall()
                seen = looking.outlines(sorted({row for pair in held for row in pair}), filter)
            assert all(member in seen for row, member in held if row in seen)

    def embed_all(self) -> None:
        for _, bank in self.banks():
            assert bank.sync(60)

    def teardown(self) -> None:
        self.unnoted.stop()
        self.close()


EXAMPLES = 10 if settings.default is None else max(1, settings.default.max_examples // 3)


class TestLeaks(Leaks.TestCase):  # type: ignore[misc,valid-type]
    """Short histories, for every run."""

    settings = settings(max_examples=EXAMPLES, stateful_step_count=40)


@pytest.mark.slow
@pytest.mark.timeout(3_600)
class TestLeaksForLong(Leaks.TestCase):  # type: ignore[misc,valid-type]
    """Long histories. The nightly profile also makes them many."""

    settings = settings(max_examples=max(1, EXAMPLES // 4), stateful_step_count=80)


# --- hidden text does not affect visible hits


MEANT = ("dense", "window", "rule_fit", "wish_fit")
SECRET = "The avocet is a physician, a doctor among avocets."
QUESTION = "which avocet is a doctor"


class Hands:
    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[..., Bank]]:
    clock = Hands()
    with pieria.Workspace(data=tmp_path, settings=QUICK, clock=clock, embedder="hashing") as workspace:
        yield workspace.open


def talk(bank: Bank, middle: str | None, **values: Any) -> None:
    """Remember four turns, or three if the one in the middle is None."""
    texts = ("The heron nests.", middle, "And the stork?", "Well.")
    bank.remember_many(
        [
            {"id": f"t{n}", "text": text, "kind": "turn", "session": "s", "sequence": n, **(values if n == 1 else {})}
            for n, text in enumerate(texts)
            if text is not None
        ]
    )


def meant(bank: Bank, **asked: Any) -> dict[str, dict[str, float]]:
    """Return each hit's reasons by meaning. Word frequencies of the whole bank are no secret."""
    found = bank.recall(QUESTION, k=50, **asked)
    return {hit.memory.id: {name: value for name, value in hit.why.items() if name in MEANT} for hit in found}


def guessed(shown: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Return the expected window score of each turn, from the dense scores of the visible turns alone."""
    turns = sorted(shown)
    found = {}
    for place, id in enumerate(turns):
        beside = [
            (WINDOW_SHARES[abs(place - other)], shown[turns[other]].get("dense", 0.0))
            for other in range(len(turns))
            if abs(place - other) in WINDOW_SHARES
        ]
        shares = OWN_SHARE + sum(share for share, _ in beside)
        near = OWN_SHARE * shown[id].get("dense", 0.0) + sum(share * dense for share, dense in beside)
        found[id] = near / shares * (1 + RISE)
    return found


def check_lends_nothing(bank: Bank, opened: Callable[..., Bank], name: str = "without", **asked: Any) -> None:
    without = opened(name)
    talk(without, None)
    assert without.sync(20)
    expected = meant(without)
    shown = meant(bank, **asked)
    assert "t1" not in shown
    assert shown.keys() == expected.keys() == {"t0", "t2", "t3"}
    for id, reasons in shown.items():
        assert reasons == pytest.approx(expected[id], abs=1e-6), id


HIDING: Mapping[str, Callable[[Bank], object]] = {
    "removed": lambda bank: bank.remove("t1"),
    "purged": lambda bank: bank.purge("t1"),
    "a session's own": lambda bank: bank.update("t1", scope="session"),
    "archived": lambda bank: bank.update("t1", status="archived"),
    "invalid": lambda bank: bank.invalidate("t1"),
    "not yet valid": lambda bank: bank.update("t1", valid_from="2026-06-01"),
}


@pytest.mark.parametrize("hiding", HIDING)
def test_what_is_hidden_lends_its_meaning_to_nobody(opened: Callable[..., Bank], hiding: str) -> None:
    bank = opened("notes")
    talk(bank, SECRET)
    assert bank.sync(20)
    with_it = meant(bank)
    assert with_it["t0"]["window"] > 2 * with_it["t0"]["dense"]
    HIDING[hiding](bank)
    assert bank.sync(20)
    check_lends_nothing(bank, opened)


@pytest.mark.parametrize("hiding", HIDING)
def test_what_was_hidden_a_moment_ago_lends_nothing_either(
    opened: Callable[..., Bank], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hiding: str
) -> None:
    """Hide from a process without an embedder, and keep this one from updating the vectors."""
    bank = opened("notes")
    talk(bank, SECRET)
    assert bank.sync(20)
    rested()
    with pieria.open("notes", data=tmp_path, settings={**QUICK, "embedder": "none"}, clock=bank.clock) as other:
        HIDING[hiding](other)
    monkeypatch.setattr(bank.core.embedding, "catch_up", lambda most, seconds: None)
    pending = bank.stats().pending
    shown = meant(bank)
    assert pending == bank.stats().pending != {}
    assert shown.keys() == {"t0", "t2", "t3"}
    # A turn without a window gets a score from itself and its visible neighbours.
    assert {id: reasons["window"] for id, reasons in shown.items()} == pytest.approx(guessed(shown))


def test_what_a_session_said_to_itself_lends_nothing(opened: Callable[..., Bank]) -> None:
    bank = opened("notes")
    talk(opened("notes", session="s"), SECRET, scope="session")
    assert bank.sync(20)
    assert "t1" in meant(opened("notes", session="s"))
    check_lends_nothing(bank, opened)


def test_what_another_channel_was_told_in_the_session_lends_nothing(opened: Callable[..., Bank]) -> None:
    bank = opened("notes", session="s", channel="one")
    texts = ("The heron nests.", SECRET, "And the stork?", "Well.")
    bank.remember_many(
        [
            {"id": f"t{n}", "text": text, "kind": "turn", "scope": "session", "sequence": n, "channel": channel}
            for n, (text, channel) in enumerate(zip(texts, ("one", "two", "one", "one"), strict=True))
        ]
    )
    assert bank.sync(20)
    assert "t1" in meant(bank)
    check_lends_nothing(opened("notes", session="another", channel="one"), opened)


def test_what_holds_no_more_as_time_goes_by_lends_nothing(opened: Callable[..., Bank]) -> None:
    """Expiry writes nothing, so windows of lasting turns must never have held a turn that expires."""
    bank = opened("notes")
    talk(bank, SECRET, valid_until="2026-03-05")
    assert bank.sync(20)
    assert "t1" in meant(bank)
    check_lends_nothing(bank, opened, valid_at="2026-04-01")
    check_lends_nothing(bank, opened, "another", valid_at="2026-04-01", status=("active", "promoted", "archived"))


def test_what_was_said_within_a_session_stays_there_when_one_turn_of_it_is_shared(opened: Callable[..., Bank]) -> None:
    """Check that the old window of the shared turn, made of private turns, is not used."""
    within = opened("notes", session="s")
    texts = ("The heron nests.", SECRET, "And the stork?", "Well.")
    within.remember_many(
        [
            {"id": f"t{n}", "text": text, "kind": "turn", "scope": "session", "sequence": n}
            for n, text in enumerate(texts)
        ]
    )
    assert within.sync(20)
    with patch.object(Embedding, "catch_up", lambda *_: None), patch.object(Embedding, "step", lambda _: None):
        within.update("t0", scope="bank")
        shown = meant(opened("notes"))
    assert shown.keys() == {"t0"}
    assert shown["t0"].get("window", 0.0) == shown["t0"].get("dense", 0.0)


def test_a_window_tells_nothing_of_what_came_later(opened: Callable[..., Bank]) -> None:
    bank = opened("notes")
    talk(bank, None)
    assert bank.sync(20)
    before = meant(bank)
    known = moment(max(micros(memory.known_from) for memory in bank.list()))
    bank.remember(SECRET, id="t1", kind="turn", session="s", sequence=1)
    assert bank.sync(20)
    now = meant(bank)
    assert now["t0"]["window"] > 2 * before["t0"]["window"]
    then = meant(bank, known_at=known)
    assert then.keys() == before.keys()
    alone = guessed(then)
    for id, reasons in then.items():
        # If the old window was replaced, the score comes from the turns known at that time.
        assert reasons["dense"] == pytest.approx(before[id]["dense"], abs=1e-6)
        assert any(reasons["window"] == pytest.approx(value, abs=1e-6) for value in (before[id]["window"], alone[id]))
    by_window = bank.recall(QUESTION, known_at=known, weights=weights_of("window"))
    assert not any(hit.why.get("window", 0.0) > 0.1 for hit in by_window)


def test_words_are_lent_by_nobody_who_is_hidden(opened: Callable[..., Bank]) -> None:
    """Check that a hidden turn does not raise the lexical scores of its neighbours."""
    bank = opened("notes")
    talk(opened("notes", session="s"), SECRET, scope="session")
    for question in (QUESTION, *WORDS):
        found = bank.recall(question, weights=weights_of("text"))
        assert not any("lexical" in hit.why for hit in found if "avocet" in question)
    assert len(bank.recall(QUESTION, weights={"dense": 0, "window": 0})) == 0
