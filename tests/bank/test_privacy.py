"""Privacy and trust in the write path: texts that must not be kept, the trust of a kept text, and its readers.

tests/unit covers what a secret looks like. These tests check that every way into a bank is screened alike.
"""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.contract.store_helpers import everything

import pieria
from pieria.bank import Bank
from pieria.errors import ConflictError, InputError, NotFoundError, PieriaError, PrivacyError

SECRET = "ghp_" + "Zq7Rk2" * 6
KEY = f"the key is {SECRET} for now"
WORD = "brindlewolf"
WHOLE = f"<private>{WORD}</private>"
Opened = Callable[..., Bank]
Writes = Callable[[Bank, str], Any]


@pytest.fixture
def bank(opened: Opened) -> Bank:
    return prepared(opened())


def prepared(bank: Bank) -> Bank:
    for id, text in (("one", "heron"), ("two", "stork"), ("three", "crane")):
        bank.remember(text, id=id)
    return bank


def held(bank: Bank) -> str:
    """Return all rows of a bank as one text."""
    return repr(everything(bank.core.store))


FIELDS: dict[str, Callable[[str], Any]] = {
    "text": str, "title": str, "context": str, "body": lambda text: {"facts": ["a", {text: text}]},
    "meta": lambda text: {"list": [[text]], "a": {text: 1}},
}  # fmt: skip


def remember(field: str) -> Writes:
    return lambda bank, text: bank.remember(**{"text": "x", field: FIELDS[field](text)})


def update(field: str) -> Writes:
    return lambda bank, text: bank.update("one", **{field: FIELDS[field](text)})


WAYS: dict[str, Writes] = {
    **{f"remember {field}": remember(field) for field in FIELDS},
    "remember for the user": lambda bank, text: bank.remember(text, scope="user"),
    "remember_many": lambda bank, text: bank.remember_many([{"text": "x"}, {"text": text}]),
    "remember_many title": lambda bank, text: bank.remember_many([pieria.NewMemory("x", title=text)]),
    **{f"update {field}": update(field) for field in FIELDS},
    "update reason": lambda bank, text: bank.update("one", text="x", reason=text),
    "revise text": lambda bank, text: bank.revise("one", text=text),
    "revise meta": lambda bank, text: bank.revise("one", meta={"k": text}),
    "revise reason": lambda bank, text: bank.revise("one", text="x", reason=text),
    "invalidate reason": lambda bank, text: bank.invalidate("one", reason=text),
    "remove reason": lambda bank, text: bank.remove("one", reason=text),
    "link": lambda bank, text: bank.link("one", "two", label=text, meta={"k": {"deep": text}}),
    "link label again": lambda bank, text: (bank.link("one", "two"), bank.link("one", "two", label=text)),
    "fact": lambda bank, text: bank.facts.add(text, "is", text, source=text),
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


def banks(opened: Opened, **settings: Any) -> dict[str, Bank]:
    """Return a bank for each way."""
    return {way: prepared(opened(f"way{n}", **settings)) for n, way in enumerate(WAYS)}


def written(bank: Bank, way: str) -> Bank:
    """Return the bank that this way writes to."""
    user = bank.core.user_core(False) if way == "remember for the user" else None
    return bank if user is None else Bank(user)


def is_flagged(bank: Bank, way: str, flag: str) -> bool:
    return any(flag in " ".join(memory.flags) for memory in written(bank, way).list(include=["revised"]))


def test_private_text_is_cut_on_every_way_in(opened: Opened) -> None:
    for way, bank in banks(opened).items():
        WAYS[way](bank, f"before {WHOLE} after")
        kept = held(written(bank, way))
        assert WORD not in kept, way
        assert "before " in kept and " after" in kept, way
        assert way not in FLAGGED or is_flagged(bank, way, "private:cut"), way


@pytest.mark.parametrize("secrets", ["flag", "redact"])
def test_secret_is_flagged_or_redacted_on_every_way_in(opened: Opened, secrets: str) -> None:
    for way, bank in banks(opened, secrets=secrets).items():
        WAYS[way](bank, KEY)
        kept = held(written(bank, way))
        assert (SECRET in kept, "[secret:" in kept) == ((True, False) if secrets == "flag" else (False, True)), way
        assert way not in FLAGGED or is_flagged(bank, way, "secret:"), way


def test_secret_is_refused_on_every_way_in(opened: Opened) -> None:
    for way, bank in banks(opened, secrets="refuse").items():
        before = held(written(bank, way))
        with pytest.raises(PrivacyError) as refused:
            WAYS[way](bank, KEY)
        assert refused.value.parameter and refused.value.found
        assert SECRET not in str(refused.value) + repr(refused.value.as_dict())
        if way not in ("scratchpad again", "fact invalidated", "fact removed", "link label again"):
            assert held(written(bank, way)) == before, way
        assert SECRET not in held(written(bank, way)), way


def test_text_that_is_private_as_a_whole_is_refused(opened: Opened) -> None:
    """A value in a mapping is emptied instead."""
    for way, bank in banks(opened).items():
        if way not in FLAGGED and way != "update reason":
            continue
        before = held(written(bank, way))
        if "meta" in way or "body" in way:
            WAYS[way](bank, WHOLE)
            assert WORD not in held(written(bank, way)), way
        else:
            with pytest.raises(InputError) as refused:
                WAYS[way](bank, WHOLE)
            assert WORD not in str(refused.value)
            assert held(written(bank, way)) == before, way


def test_private_part_of_a_name_is_refused(opened: Opened) -> None:
    for secrets in ("flag", "redact", "refuse"):
        bank = opened(secrets=secrets)
        for parameter in ("source", "author", "session", "channel", "place", "id"):
            named: dict[str, Any] = {parameter: "x/<private>Maya"}
            with pytest.raises(PrivacyError) as refused:
                bank.remember("heron", **named)
            assert str(refused.value) == f"{parameter}: refused, since a part of it is marked <private>"
            assert refused.value.found == ("private",)


def test_import_passes_the_same_gate(opened: Opened, tmp_path: Path) -> None:
    """The file comes from a bank with a looser setting, or was written by hand."""
    source = prepared(opened("source"))
    secret: dict[str, Any] = {"title": f"title {SECRET}", "context": SECRET, "meta": {"m": SECRET}}
    source.remember(f"text {SECRET}", body={"b": [SECRET]}, **secret)
    source.update("one", text=f"once {SECRET}", reason=f"because {SECRET}")
    source.update("one", text="heron again")
    source.link("one", "two", label=f"label {SECRET}", meta={"m": SECRET})
    source.facts.add("a", "is", f"object {SECRET}", source=f"source {SECRET}")
    source.scratchpad.write(f"note {SECRET}")
    exported = tmp_path / "source.jsonl"
    source.export(exported)
    assert SECRET in exported.read_text()
    for mode in ("skip", "merge", "replace"):
        for others in ([], ["there before"]):
            target, strict = (
                opened(f"{mode}{len(others)}{secrets}", secrets=secrets) for secrets in ("redact", "refuse")
            )
            for each in (target, strict):
                each.remember_many(others)
            target.import_(exported, mode=mode)
            kept, before = held(target), held(strict)
            assert "heron again" in kept and SECRET not in kept
            assert len(target.recall("title")) == 1
            with pytest.raises(PieriaError):
                strict.import_(exported, mode=mode)
            assert held(strict) == before


def test_flags_stay_until_the_text_is_clean(bank: Bank) -> None:
    memory = bank.remember(KEY)
    assert [flag.partition(":")[0] for flag in memory.flags] == ["secret"]
    changes: list[dict[str, Any]] = [{"importance": 0.9}, {"tags": ["key"]}]
    for values in changes:
        assert bank.update(memory.id, **values).flags == memory.flags
    assert bank.update(memory.id, text="no key here").flags == ()


# --- trust


def test_trust_follows_the_way_in_and_no_label(opened: Opened, tmp_path: Path) -> None:
    plain = opened()
    for via, trust in {"person": 0.9, "agent": 0.6, "hearsay": 0.5, "outside": 0.2}.items():
        with pieria.open("notes", data=tmp_path / "own", via=via) as bank:
            assert bank.via == via
            assert (bank.remember("x").via, bank.remember("x", scope="user").trust) == (via, trust)
            assert bank.remember("x", via="outside").trust == 0.2
        assert plain.remember("x", via=via).trust == trust
        assert plain.remember_many([{"text": "x", "via": via}])[0].via == via
    for author_type in ("human", "system", "agent", None):
        bank = opened(author="maya", author_type=author_type)
        for memory in (bank.remember("x"), *bank.remember_many([{"text": "y"}])):
            assert (memory.author, memory.author_type, memory.via, memory.trust) == ("maya", author_type, "agent", 0.6)


def test_trust_and_unknown_ways_in_cannot_be_claimed(bank: Bank) -> None:
    for via in ("accepted", "human", ""):
        with pytest.raises(InputError, match="via: expected one of person, agent, hearsay, outside"):
            bank.remember("x", via=via)
        with pytest.raises(InputError, match="via"):
            pieria.open("notes", via=via)
    trusted: dict[str, Any] = {"trust": 1.0}
    for verb, given in ((bank.remember, "x"), (bank.update, "one")):
        with pytest.raises(TypeError):
            verb(given, **trusted)
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
        assert (made.scope, made.session) == ("session", from_it.session)
        assert made.channel in (None, from_it.channel)


SOURCES: list[dict[str, Any]] = [
    {"author_type": "agent"}, {"valid_until": "2027-01-01"}, {"valid_from": "2026-01-01"},
    {"valid_from": "2026-01-01", "valid_until": "2027-01-01"}, {"scope": "session", "session": "s"},
    {"scope": "session", "session": "s", "channel": "c"}, {"scope": "session", "channel": "c"},
]  # fmt: skip
DERIVED: list[dict[str, Any]] = [
    {}, {"author_type": "human"}, {"valid_until": "2030-01-01"},
    {"valid_from": "2020-01-01", "valid_until": "2026-06-01"}, {"scope": "session", "session": "s"},
    {"scope": "session", "session": "s", "channel": "c"}, {"scope": "session", "session": "s", "channel": "c2"},
]  # fmt: skip


def test_derived_memory_is_held_to_each_of_its_sources(opened: Opened, bank: Bank) -> None:
    own = opened("own", session="s", channel="c")
    for number, values in enumerate(SOURCES):
        source = own.remember("evidence", id=f"source{number}", **values).id
        for drawn in DERIVED:
            check_held(own, derive(own, source, **drawn), source)
    bank.remember("evidence", id="sure", author_type="human", valid_until="2027-01-01")
    bank.remember("evidence", id="unsure", author_type="agent", valid_from="2026-01-01")
    made = derive(bank, "sure", author_type="human")
    bank.link(made, "unsure", "provenance")
    for source in ("sure", "unsure"):
        check_held(bank, made, source)
    # At second hand, in both orders of the two links.
    check_held(bank, derive(bank, made), "sure")
    other = bank.remember("a summary", kind="summary", author_type="human").id
    second = derive(bank, other, author_type="human")
    bank.link(other, "sure", "provenance")
    for each in (other, second):
        check_held(bank, each, "sure")


CHANGES: dict[str, Callable[[Bank, str], Any]] = {
    "held for longer": lambda bank, made: bank.update(made, valid_until="2030-01-01"),
    "held for ever": lambda bank, made: bank.update(made, valid_until=None),
    "held from earlier": lambda bank, made: bank.update(made, valid_from="2020-01-01"),
    "held from ever": lambda bank, made: bank.update(made, valid_from=None),
    "seen by all": lambda bank, made: bank.update(made, scope="bank"),
    "said by a human": lambda bank, made: bank.revise(made, text="said again", author_type="human"),
    "invalid only later": lambda bank, made: bank.invalidate(made, at="2030-01-01"),
    "source no longer valid": lambda bank, made: bank.invalidate("source", at="2026-06-01"),
    "source valid for a shorter time": lambda bank, made: bank.update("source", valid_until="2026-06-01"),
    "source valid from later": lambda bank, made: bank.update("source", valid_from="2026-02-01"),
    "source seen by its session alone": lambda bank, made: bank.update("source", scope="session"),
}


def test_derived_memory_is_held_to_its_source_afterwards(opened: Opened) -> None:
    """The change is refused, limited by the source or followed."""
    for name, change in CHANGES.items():
        bank = opened(name.replace(" ", "-"), session="s")
        scope = "bank" if name.startswith("source") else "session"
        held: dict[str, Any] = {"valid_from": "2026-01-01", "valid_until": "2027-01-01"}
        bank.remember("evidence", id="source", scope=scope, author_type="agent", **held)
        made = derive(bank, "source")
        changed = None
        with suppress(PieriaError):
            changed = change(bank, made)
        check_held(bank, changed.id if name == "said by a human" and changed else made, "source")


def test_undone_link_limits_no_longer(bank: Bank) -> None:
    made = derive(bank, "one")
    bank.undo(next(change.seq for change in bank.changes() if change.what == "link"))
    assert bank.neighbors(made, relation="provenance") == []


def test_nothing_is_drawn_from_itself(bank: Bank) -> None:
    bank.link("one", "two", "provenance")
    bank.link("two", "three", "provenance")
    for ends in (("two", "one"), ("three", "one"), ("three", "two")):
        with pytest.raises(ConflictError):
            bank.link(*ends, "provenance")


def test_link_named_like_a_revision_erases_nothing(bank: Bank) -> None:
    """Only the engine's own revisions link versions of one memory."""
    with suppress(PieriaError):
        bank.link("two", "one", "revises")
    bank.purge("one")
    assert bank.get("two") is not None


# --- who sees what


@pytest.fixture
def sessions(opened: Opened) -> dict[str, Bank]:
    """Return four banks in different sessions. The sessions s1 and s2 share a channel."""
    shared = {name: opened(session=name, channel="c") for name in ("s1", "s2")}
    return {"alone": opened(), **shared, "s3": opened(session="s3")}


def seen(bank: Bank) -> set[str]:
    """Return the visible ids, and check that all ways of reading agree."""
    listed = {memory.id for memory in bank.list()}
    assert {hit.memory.id for hit in bank.recall("heron", k=100)} == listed
    assert bank.count() == len(listed)
    return listed


def test_session_memory_is_seen_in_its_session_and_channel(sessions: dict[str, Bank]) -> None:
    for name in ("s1", "s2", "s3"):
        sessions[name].remember("heron", scope="session", id=name)
    sessions["s1"].remember("heron", id="plain")
    sessions["s1"].remember("heron", scope="session", id="of s1 alone", channel="other")
    cases = {
        "alone": {"plain"}, "s1": {"plain", "s1", "s2", "of s1 alone"}, "s2": {"plain", "s1", "s2"},
        "s3": {"plain", "s3"},
    }  # fmt: skip
    assert {name: seen(sessions[name]) for name in cases} == cases
    # Naming a session or a channel speaks for it.
    alone = sessions["alone"]
    assert {memory.id for memory in alone.list(session="s2")} == {"s2"}
    assert {memory.id for memory in alone.list(channel="c")} == {"plain", "s1", "s2"}
    assert {hit.memory.id for hit in alone.recall("heron", session="s3")} == {"s3"}
    free = alone.remember("heron").id
    with pytest.raises(InputError, match="scope"):
        alone.remember("heron", scope="session")
    with pytest.raises(InputError, match="scope"):
        alone.update(free, scope="session")


def called(verb: str) -> Callable[[Bank, str], Any]:
    return lambda bank, id: getattr(bank, verb)(id)


ON_IDS = ("invalidate", "remove", "restore", "pin", "purge", "touch", "neighbors", "history", "usage")
HIDDEN: dict[str, Callable[[Bank, str], Any]] = {verb: called(verb) for verb in ON_IDS} | {
    "update": lambda bank, id: bank.update(id, text="x"),
    "revise": lambda bank, id: bank.revise(id, text="x"),
    "link": lambda bank, id: bank.link(id, "open"),
    "link to": lambda bank, id: bank.link("open", id),
    "neighbors_each": lambda bank, id: bank.neighbors_each(["open", id]),
    "replacement": lambda bank, id: bank.invalidate("open", replacement=id),
    "fact": lambda bank, id: bank.facts.add("a", "is", "b", memory=id),
}


def test_no_verb_finds_a_hidden_memory(sessions: dict[str, Bank]) -> None:
    s1, s3 = sessions["s1"], sessions["s3"]
    s1.remember("heron", scope="session", id="hidden")
    s1.remember("heron", id="open")
    for verb, act in HIDDEN.items():
        if verb == "restore":
            s1.remove("hidden")
        before = held(s1)
        with pytest.raises(NotFoundError):
            act(s3, "hidden")
        assert held(s1) == before, verb
        assert s3.get("hidden") is s3.get("hidden@1") is s3.get("hidden", include_removed=True) is None
        if verb == "restore":
            s1.restore("hidden")


def test_nothing_that_leads_to_a_hidden_memory_shows_it(sessions: dict[str, Bank]) -> None:
    s1, s3 = sessions["s1"], sessions["s3"]
    s1.remember("heron", scope="session", id="hidden", tags=["brindlewolf"], entities=["brindlewolf"], place="den/wolf")
    s1.remember("heron", id="open")
    s1.remember("heron", id="beyond")
    s1.link("open", "hidden", "leads_to", label="brindlewolf")
    s1.link("hidden", "beyond", "leads_to")
    s1.link("hidden", pieria.Place("den/wolf"))
    s1.facts.add("brindlewolf", "hides_in", "den", memory="hidden")
    s1.touch("hidden")
    assert s3.neighbors("open", hops=3) == s3.neighbors(pieria.Place("den/wolf")) == []
    assert [n.memory.id for n in s3.neighbors("beyond", hops=3) if n.memory] == []
    assert s3.facts.query("brindlewolf") == s3.facts.timeline() == []
    assert [*s3.facts.entities(), *s3.facts.predicates()] == []
    for by in ("tags", "entities", "place", "session"):
        counted = s3.count(by=by)
        assert not any("wolf" in str(value) or (value == "s1" and by == "tags") for value in counted), by
    assert len(s3.recall("brindlewolf")) == 0
    assert len(s3.recall("heron", known_at=s1.history("beyond")[0].known_from, k=50)) == 2
    assert {n.memory.id for n in s1.neighbors("open", hops=3) if n.memory} == {"hidden", "beyond"}


def test_hidden_past_stays_hidden(sessions: dict[str, Bank]) -> None:
    """A memory moves from its session to the bank. Its earlier version stays private to the session."""
    s1, s3 = sessions["s1"], sessions["s3"]
    then = s1.remember("heron, between us", scope="session", id="m").known_from
    s1.update("m", text="heron, for all", scope="bank")
    assert s3.get("m", known_at=then) is s3.get("m@1") is None
    assert len(s3.recall("us", known_at=then)) == 0
    assert [m.text for m in s3.history("m")] == ["heron, for all"]
    assert [m.text for m in s1.history("m")] == ["heron, between us", "heron, for all"]


def test_sessions_with_similar_names_keep_apart(opened: Opened) -> None:
    banks = {name: opened(session=name or None) for name in ["a", "a:", "a:b", "1:a", "", "A", "é", "é\u0301"]}
    for name, bank in banks.items():
        bank.scratchpad.write(f"note of {name}")
        if name:
            bank.remember(f"heron of {name}", scope="session")
    for name, bank in banks.items():
        assert [entry.content for entry in bank.scratchpad.read()] == [f"note of {name}"]
        assert {memory.text for memory in bank.list()} == ({f"heron of {name}"} if name else set())
    [entry] = banks["a"].scratchpad.read()
    with pytest.raises(NotFoundError):
        banks["A"].scratchpad.update(entry.id, "mine now")
    assert banks["A"].scratchpad.clear() == 1
    assert banks["a"].scratchpad.read() == [entry]


# --- what belongs to the user


def test_memories_of_the_user_are_recalled_from_every_bank(opened: Opened) -> None:
    work, home = opened("work", session="s1"), opened("home", session="s2")
    mine = work.remember("I like herons", scope="user", tags=["taste"])
    work.remember("herons at work")
    home.remember("herons at home")

    def recalled(bank: Bank, **asked: Any) -> set[str]:
        return {hit.memory.text for hit in bank.recall("herons", **asked)}

    assert recalled(work) == {"I like herons", "herons at work"}
    assert recalled(home) == {"I like herons", "herons at home"}
    assert recalled(opened("@me")) == recalled(home, scope="user") == {"I like herons"}
    assert recalled(home, scope="bank") == {"herons at home"}
    assert recalled(home, scope=["bank", "user"]) == recalled(home)
    home.remember("herons of s2", scope="session")
    assert recalled(home, scope=["session"]) == {"herons of s2"}
    for scope, asked in (("bank", "home"), ("user", "@me")):
        assert [*home.recall("herons", scope=scope).plan["arms"]["text"]["banks"]] == [asked]
    assert (mine.scope, mine.place) == ("user", "@me/note")
    assert home.get(mine.id) == mine
    assert {memory.text for memory in home.list()} == {"herons at home", "herons of s2"}
    assert home.count() == 2


def test_changes_to_memories_of_the_user_reach_them(opened: Opened) -> None:
    work, home, user = opened("work", session="s"), opened("home"), opened("@me")
    mine = work.remember("I like herons", scope="user").id
    for scope in ("bank", "session"):
        with pytest.raises(InputError, match="scope"):
            work.update(mine, scope=scope)
    assert home.update(mine, text="I love herons").version == 2
    assert work.pin(mine).pinned
    assert home.touch(mine)[mine].accesses == 1
    assert len(home.history(mine)) == 3
    assert work.remove(mine).removed and home.get(mine) is None
    assert not home.restore(mine).removed
    revised = home.revise(mine, text="I love herons and storks")
    assert revised.scope == "user"
    assert work.invalidate(revised.id, reason="no more").valid_until is not None
    assert {change.what for change in user.changes()} >= {"remember", "update", "pin", "touch", "remove", "restore"}
    assert [change for change in (*work.changes(), *home.changes()) if mine in change.ids] == []
    receipt = home.purge(mine)
    assert {*receipt.ids, *receipt.also} == {mine, revised.id}
    assert "herons" not in held(user) and len(work.recall("herons")) == 0


def test_one_id_in_two_banks_is_never_mistaken(opened: Opened) -> None:
    """A shared id finds the bank's own memory, and the user's through the user's bank."""
    work, user = opened("work"), opened("@me")
    work.remember("at work, in a session", id="hidden", scope="session", session="s")
    user.remember("of the user", id="hidden")
    assert work.get("hidden") is None, "a verb that changes it would find nothing, either"
    with pytest.raises(NotFoundError):
        work.update("hidden", text="changed")
    work.remember("at work", id="same")
    work.remember("of the user", id="same", scope="user")
    assert [memory.text for memory in work.history("same")] == ["at work"]
    assert {hit.memory.text for hit in work.recall("work user")} == {"at work", "of the user"}
    work.update("same", text="changed at work")
    assert [memory.text for memory in user.history("same")] == ["of the user"]
