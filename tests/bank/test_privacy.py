"""Privacy and trust in the write path: texts that must not be kept, the trust of a kept text, and its readers.

tests/unit covers what a secret looks like. These tests check that every way into a bank is screened alike.
"""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import pieria
from pieria.bank import Bank
from pieria.errors import ConflictError, InputError, NotFoundError, PieriaError, PrivacyError

SECRET = "ghp_" + "Zq7Rk2" * 6
WORD = "brindlewolf"
PRIVATE = f"before <private>{WORD}</private> after"
TABLES = ("content", "state", "link", "fact", "usage", "record", "journal", "purged")


@pytest.fixture(params=["flag", "redact", "refuse"])
def setting(request: pytest.FixtureRequest) -> str:
    chosen: str = request.param
    return chosen


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[..., Bank]]:
    banks: list[Bank] = []

    def opened(name: str = "notes", secrets: str = "flag", **values: Any) -> Bank:
        settings = {"durability": "off", "secrets": secrets}
        banks.append(pieria.open(name, data=tmp_path / "data", settings=settings, **values))
        return banks[-1]

    yield opened
    for bank in banks:
        bank.close()


@pytest.fixture
def bank(opened: Callable[..., Bank]) -> Bank:
    return prepared(opened())


def prepared(bank: Bank) -> Bank:
    bank.remember("heron", id="one")
    bank.remember("stork", id="two")
    bank.remember("crane", id="three")
    return bank


def held(bank: Bank) -> str:
    """Return all rows of a bank as one text."""
    with bank.core.store.reading() as reader:
        return repr([row for table in TABLES for row in reader.dump(table)])


Writes = Callable[[Bank, str], Any]

WAYS: dict[str, Writes] = {
    "remember text": lambda bank, text: bank.remember(text),
    "remember title": lambda bank, text: bank.remember("x", title=text),
    "remember context": lambda bank, text: bank.remember("x", context=text),
    "remember body": lambda bank, text: bank.remember("x", body={"facts": ["a", {"deep": text}]}),
    "remember body key": lambda bank, text: bank.remember("x", body={text: 1}),
    "remember meta": lambda bank, text: bank.remember("x", meta={"list": [[text]]}),
    "remember meta key": lambda bank, text: bank.remember("x", meta={"a": {text: 1}}),
    "remember for the user": lambda bank, text: bank.remember(text, scope="user"),
    "remember_many": lambda bank, text: bank.remember_many([{"text": "x"}, {"text": text}]),
    "remember_many title": lambda bank, text: bank.remember_many([pieria.NewMemory("x", title=text)]),
    "update text": lambda bank, text: bank.update("one", text=text),
    "update title": lambda bank, text: bank.update("one", title=text),
    "update context": lambda bank, text: bank.update("one", context=text),
    "update body": lambda bank, text: bank.update("one", body={"k": text}),
    "update meta": lambda bank, text: bank.update("one", meta={"k": [text]}),
    "update reason": lambda bank, text: bank.update("one", text="x", reason=text),
    "revise text": lambda bank, text: bank.revise("one", text=text),
    "revise meta": lambda bank, text: bank.revise("one", meta={"k": text}),
    "revise reason": lambda bank, text: bank.revise("one", text="x", reason=text),
    "invalidate reason": lambda bank, text: bank.invalidate("one", reason=text),
    "remove reason": lambda bank, text: bank.remove("one", reason=text),
    "link label": lambda bank, text: bank.link("one", "two", label=text),
    "link meta": lambda bank, text: bank.link("one", "two", meta={"k": {"deep": text}}),
    "link label again": lambda bank, text: (bank.link("one", "two"), bank.link("one", "two", label=text)),
    "fact subject": lambda bank, text: bank.facts.add(text, "is", "b"),
    "fact object": lambda bank, text: bank.facts.add("a", "is", text),
    "fact source": lambda bank, text: bank.facts.add("a", "is", "b", source=text),
    "fact superseding": lambda bank, text: bank.facts.supersede("a", "is", text),
    "fact invalidated": lambda bank, text: (
        bank.facts.add("a", "is", "b"), bank.facts.invalidate("a", "is", "b", reason=text),
    ),
    "fact removed": lambda bank, text: bank.facts.remove(bank.facts.add("a", "is", "b").id, reason=text),
    "alias": lambda bank, text: bank.facts.alias(text, "heron"),
    "scratchpad": lambda bank, text: bank.scratchpad.write(text),
    "scratchpad again": lambda bank, text: bank.scratchpad.update(bank.scratchpad.write("x").id, text),
}  # fmt: skip

FLAGGED = {way for way in WAYS if way.startswith(("remember", "update", "revise")) and "reason" not in way}


def both_banks(bank: Bank) -> str:
    user = bank.core.user_core(False)
    return held(bank) + (held(Bank(user)) if user else "")


@pytest.mark.parametrize("way", WAYS)
def test_what_is_private_is_cut_on_every_way_in(bank: Bank, way: str) -> None:
    WAYS[way](bank, PRIVATE)
    kept = both_banks(bank)
    assert WORD not in kept
    assert "before " in kept
    assert " after" in kept
    if way in FLAGGED:
        assert any("private:cut" in row for row in flags(bank)), flags(bank)


@pytest.mark.parametrize("way", WAYS)
def test_a_secret_is_treated_as_set_on_every_way_in(opened: Callable[..., Bank], setting: str, way: str) -> None:
    bank = prepared(opened(secrets=setting))
    before = both_banks(bank)
    text = f"the key is {SECRET} for now"
    if setting == "refuse":
        with pytest.raises(PrivacyError) as refused:
            WAYS[way](bank, text)
        assert refused.value.parameter
        assert refused.value.found
        assert SECRET not in str(refused.value)
        assert SECRET not in repr(refused.value.as_dict())
        if way not in ("scratchpad again", "fact invalidated", "fact removed", "link label again"):
            assert both_banks(bank) == before
        assert SECRET not in both_banks(bank)
        return
    WAYS[way](bank, text)
    assert (SECRET in both_banks(bank)) == (setting == "flag")
    if setting == "redact":
        assert "[secret:" in both_banks(bank)
    if way in FLAGGED:
        assert any("secret:" in row for row in flags(bank)), flags(bank)


def flags(bank: Bank) -> list[str]:
    banks = [bank, *([Bank(user)] if (user := bank.core.user_core(False)) else [])]
    return [" ".join(memory.flags) for each in banks for memory in each.list(include=["revised"])]


@pytest.mark.parametrize("way", sorted(FLAGGED))
def test_nothing_but_what_is_private_is_refused(bank: Bank, way: str) -> None:
    """A text that is private as a whole is refused. A value in a mapping is emptied instead."""
    whole = f"<private>{WORD}</private>"
    before = both_banks(bank)
    if "meta" in way or "body" in way:
        WAYS[way](bank, whole)
    else:
        with pytest.raises(InputError):
            WAYS[way](bank, whole)
        assert both_banks(bank) == before
    assert WORD not in both_banks(bank)


@pytest.mark.parametrize("mode", ["skip", "merge", "replace"])
@pytest.mark.parametrize("into", ["empty", "other"])
def test_an_import_passes_the_same_gate(opened: Callable[..., Bank], tmp_path: Path, mode: str, into: str) -> None:
    """The file comes from a bank with a looser setting, or was written by hand."""
    source = prepared(opened("source"))
    source.remember(f"text {SECRET}", title=f"title {SECRET}", context=f"context {SECRET}", meta={"m": SECRET},
                    body={"b": [SECRET]})  # fmt: skip
    source.update("one", text=f"once {SECRET}", reason=f"because {SECRET}")
    source.update("one", text="heron again")
    source.link("one", "two", label=f"label {SECRET}", meta={"m": SECRET})
    source.facts.add("a", "is", f"object {SECRET}", source=f"source {SECRET}")
    source.scratchpad.write(f"note {SECRET}")
    exported = tmp_path / "source.jsonl"
    source.export(exported)
    smuggled = tmp_path / "smuggled.jsonl"
    whole = exported.read_text()
    assert SECRET in whole
    smuggled.write_text(whole)
    target = opened("target", secrets="redact")
    if into == "other":
        target.remember("there before")
    target.import_(smuggled, mode=mode)
    kept = held(target)
    assert "heron again" in kept
    assert SECRET not in kept
    assert len(target.recall("title")) == 1
    strict = opened("strict", secrets="refuse")
    if into == "other":
        strict.remember("there before")
    before = held(strict)
    with pytest.raises(PieriaError):
        strict.import_(smuggled, mode=mode)
    assert held(strict) == before


def test_what_was_flagged_stays_flagged_until_the_text_is_clean(bank: Bank) -> None:
    memory = bank.remember(f"the key is {SECRET}")
    assert [flag.partition(":")[0] for flag in memory.flags] == ["secret"]
    assert bank.update(memory.id, importance=0.9).flags == memory.flags
    assert bank.update(memory.id, tags=["key"]).flags == memory.flags
    assert bank.update(memory.id, text="no key here").flags == ()


# --- trust


@pytest.mark.parametrize("author_type", ["human", "system", "agent", None])
def test_a_label_of_the_author_decides_no_trust(opened: Callable[..., Bank], author_type: str | None) -> None:
    bank = prepared(opened(author="maya", author_type=author_type))
    for memory in (bank.remember("x"), *bank.remember_many([{"text": "y"}])):
        assert (memory.author, memory.author_type, memory.via, memory.trust) == ("maya", author_type, "agent", 0.6)


@pytest.mark.parametrize(("via", "trust"), [("person", 0.9), ("agent", 0.6), ("hearsay", 0.5), ("outside", 0.2)])
def test_trust_follows_the_way_in(tmp_path: Path, via: str, trust: float) -> None:
    with pieria.open("notes", data=tmp_path / "own", via=via) as bank:
        assert bank.via == via
        assert (bank.remember("x").via, bank.remember("x", scope="user").trust) == (via, trust)
        assert bank.remember("x", via="outside").trust == 0.2
    with pieria.open("notes", data=tmp_path / "each") as bank:
        assert bank.remember("x", via=via).trust == trust
        assert bank.remember_many([{"text": "x", "via": via}])[0].via == via


@pytest.mark.parametrize("via", ["accepted", "human", ""])
def test_only_known_ways_in_can_be_given(bank: Bank, via: str) -> None:
    with pytest.raises(InputError, match="via: expected one of person, agent, hearsay, outside"):
        bank.remember("x", via=via)
    with pytest.raises(InputError, match="via"):
        pieria.open("notes", via=via)


def test_trust_cannot_be_claimed(bank: Bank) -> None:
    with pytest.raises(TypeError):
        bank.remember("x", trust=1.0)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        bank.update("one", trust=1.0)  # type: ignore[call-arg]
    with pytest.raises(InputError, match="trust"):
        bank.remember_many([{"text": "x", "trust": 1.0}])


# --- what is drawn from a source


def derive(bank: Bank, source: str, **values: Any) -> str:
    made = bank.remember("a summary", kind="summary", **values)
    bank.link(made.id, source, "provenance")
    return made.id


def check_held(bank: Bank, derived: str, source: str) -> None:
    """Check that trust, validity and scope of the derived memory stay within those of the source."""
    made, from_it = bank.history(derived)[-1], bank.history(source)[-1]
    assert made.trust <= from_it.trust
    assert from_it.valid_from is None or (made.valid_from is not None and made.valid_from >= from_it.valid_from)
    assert from_it.valid_until is None or (made.valid_until is not None and made.valid_until <= from_it.valid_until)
    assert made.valid_from is None or made.valid_until is None or made.valid_from < made.valid_until
    if from_it.scope == "session":
        assert made.scope == "session"
        assert made.session == from_it.session
        assert made.channel in (None, from_it.channel)


SOURCES: list[dict[str, Any]] = [
    {"author_type": "agent"},
    {"valid_until": "2027-01-01"},
    {"valid_from": "2026-01-01"},
    {"valid_from": "2026-01-01", "valid_until": "2027-01-01"},
    {"scope": "session", "session": "s"},
    {"scope": "session", "session": "s", "channel": "c"},
    {"scope": "session", "channel": "c"},
]
DERIVED: list[dict[str, Any]] = [
    {},
    {"author_type": "human"},
    {"valid_until": "2030-01-01"},
    {"valid_from": "2020-01-01", "valid_until": "2026-06-01"},
    {"scope": "session", "session": "s"},
    {"scope": "session", "session": "s", "channel": "c"},
    {"scope": "session", "session": "s", "channel": "c2"},
]


@pytest.mark.parametrize("source", SOURCES, ids=repr)
@pytest.mark.parametrize("derived", DERIVED, ids=repr)
def test_what_is_drawn_from_a_source_is_held_to_it(
    opened: Callable[..., Bank], source: dict[str, Any], derived: dict[str, Any]
) -> None:
    bank = opened(session="s", channel="c")
    bank.remember("evidence", id="source", **source)
    check_held(bank, derive(bank, "source", **derived), "source")


def test_what_is_drawn_from_several_sources_is_held_to_each(bank: Bank) -> None:
    bank.remember("evidence", id="sure", author_type="human", valid_until="2027-01-01")
    bank.remember("evidence", id="unsure", author_type="agent", valid_from="2026-01-01")
    made = derive(bank, "sure", author_type="human")
    bank.link(made, "unsure", "provenance")
    check_held(bank, made, "sure")
    check_held(bank, made, "unsure")


def test_what_is_drawn_at_second_hand_is_held_too(bank: Bank) -> None:
    """In both orders of the two links."""
    bank.remember("evidence", id="source", author_type="agent", valid_until="2027-01-01")
    first = derive(bank, "source", author_type="human")
    check_held(bank, derive(bank, first, author_type="human"), "source")
    other = bank.remember("a summary", kind="summary", author_type="human").id
    second = derive(bank, other, author_type="human")
    bank.link(other, "source", "provenance")
    check_held(bank, other, "source")
    check_held(bank, second, "source")


LOOSENED: dict[str, Callable[[Bank, str], Any]] = {
    "held for longer": lambda bank, made: bank.update(made, valid_until="2030-01-01"),
    "held for ever": lambda bank, made: bank.update(made, valid_until=None),
    "held from earlier": lambda bank, made: bank.update(made, valid_from="2020-01-01"),
    "held from ever": lambda bank, made: bank.update(made, valid_from=None),
    "seen by all": lambda bank, made: bank.update(made, scope="bank"),
    "said by a human": lambda bank, made: bank.revise(made, text="said again", author_type="human"),
    "invalid only later": lambda bank, made: bank.invalidate(made, at="2030-01-01"),
    "undone": lambda bank, made: bank.undo(next(c.seq for c in bank.changes() if c.what == "link")),
}


@pytest.mark.parametrize("way", LOOSENED)
def test_what_is_drawn_from_a_source_cannot_be_loosened_afterwards(opened: Callable[..., Bank], way: str) -> None:
    """The change is refused or limited by the source. Undoing the link lifts the limit."""
    bank = opened(session="s")
    bank.remember("evidence", id="source", scope="session", author_type="agent",
                  valid_from="2026-01-01", valid_until="2027-01-01")  # fmt: skip
    made = derive(bank, "source")
    try:
        changed = LOOSENED[way](bank, made)
    except PieriaError:
        changed = None
    if way == "undone":
        assert bank.neighbors(made, relation="provenance") == []
        return
    check_held(bank, changed.id if isinstance(changed, pieria.Memory) else made, "source")


TIGHTENED: dict[str, Callable[[Bank], Any]] = {
    "no longer valid": lambda bank: bank.invalidate("source", at="2026-06-01"),
    "valid for a shorter time": lambda bank: bank.update("source", valid_until="2026-06-01"),
    "valid from later": lambda bank: bank.update("source", valid_from="2026-02-01"),
    "seen by its session alone": lambda bank: bank.update("source", scope="session"),
}


@pytest.mark.parametrize("way", TIGHTENED)
def test_what_is_drawn_from_a_source_follows_it(opened: Callable[..., Bank], way: str) -> None:
    bank = opened(session="s")
    bank.remember("evidence", id="source", valid_from="2026-01-01", valid_until="2027-01-01")
    made = derive(bank, "source")
    TIGHTENED[way](bank)
    check_held(bank, made, "source")


def test_nothing_is_drawn_from_itself(bank: Bank) -> None:
    bank.link("one", "two", "provenance")
    bank.link("two", "three", "provenance")
    for ends in (("two", "one"), ("three", "one"), ("three", "two")):
        with pytest.raises(ConflictError):
            bank.link(*ends, "provenance")


def test_a_link_that_a_user_names_like_ours_erases_nothing(bank: Bank) -> None:
    """Only the engine's own revisions link versions of one memory."""
    try:
        bank.link("two", "one", "revises")
    except PieriaError:
        return
    bank.purge("one")
    assert bank.get("two") is not None


# --- who sees what


@pytest.fixture
def sessions(opened: Callable[..., Bank]) -> dict[str, Bank]:
    """Return four banks in different sessions. The sessions s1 and s2 share a channel."""
    return {
        "alone": opened(),
        "s1": opened(session="s1", channel="c"),
        "s2": opened(session="s2", channel="c"),
        "s3": opened(session="s3"),
    }


def seen(bank: Bank) -> set[str]:
    """Return the visible ids, and check that all ways of reading agree."""
    listed = {memory.id for memory in bank.list()}
    assert {hit.memory.id for hit in bank.recall("heron", k=100)} == listed
    assert bank.count() == len(listed)
    return listed


def test_a_session_memory_is_its_session_s_and_its_channel_s(sessions: dict[str, Bank]) -> None:
    own = {name: sessions[name].remember("heron", scope="session", id=name).id for name in ("s1", "s2", "s3")}
    plain = sessions["s1"].remember("heron", id="plain").id
    sessions["s1"].remember("heron", scope="session", id="of s1 alone", channel="other")
    assert seen(sessions["alone"]) == {plain}
    assert seen(sessions["s1"]) == {plain, own["s1"], own["s2"], "of s1 alone"}
    assert seen(sessions["s2"]) == {plain, own["s1"], own["s2"]}
    assert seen(sessions["s3"]) == {plain, own["s3"]}


def test_a_session_memory_without_anybody_to_see_it_is_refused(bank: Bank) -> None:
    with pytest.raises(InputError) as refused:
        bank.remember("heron", scope="session")
    assert refused.value.parameter == "scope"
    with pytest.raises(InputError):
        bank.update("one", scope="session")


def test_naming_a_session_or_channel_speaks_for_it(sessions: dict[str, Bank]) -> None:
    sessions["s1"].remember("heron", scope="session", id="m")
    alone = sessions["alone"]
    assert [memory.id for memory in alone.list(session="s1")] == ["m"]
    assert [memory.id for memory in alone.list(channel="c")] == ["m"]
    assert [hit.memory.id for hit in alone.recall("heron", session="s1")] == ["m"]
    assert len(alone.list(session="s2")) == 0


HIDDEN: dict[str, Callable[[Bank, str], Any]] = {
    "update": lambda bank, id: bank.update(id, text="x"),
    "revise": lambda bank, id: bank.revise(id, text="x"),
    "invalidate": lambda bank, id: bank.invalidate(id),
    "remove": lambda bank, id: bank.remove(id),
    "restore": lambda bank, id: bank.restore(id),
    "pin": lambda bank, id: bank.pin(id),
    "purge": lambda bank, id: bank.purge(id),
    "touch": lambda bank, id: bank.touch(id),
    "link": lambda bank, id: bank.link(id, "open"),
    "link to": lambda bank, id: bank.link("open", id),
    "neighbors": lambda bank, id: bank.neighbors(id),
    "neighbors_each": lambda bank, id: bank.neighbors_each(["open", id]),
    "history": lambda bank, id: bank.history(id),
    "replacement": lambda bank, id: bank.invalidate("open", replacement=id),
    "fact": lambda bank, id: bank.facts.add("a", "is", "b", memory=id),
}


@pytest.mark.parametrize("verb", HIDDEN)
def test_what_a_reader_may_not_see_is_not_found_by_any_verb(sessions: dict[str, Bank], verb: str) -> None:
    sessions["s1"].remember("heron", scope="session", id="hidden")
    sessions["s1"].remember("heron", id="open")
    if verb == "restore":
        sessions["s1"].remove("hidden")
    before = held(sessions["alone"])
    with pytest.raises(NotFoundError):
        HIDDEN[verb](sessions["s3"], "hidden")
    assert held(sessions["alone"]) == before
    assert sessions["s3"].get("hidden") is None
    assert sessions["s3"].get("hidden@1") is None
    assert sessions["s3"].get("hidden", include_removed=True) is None
    with pytest.raises(NotFoundError):
        sessions["s3"].usage("hidden")


def test_what_leads_to_a_hidden_memory_shows_nothing_of_it(sessions: dict[str, Bank]) -> None:
    s1, s3 = sessions["s1"], sessions["s3"]
    s1.remember("heron", scope="session", id="hidden", tags=["brindlewolf"], entities=["brindlewolf"], place="den/wolf")
    s1.remember("heron", id="open")
    s1.remember("heron", id="beyond")
    s1.link("open", "hidden", "leads_to", label="brindlewolf")
    s1.link("hidden", "beyond", "leads_to")
    s1.link("hidden", pieria.Place("den/wolf"))
    s1.facts.add("brindlewolf", "hides_in", "den", memory="hidden")
    s1.touch("hidden")
    assert s3.neighbors("open", hops=3) == []
    assert [n.memory.id for n in s3.neighbors("beyond", hops=3) if n.memory] == []
    assert s3.neighbors(pieria.Place("den/wolf")) == []
    assert s3.facts.query("brindlewolf") == []
    assert s3.facts.timeline() == []
    assert s3.facts.entities() == []
    assert s3.facts.predicates() == []
    for by in ("tags", "entities", "place", "session"):
        counted = s3.count(by=by)
        assert not any("wolf" in str(value) or (value == "s1" and by == "tags") for value in counted), by
    assert len(s3.recall("brindlewolf")) == 0
    assert len(s3.recall("heron", known_at=s1.history("beyond")[0].known_from, k=50)) == 2
    assert {n.memory.id for n in s1.neighbors("open", hops=3) if n.memory} == {"hidden", "beyond"}


def test_a_past_that_was_hidden_stays_hidden(sessions: dict[str, Bank]) -> None:
    """A memory moves from its session to the bank. Its earlier version stays private to the session."""
    s1, s3 = sessions["s1"], sessions["s3"]
    memory = s1.remember("heron, between us", scope="session", id="m")
    s1.update("m", text="heron, for all", scope="bank")
    assert s3.get("m", known_at=memory.known_from) is None
    assert len(s3.recall("us", known_at=memory.known_from)) == 0
    assert [m.text for m in s3.history("m")] == ["heron, for all"]
    assert s3.get("m@1") is None
    assert [m.text for m in s1.history("m")] == ["heron, between us", "heron, for all"]


def test_scratchpads_are_their_sessions_own(sessions: dict[str, Bank]) -> None:
    for name, bank in sessions.items():
        bank.scratchpad.write(f"note of {name}")
    entry = sessions["s1"].scratchpad.read()[0]
    assert {name: [e.content for e in bank.scratchpad.read()] for name, bank in sessions.items()} == {
        name: [f"note of {name}"] for name in sessions
    }
    with pytest.raises(NotFoundError):
        sessions["s3"].scratchpad.update(entry.id, "mine now")
    assert sessions["s3"].scratchpad.clear() == 1
    assert len(sessions["s1"].scratchpad.read()) == 1


def test_sessions_whose_names_begin_alike_keep_apart(opened: Callable[..., Bank]) -> None:
    names = ["a", "a:", "a:b", "1:a", "", "A", "é", "é\u0301"]
    banks = {name: opened(session=name or None) for name in names}
    for name, bank in banks.items():
        bank.scratchpad.write(f"note of {name}")
        if name:
            bank.remember(f"heron of {name}", scope="session")
    for name, bank in banks.items():
        assert [entry.content for entry in bank.scratchpad.read()] == [f"note of {name}"]
        assert {memory.text for memory in bank.list()} == ({f"heron of {name}"} if name else set())


# --- what belongs to the user


def test_what_belongs_to_the_user_is_recalled_from_every_bank(opened: Callable[..., Bank]) -> None:
    work, home = opened("work"), opened("home")
    mine = work.remember("I like herons", scope="user", tags=["taste"])
    work.remember("herons at work")
    home.remember("herons at home")
    user = opened("@me")
    assert {hit.memory.text for hit in work.recall("herons")} == {"I like herons", "herons at work"}
    assert {hit.memory.text for hit in home.recall("herons")} == {"I like herons", "herons at home"}
    assert {hit.memory.text for hit in user.recall("herons")} == {"I like herons"}
    assert [hit.memory.id for hit in home.recall("herons", scope="user")] == [mine.id]
    assert [hit.memory.text for hit in home.recall("herons", scope="bank")] == ["herons at home"]
    assert (mine.scope, mine.place) == ("user", "@me/note")
    got = home.get(mine.id)
    assert got == mine
    assert [memory.text for memory in home.list()] == ["herons at home"]
    assert home.count() == 1


def test_changes_to_what_belongs_to_the_user_find_their_way(opened: Callable[..., Bank]) -> None:
    work, home, user = opened("work"), opened("home"), opened("@me")
    mine = work.remember("I like herons", scope="user").id
    assert home.update(mine, text="I love herons").version == 2
    assert work.pin(mine).pinned
    assert home.touch(mine)[mine].accesses == 1
    assert len(home.history(mine)) == 3
    assert work.remove(mine).removed
    assert home.get(mine) is None
    assert not home.restore(mine).removed
    revised = home.revise(mine, text="I love herons and storks")
    assert revised.scope == "user"
    assert work.invalidate(revised.id, reason="no more").valid_until is not None
    assert {change.what for change in user.changes()} >= {"remember", "update", "pin", "touch", "remove", "restore"}
    assert [change for change in (*work.changes(), *home.changes()) if mine in change.ids] == []
    receipt = home.purge(mine)
    assert {*receipt.ids, *receipt.also} == {mine, revised.id}
    assert "herons" not in held(user)
    assert len(work.recall("herons")) == 0


@pytest.mark.parametrize("scope", ["bank", "session"])
def test_what_belongs_to_the_user_stays_the_user_s(opened: Callable[..., Bank], scope: str) -> None:
    """A memory of the user cannot move into another bank."""
    work = opened("work", session="s")
    mine = work.remember("I like herons", scope="user").id
    with pytest.raises(InputError) as refused:
        work.update(mine, scope=scope)
    assert refused.value.parameter == "scope"
    assert [hit.memory.scope for hit in opened("home").recall("herons", scope="user")] == ["user"]


def test_one_id_in_two_banks_is_never_mistaken(opened: Callable[..., Bank]) -> None:
    """A shared id finds the bank's own memory, and the user's through the user's bank; or its second use is refused."""
    work, user = opened("work"), opened("@me")
    work.remember("at work", id="same")
    work.remember("at work, in a session", id="hidden", scope="session", session="s")
    user.remember("of the user", id="hidden")
    assert work.get("hidden") is None, "a verb that changes it would find nothing, either"
    with pytest.raises(NotFoundError):
        work.update("hidden", text="changed")
    try:
        work.remember("of the user", id="same", scope="user")
    except ConflictError:
        assert user.get("same") is None
        return
    got = work.get("same")
    assert got is not None
    assert got.text == "at work"
    assert {hit.memory.text for hit in work.recall("work user")} == {"at work", "of the user"}
    work.update("same", text="changed at work")
    other = user.get("same")
    assert other is not None
    assert other.text == "of the user"


def test_reading_makes_no_bank_for_a_user_who_has_nothing(opened: Callable[..., Bank], tmp_path: Path) -> None:
    bank = prepared(opened())
    bank.recall("heron")
    bank.get("nobody")
    bank.recall("heron", scope="user")
    bank.list(scope="user")
    assert not (tmp_path / "data" / "@me.db").exists()


def test_a_session_s_own_is_not_the_user_s(opened: Callable[..., Bank]) -> None:
    """A memory for the user is visible from every session."""
    opened(session="s1").remember("heron", scope="user")
    assert len(opened(session="s2").recall("heron")) == 1
    with closing(opened("other")) as other:
        assert len(other.recall("heron")) == 1


@pytest.mark.parametrize("secrets", ["flag", "redact", "refuse"])
@pytest.mark.parametrize("parameter", ["source", "author", "session", "channel", "place", "id"])
def test_a_name_that_is_marked_private_is_refused_for_that(tmp_path: Path, parameter: str, secrets: str) -> None:
    names: dict[str, Any] = {parameter: "x/<private>Maya"}
    with (
        pieria.open("notes", data=tmp_path, settings={"secrets": secrets}) as bank,
        pytest.raises(PrivacyError) as refused,
    ):
        bank.remember("heron", **names)
    assert str(refused.value) == f"{parameter}: refused, since a part of it is marked <private>"
    assert refused.value.found == ("private",)


def test_what_is_private_as_a_whole_is_not_repeated_by_the_error(tmp_path: Path) -> None:
    whole = "<private>Maya</private>"
    with pieria.open("notes", data=tmp_path) as bank:
        memory = bank.remember("heron")
        acts: list[Callable[[], Any]] = [
            lambda: bank.remember(whole),
            lambda: bank.update(memory.id, importance=1, reason=whole),
            lambda: bank.remember("crane", context=whole),
        ]
        for act in acts:
            with pytest.raises(InputError, match="outside <private>") as refused:
                act()
            assert "Maya" not in str(refused.value)
