"""Opening banks: the file of a name, what banks on one file share, and that every setting has its effect."""

import gc
import json
import os
import re
import sqlite3
import subprocess
import sys
import threading
import unicodedata
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.bank.door_effects import DOORS
from tests.bank.embedding_server import server
from tests.bank.fading_effects import FADES, OF_MNEMEX
from tests.bank.reading_effects import READING
from tests.bank.reranking_effects import RERANKING
from tests.bank.resting import rested
from tests.bank.test_embedding import letters, soon
from tests.bank.test_llm import asked, findings
from tests.capture.making import kept_and_dropped
from tests.contract.making import HandClock
from tests.learning.lessontelling import MIGRATED
from tests.learning.lessontelling import session as lived
from tests.models.llm_server import hangs, llm_server

import pieria
from pieria import Bank, Workspace
from pieria.errors import (
    AdapterError,
    BudgetError,
    ClosedError,
    ConfigError,
    ConflictError,
    InputError,
    PieriaError,
    PrivacyError,
    SessionError,
    StorageError,
    UnavailableError,
)
from pieria.models.mind import Said
from pieria.runtime.background import background
from pieria.sessions.log import UnfinishedSession
from pieria.settings import Settings
from pieria.workspace.folders import FileSpot
from pieria.workspace.open_stores import stores

INSTALLED = Path(sys.prefix) / "share" / "pieria" / "models"
KEY = "AKIA" + "QWERTYUIOPASDFGH"


def is_held(path: Path) -> bool:
    return stores.hold(FileSpot(path.stem, path))


def texts(bank: Bank) -> set[str]:
    return {memory.text for memory in bank.list(limit=100)}


# --- every setting has an effect: what each value changes


def seen_of_data(folder: Path, value: Any) -> object:
    pieria.open("b", settings={"data": folder / value}).close()
    return sorted(path.parent.name for path in folder.rglob("b.db"))


def seen_of_bank(folder: Path, value: Any) -> object:
    with pieria.open(data=folder, settings={"bank": value}) as bank:
        assert (folder / f"{value}.db").exists()
        return bank.name


def seen_of_session(folder: Path, value: Any) -> object:
    with pieria.open("b", data=folder, settings={"session": value}) as bank:
        bank.remember(f"said in {value}", scope="session")
    with pieria.open("b", data=folder, session="s1") as bank:
        return [(memory.text, memory.session) for memory in bank.list()]


def seen_of_channel(folder: Path, value: Any) -> object:
    with pieria.open("b", data=folder, session="first", settings={"channel": value}) as bank:
        bank.remember(f"said in {value}", scope="session")
    with pieria.open("b", data=folder, session="second", channel="c1") as bank:
        return [(memory.text, memory.channel) for memory in bank.list()]


def seen_of_author(folder: Path, value: Any) -> object:
    with pieria.open("b", data=folder, settings={"author": value}) as bank:
        return bank.remember("a word").author


def seen_of_author_type(folder: Path, value: Any) -> object:
    with pieria.open("b", data=folder, settings={"author_type": value}) as bank:
        return bank.remember("a word").author_type


def seen_of_durability(folder: Path, value: Any) -> object:
    with pieria.open("b", data=folder, settings={"durability": value}) as bank:
        return bank.core.store.describe()["synchronous"]


def seen_of_busy_seconds(folder: Path, value: Any) -> object:
    with (
        pieria.open("b", data=folder, settings={"busy_seconds": value}) as bank,
        bank.core.store.rehearsing() as connection,  # type: ignore[attr-defined]
    ):
        return connection.execute("PRAGMA busy_timeout").fetchone()[0]


def seen_of_seal_key(folder: Path, value: Any) -> object:
    if value is not None:
        (folder / value).touch(mode=0o600)
        (folder / value).write_text("ab" * 32 if value == "one" else "hunter2")
    try:
        with pieria.open("b", data=folder, settings={"seal_key": value and f"file:{folder / value}"}) as bank:
            return bank.core.store.describe()["sealed"]
    except StorageError as refused:
        return refused.code


def seen_of_secrets(folder: Path, value: Any) -> object:
    with pieria.open("b", data=folder, settings={"secrets": value}) as bank:
        try:
            return KEY in bank.remember(f"the key is {KEY} for now").text
        except PrivacyError:
            return "refused"


def seen_of_upkeep_fades(folder: Path, value: Any) -> object:
    with pieria.open("b", data=folder, settings={"upkeep_fades": value}) as bank:
        bank.remember_many([{"text": kind, "kind": kind} for kind in ("note", "drawer")])
        return [one.memory.kind for one in bank.upkeep.gc(threshold=1.0).faded]


def seen_of_count_uses(folder: Path, value: Any) -> object:
    with pieria.open("b", data=folder, settings={"count_uses": value}) as bank:
        kept = bank.remember("gardens and rivers")
        bank.recall("gardens")
        bank.sync()
        return bank.usage(kept.id)[kept.id].accesses


def seen_of_text_budget(folder: Path, value: Any) -> object:
    with pieria.open("b", data=folder, settings={"text_budget": value, "durability": "off"}) as bank:
        bank.remember_many({"text": f"gardens and rivers, number {n}"} for n in range(1_500))
        return bank.recall("gardens rivers").plan["arms"]["text"]["banks"]["b"]["cut"] != []


def seen_of_embedder(folder: Path, value: Any) -> object:
    with pieria.open("b", data=folder, settings={"embedder": value}) as bank:
        bank.remember_many([{"text": "a word"}])
        with bank.core.store.reading() as reader:
            space = reader.space()
            return None if space is None else space.dimension


def seen_of_embedder_threads(folder: Path, value: Any) -> object:
    """Return the number of threads that run the model, the caller included."""
    ask = (
        "import onnxruntime, os, pieria, sys\n"
        "told = {'embedder': 'local', 'models': sys.argv[2], 'embedder_threads': sys.argv[3]}\n"
        # A thread of ours lives on for a moment after Python has dropped it. So none may start.
        "from pieria.runtime.background import background; background.end()\n"
        "def threads(): return len(os.listdir('/proc/self/task'))\n"
        "with pieria.open('b', data=sys.argv[1], settings=told) as bank:\n"
        "    before = threads(); bank.remember_many([{'text': 'a word'}]); print(1 + threads() - before)"
    )
    command = [sys.executable, "-c", ask, str(folder), str(INSTALLED), str(value)]
    environment = {**os.environ, "PYTHONPATH": str(Path(pieria.__file__).parents[1]), "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def seen_of_embedder_url(folder: Path, value: Any) -> object:
    with server() as (address, requests):
        told = {"embedder": "server:m", "embedder_url": address + value}
        with pieria.open("b", data=folder, settings=told) as bank:
            bank.remember_many([{"text": "a word"}])
    return requests[0].path


def seen_of_embedder_key(folder: Path, value: Any) -> object:
    with server() as (address, requests):
        told = {"embedder": "server:m", "embedder_url": address, "embedder_key": value}
        with pieria.open("b", data=folder, settings=told) as bank:
            bank.remember_many([{"text": "a word"}])
            assert value not in json.dumps(bank.doctor().as_dict())
    return requests[0].key


def seen_of_llm(folder: Path, value: Any) -> object:
    if value == "none":
        with pieria.open("b", data=folder, settings={"llm": value}) as bank:
            assert bank.core.llm is None
            return findings(bank, "llm")
    return asked(folder, llm=value).body["model"]


def seen_of_llm_url(folder: Path, value: Any) -> object:
    return asked(folder, llm_url="{}" + value).path


def seen_of_llm_key(folder: Path, value: Any) -> object:
    return asked(folder, llm_key=value).headers["authorization"]


def seen_of_llm_seconds(folder: Path, value: Any) -> object:
    with llm_server(hangs) as serving:
        told = {"llm": "server:m", "llm_url": serving.address, "llm_seconds": value}
        with pieria.open("b", data=folder, settings=told) as bank:
            assert bank.core.llm is not None
            with pytest.raises(AdapterError) as caught:
                bank.core.llm.chat([{"role": "user", "content": "What colour?"}])
    return caught.value.reason


def seen_of_models(folder: Path, value: Any) -> object:
    with pieria.open("b", data=folder, settings={"embedder": "local", "models": folder / value}) as bank:
        [finding] = [finding for finding in bank.doctor().findings if finding.check == "embedder"]
        assert not finding.well
        return re.sub(r".*/(\w+)/all-MiniLM.*", r"\1", finding.detail)


def calls_allowed(folder: Path, **budgets: Any) -> int:
    """Return how many of three calls, of 100 tokens each, the budgets allow."""
    allowed = 0
    with pieria.open("b", data=folder, settings=budgets) as bank, suppress(BudgetError):
        while allowed < 3:
            bank.core.meter.allow("state", "test:model")
            bank.core.meter.note("state", "test:model", {"input_tokens": 100}, 0.0)
            allowed += 1
    return allowed


def seen_of_budget_tokens(folder: Path, value: Any) -> object:
    return calls_allowed(folder, budget_tokens_per_day=value)


def seen_of_budget_calls(folder: Path, value: Any) -> object:
    return calls_allowed(folder, budget_calls_per_day=value)


def seen_of_llm_steps(folder: Path, value: Any) -> object:
    with llm_server() as serving:
        told = {"llm": "server:m", "llm_url": serving.address, "llm_steps": value}
        with pieria.open("b", data=folder, settings=told) as bank:
            bank.mind.summarize([Said("Herons nest by the mill.")])
            bank.mind.plan("Where do herons nest?", "semantic")
    return [request.body["model"] for request in serving.requests]


def seen_of_accept_above(data: Path, value: Any) -> object:
    with pieria.open("b", data=data, settings={"accept_above": value}, via="person") as bank:
        bank.observe([*lived("s1", MIGRATED), *lived("s2", MIGRATED)])
        bank.distil("s1")
        [lesson] = bank.upkeep.propose().proposals
        return lesson.state


def seen_of_session_lease(folder: Path, value: Any) -> bool:
    """Return whether another process may take over a session after ten seconds without a sign of life."""
    clock = HandClock()
    with Workspace(folder, {"session_lease": value}, clock=clock) as workspace:
        workspace.open("b").sessions.log.begin(UnfinishedSession("session_1", "b", "Plan the trip"))
        clock.move(seconds=10)
        try:
            workspace.open("b").sessions.log.hold("session_1")
        except SessionError:
            return False
    return True


EFFECTS: dict[str, tuple[Callable[[Path, Any], object], dict[Any, object]]] = {
    "data": (seen_of_data, {"one": ["one"], "two": ["two"]}),
    "bank": (seen_of_bank, {"one": "one", "two": "two"}),
    "session": (seen_of_session, {"s1": [("said in s1", "s1")], "s2": []}),
    "channel": (seen_of_channel, {"c1": [("said in c1", "c1")], "c2": []}),
    "author": (seen_of_author, {"Maya": "Maya", "Jun": "Jun"}),
    "author_type": (seen_of_author_type, {"human": "human", "agent": "agent"}),
    "durability": (seen_of_durability, {"full": "full", "relaxed": "relaxed", "off": "off"}),
    "busy_seconds": (seen_of_busy_seconds, {5.0: 5_000, 60: 60_000}),
    "seal_key": (seen_of_seal_key, {None: False, "one": True, "two": "sealed"}),
    "secrets": (seen_of_secrets, {"flag": True, "redact": False, "refuse": "refused"}),
    "upkeep_fades": (seen_of_upkeep_fades, {"note": ["note"], "drawer": ["drawer"], "": []}),
    "count_uses": (seen_of_count_uses, {True: 1, False: 0}),
    "session_lease": (seen_of_session_lease, {5: True, 60: False}),
    "accept_above": (seen_of_accept_above, {0.5: "accepted", 0.8: "proposed"}),
    "capture": (kept_and_dropped, {True: (1, 0), False: (0, 1)}),
    "text_budget": (seen_of_text_budget, {100: True, 5_000: False}),
    "embedder": (seen_of_embedder, {"none": None, "hashing:64": 64, "hashing:128": 128, "auto": 384}),
    "embedder_threads": (seen_of_embedder_threads, {1: 1, 2: 2}),
    "embedder_url": (seen_of_embedder_url, {"/one": "/one/embeddings", "/two": "/two/embeddings"}),
    "embedder_key": (seen_of_embedder_key, {"hunter1": "Bearer hunter1", "hunter2": "Bearer hunter2"}),
    "llm": (seen_of_llm, {"none": ["none: Pieria calls no language model"], "server:a": "a", "ollama:b:8b": "b:8b"}),
    "llm_url": (seen_of_llm_url, {"/one": "/v1/one/chat/completions", "/two": "/v1/two/chat/completions"}),
    "llm_key": (seen_of_llm_key, {"hunter1": "Bearer hunter1", "hunter2": "Bearer hunter2"}),
    "llm_seconds": (
        seen_of_llm_seconds,
        {1: "no whole reply within 1 seconds", 1.25: "no whole reply within 1.25 seconds"},
    ),
    "llm_steps": (seen_of_llm_steps, {None: ["m", "m"], "summarize=a, retrieval=b:2": ["a", "b:2"]}),
    "budget_tokens_per_day": (seen_of_budget_tokens, {None: 3, 200: 2, 0: 0}),
    "budget_calls_per_day": (seen_of_budget_calls, {None: 3, 1: 1}),
    "models": (seen_of_models, {"one": "one", "two": "two"}),
    **DOORS,
    **FADES,
    **READING,
    **RERANKING,
}
OF_A_SERVER = {"user", "connections", "row_security", "local"}


@pytest.mark.parametrize(
    ("setting", "value"), [(name, value) for name, (_, outcomes) in EFFECTS.items() for value in outcomes]
)
def test_a_setting_has_its_effect(setting: str, value: Any, tmp_path: Path) -> None:
    seen, outcomes = EFFECTS[setting]
    assert seen(tmp_path, value) == outcomes[value]


def test_every_setting_is_shown_to_have_an_effect() -> None:
    """Other tests show the settings that have an effect on a server or in a toolset alone."""
    assert set(Settings.model_fields) - set(EFFECTS) == OF_A_SERVER | OF_MNEMEX
    assert [name for name, (_, outcomes) in EFFECTS.items() if len(set(map(repr, outcomes.values()))) < 2] == []


# --- which bank, which file


def test_a_bank_is_one_file_that_others_cannot_read(tmp_path: Path) -> None:
    with pieria.open("notes", data=tmp_path / "new") as bank:
        bank.remember("a word")
        assert (tmp_path / "new" / "notes.db").stat().st_mode & 0o077 == 0
        assert (tmp_path / "new").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("name", ["../x", "a/b", "", "a\0", "dot.", "@you", "con", 7])
def test_a_name_that_cannot_be_a_banks_is_refused_and_nothing_made(name: Any, tmp_path: Path) -> None:
    data = tmp_path / "data"
    for refused in (
        lambda: pieria.open(name, data=data),
        lambda: Workspace(data).open(name),
        lambda: pieria.restore("some.backup", data, name=name),
    ):
        with pytest.raises(InputError) as caught:
            refused()
        assert caught.value.parameter == "name"
    assert list(tmp_path.iterdir()) == []


def test_names_that_differ_in_case_are_one_bank(tmp_path: Path) -> None:
    with pieria.open("Notes", data=tmp_path) as bank:
        bank.remember("a word")
    with pieria.open("nOTES", data=tmp_path) as bank:
        assert (bank.name, texts(bank)) == ("Notes", {"a word"})
    assert Workspace(tmp_path).banks() == ["Notes"]


def test_two_files_that_differ_in_case_are_each_found_by_their_name(tmp_path: Path) -> None:
    for name in ("Notes", "other"):
        with pieria.open(name, data=tmp_path) as bank:
            bank.remember(name)
    (tmp_path / "other.db").rename(tmp_path / "notes.db")
    if len(list(tmp_path.glob("*.db"))) == 2:
        for name, text in (("Notes", "Notes"), ("notes", "other")):
            with pieria.open(name, data=tmp_path) as bank:
                assert texts(bank) == {text}


def test_a_file_whose_accents_are_spelt_apart_is_found(tmp_path: Path) -> None:
    with pieria.open("Größe", data=tmp_path) as bank:
        bank.remember("a word")
    (tmp_path / "Größe.db").rename(tmp_path / unicodedata.normalize("NFD", "Größe.db"))
    with pieria.open("größe", data=tmp_path) as bank:
        assert (bank.name, texts(bank)) == ("Größe", {"a word"})


def test_banks_are_listed_without_the_users_own_and_other_files(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "data")
    assert workspace.banks() == []
    for name in ("b", "a", "@me"):
        workspace.open(name).close()
    (tmp_path / "data" / "pieria.toml").write_text("")
    (tmp_path / "data" / "a.before-schema-2.backup").write_text("")
    (tmp_path / "data" / ".hidden.db").write_text("")
    assert workspace.banks() == ["a", "b"]


def test_a_data_folder_that_cannot_be_one_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="data"):
        pieria.open("notes", data=tmp_path / "file")
    with pytest.raises(StorageError):
        pieria.open("notes", data=tmp_path / "file" / "below")


# --- what is given


def test_what_is_given_counts_before_the_settings(tmp_path: Path) -> None:
    given: dict[str, Any] = {"author": "Maya", "author_type": "human", "session": "s1", "channel": "c1"}
    with pieria.open("b", data=tmp_path, settings={"author": "Jun", "session": "s0"}, **given) as bank:
        memory = bank.remember("a word")
    assert {name: getattr(memory, name) for name in given} == given
    with Workspace(tmp_path, {"author": "Jun", "session": "s0"}) as workspace:
        memory = workspace.open("b", **given).remember("a word")
        assert {name: getattr(memory, name) for name in given} == given
        memory = workspace.open("b").remember("a word")
        assert (memory.author, memory.session) == ("Jun", "s0")


def test_data_given_by_itself_counts_before_the_settings(tmp_path: Path) -> None:
    assert Workspace(tmp_path / "one", {"data": tmp_path / "two"}).data == tmp_path / "one"


def test_who_is_noted_in_the_journal(tmp_path: Path) -> None:
    with pieria.open("b", data=tmp_path, who="gardener") as bank:
        bank.remember("a word")
        assert [change.who for change in bank.changes()] == ["gardener"]


def test_the_clock_is_handed_down(tmp_path: Path) -> None:
    now = datetime(2031, 5, 6, 7, 8, 9, tzinfo=UTC)
    with pieria.open("b", data=tmp_path, clock=lambda: now) as bank:
        memory = bank.remember("a word")
        assert (memory.at, memory.known_from) == (now, now)


def test_the_settings_and_their_origins_are_handed_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIERIA_SECRETS", "redact")
    pieria.open("Notes", data=tmp_path).close()
    with pieria.open("notes", data=tmp_path, session="s1") as bank:
        told = bank.doctor().settings
    assert set(told) == set(Settings.model_fields)
    assert told["secrets"] == ("redact", "environment PIERIA_SECRETS")
    assert told["session"] == ("s1", "argument")
    assert told["bank"] == ("Notes", "argument")
    assert told["text_budget"] == (5_000, "default")


@pytest.mark.parametrize(
    ("values", "error"),
    [
        ({"settings": {"secret": "flag"}}, InputError),
        ({"settings": ["secrets"]}, InputError),
        ({"settings": {"secrets": "hide"}}, InputError),
        ({"clock": "noon"}, InputError),
        ({"who": " "}, InputError),
        ({"session": "a\0"}, InputError),
        ({"author_type": "robot"}, InputError),
        ({"data": "mysql://db/notes"}, UnavailableError),
    ],
)
def test_what_cannot_be_right_is_refused_and_nothing_made(
    values: dict[str, Any], error: type[PieriaError], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIERIA_DATA", str(tmp_path / "data"))
    with pytest.raises(error):
        pieria.open("notes", **values)
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_settings_file_stops_the_opening(tmp_path: Path) -> None:
    (tmp_path / "pieria.toml").write_text("bnak = 1\n")
    with pytest.raises(ConfigError, match="bnak"):
        pieria.open("notes", data=tmp_path)
    assert not (tmp_path / "notes.db").exists()


# --- sharing and closing


def test_banks_on_one_file_share_a_store_until_the_last_is_closed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "data")
    path = tmp_path / "data" / "notes.db"
    one, two = pieria.open("notes", data=tmp_path / "data"), pieria.open("notes", data=tmp_path / "link")
    assert one.core.store is two.core.store
    one.close()
    one.close()
    assert is_held(path)
    two.remember("a word")
    two.close()
    assert not is_held(path)
    assert not path.with_name("notes.db-wal").exists()
    with pieria.open("notes", data=tmp_path / "data") as bank:
        assert texts(bank) == {"a word"}


def test_banks_under_other_settings_have_a_store_of_their_own(tmp_path: Path) -> None:
    with pieria.open("b", data=tmp_path) as full:
        with pieria.open("b", data=tmp_path, settings={"durability": "relaxed"}) as relaxed:
            assert relaxed.core.store is not full.core.store
            relaxed.remember("a word")
            assert texts(full) == {"a word"}
        full.remember("another word")


def test_a_closed_bank_says_so(tmp_path: Path) -> None:
    bank = pieria.open("notes", data=tmp_path)
    bank.close()
    with pytest.raises(ClosedError):
        bank.remember("a word")


def test_a_workspace_closes_its_banks_and_opens_no_more(tmp_path: Path) -> None:
    with Workspace(tmp_path) as workspace:
        one, two = workspace.open("one"), workspace.open("two")
        two.close()
    workspace.close()
    for bank in (one, two):
        with pytest.raises(ClosedError):
            bank.remember("a word")
    with pytest.raises(ClosedError, match="workspace is closed"):
        workspace.open("one")
    assert not is_held(tmp_path / "one.db")


def test_a_workspace_that_is_closed_during_an_opening_opens_nothing(tmp_path: Path) -> None:
    def clock() -> datetime:
        workspace.close()
        return datetime(2031, 1, 1, tzinfo=UTC)

    workspace = Workspace(tmp_path, clock=clock)
    with pytest.raises(ClosedError, match="workspace is closed"):
        workspace.open("notes")
    assert not is_held(tmp_path / "notes.db")


def test_two_openings_at_once_share_a_store(tmp_path: Path) -> None:
    during: list[Bank] = []
    asked: list[bool] = []

    def clock() -> datetime:
        if not asked:
            asked.append(True)
            during.append(workspace.open("notes"))
        return datetime(2031, 1, 1, tzinfo=UTC)

    with Workspace(tmp_path, clock=clock) as workspace:
        bank = workspace.open("notes")
        assert during[0].core.store is bank.core.store
        during[0].close()
        bank.remember("a word")
    assert not is_held(tmp_path / "notes.db")


def test_a_bank_that_is_closed_lets_go_of_the_users(tmp_path: Path) -> None:
    with Workspace(tmp_path) as workspace:
        bank = workspace.open("notes")
        bank.remember("of the user", scope="user")
        assert is_held(tmp_path / "@me.db")
        bank.close()
        assert not is_held(tmp_path / "@me.db")


def test_a_bank_that_is_dropped_gives_its_store_back(tmp_path: Path) -> None:
    bank = pieria.open("notes", data=tmp_path)
    bank.remember("about the user", scope="user")
    assert is_held(tmp_path / "notes.db") and is_held(tmp_path / "@me.db")
    del bank
    gc.collect()
    soon(lambda: not is_held(tmp_path / "notes.db") and not is_held(tmp_path / "@me.db"))


def test_whoever_finds_that_a_bank_was_dropped_waits_for_nothing(tmp_path: Path) -> None:
    """Garbage collection can run anywhere: here, under the lock that the background thread needs."""
    workspace = Workspace(tmp_path, embedder=letters)
    bank = workspace.open("notes")
    bank.remember_many([{"text": "a word"}])
    bank.remember("another")
    with background._changed:
        del bank
        gc.collect()
        assert is_held(tmp_path / "notes.db")
    soon(lambda: not is_held(tmp_path / "notes.db"))


def test_a_thread_that_starts_may_find_that_a_bank_was_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The starting thread waits for the new one, so it must hold no lock that the new one needs."""
    rested()
    begin = threading.Thread.start
    free: list[bool] = []

    def found() -> None:
        free.append(background._changed.acquire(timeout=5))
        if free[-1]:
            background._changed.release()

    def start(thread: threading.Thread) -> None:
        if thread.name == "pieria-background":
            other = threading.Thread(target=found)
            begin(other)
            other.join()
        begin(thread)

    monkeypatch.setattr(threading.Thread, "start", start)
    with Workspace(tmp_path, embedder=letters) as workspace:
        workspace.open("notes").remember("a word")
        soon(lambda: bool(free))
    assert free and all(free)


def test_a_bank_that_is_dropped_as_the_process_ends_is_closed(tmp_path: Path) -> None:
    code = (
        "import gc, sys, pieria\n"
        "bank = pieria.open('notes', data=sys.argv[1])\n"
        "bank.core.uses.note([bank.remember('a word', id='word').id])\n"
        "del bank\n"
        "gc.collect()\n"
    )
    source = str(Path(pieria.__file__).parents[1])
    command = [sys.executable, "-c", code, str(tmp_path)]
    subprocess.run(command, env={**os.environ, "PYTHONPATH": source}, timeout=60, check=True)
    assert not (tmp_path / "notes.db-wal").exists()
    with pieria.open("notes", data=tmp_path) as bank:
        assert bank.usage("word")["word"].accesses == 1


def test_a_bank_that_cannot_be_opened_holds_nothing(tmp_path: Path) -> None:
    (tmp_path / "notes.db").write_text("this is a letter and no database, " * 100)
    with pytest.raises(StorageError):
        pieria.open("notes", data=tmp_path)
    assert not is_held(tmp_path / "notes.db")
    pieria.open("torn", data=tmp_path).close()
    with closing(sqlite3.connect(tmp_path / "torn.db")) as connection:
        connection.execute("DROP TABLE counter")
    with pytest.raises(StorageError):
        pieria.open("torn", data=tmp_path)
    assert not is_held(tmp_path / "torn.db")


def test_a_file_that_was_replaced_under_an_open_bank_is_opened_anew(tmp_path: Path) -> None:
    with pieria.open("notes", data=tmp_path) as before:
        before.remember("before")
        for path in tmp_path.iterdir():
            path.unlink()
        with pieria.open("notes", data=tmp_path) as after:
            after.remember("after")
        before.close()
        with pieria.open("notes", data=tmp_path) as bank:
            assert texts(bank) == {"after"}


def test_threads_may_open_and_close_one_bank(tmp_path: Path) -> None:
    start = threading.Barrier(8)

    def work(number: int) -> None:
        start.wait()
        for step in range(5):
            with pieria.open("notes", data=tmp_path, settings={"durability": "off"}) as bank:
                bank.remember(f"word {number} {step}", scope="user" if step % 2 else "bank")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert not is_held(tmp_path / "notes.db")
    assert not is_held(tmp_path / "@me.db")
    for name, steps in (("notes", (0, 2, 4)), ("@me", (1, 3))):
        with pieria.open(name, data=tmp_path) as bank:
            assert texts(bank) == {f"word {number} {step}" for number in range(8) for step in steps}


def test_a_bank_is_closed_at_the_end_of_the_program(tmp_path: Path) -> None:
    code = "import pieria; pieria.open('notes').remember('a word')"
    subprocess.run(
        [sys.executable, "-W", "error", "-c", code], check=True, env={**os.environ, "PIERIA_DATA": str(tmp_path)}
    )
    assert {path.name for path in tmp_path.iterdir()} == {"notes.db", "notes.db-turn"}


FORK = """
import os, sys, pieria
bank = pieria.open("notes")
bank.remember("by the parent", scope="user")
dropped = pieria.open("dropped")
child = os.fork()
if child == 0:
    del dropped
    with pieria.open("notes") as own:
        own.remember("by the child", scope="user")
    with bank:
        sys.exit("as any other")
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
assert status == 1, status
bank.remember("by the parent, later")
dropped.remember("still open")
memories = [*bank.list(), *pieria.open("@me").list()]
print(*sorted(memory.text for memory in memories), sep="|")
"""


def test_a_forked_child_ends_as_any_other_process(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORK],
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
        env={**os.environ, "PIERIA_DATA": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == "as any other\n"
    assert done.stdout.strip() == "by the child|by the parent|by the parent, later"


# --- the user's bank


def test_the_users_bank_is_made_only_when_something_is_the_users(tmp_path: Path) -> None:
    with pieria.open("notes", data=tmp_path) as bank:
        bank.remember("of the project")
        bank.recall("project")
        assert not (tmp_path / "@me.db").exists()
        bank.remember("of the user", scope="user")
        assert (tmp_path / "@me.db").exists()
    with pieria.open("other", data=tmp_path) as other:
        assert [hit.memory.text for hit in other.recall("user project")] == ["of the user"]
    assert not is_held(tmp_path / "@me.db")


def test_the_users_bank_has_the_same_speaker(tmp_path: Path) -> None:
    now = [datetime(2031, 1, 1, tzinfo=UTC)]
    values: dict[str, Any] = {"author": "Maya", "session": "s1", "who": "gardener"}
    with pieria.open("notes", data=tmp_path, clock=lambda: now[0], **values) as bank:
        now[0] += timedelta(days=1)
        memory = bank.remember("of the user", scope="user")
    assert (memory.author, memory.session, memory.at) == ("Maya", "s1", now[0])
    with pieria.open("@me", data=tmp_path) as own:
        assert [change.who for change in own.changes()] == ["gardener"]
        assert texts(own) == {"of the user"}


def test_the_users_bank_seen_first_by_another_process_is_found(tmp_path: Path) -> None:
    with pieria.open("notes", data=tmp_path) as bank:
        assert list(bank.recall("user")) == []
        with pieria.open("@me", data=tmp_path) as own:
            own.remember("of the user", scope="user")
        assert [hit.memory.text for hit in bank.recall("user")] == ["of the user"]


# --- backups


def test_a_backup_is_brought_back_under_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pieria.open("notes", data=tmp_path / "data") as bank:
        bank.remember("before")
        backup = bank.backup(tmp_path / "kept.backup")
        bank.remember("after")
    report = pieria.restore(str(backup), tmp_path / "elsewhere", name="again")
    assert report.bank == "again"
    with pieria.open("again", data=tmp_path / "elsewhere") as bank:
        assert texts(bank) == {"before"}
    monkeypatch.setenv("PIERIA_BANK", "chosen")
    assert pieria.restore(backup, tmp_path / "elsewhere").bank == "chosen"


def test_a_bank_in_the_way_is_replaced_only_when_asked_and_closed(tmp_path: Path) -> None:
    with pieria.open("notes", data=tmp_path) as bank:
        bank.remember("before")
        backup = bank.backup(tmp_path / "kept.backup")
        bank.remember("after")
        with pytest.raises(ConflictError, match="open in this process"):
            pieria.restore(backup, tmp_path, name="NOTES", replace=True)
    with pytest.raises(ConflictError, match="exists already"):
        pieria.restore(backup, tmp_path, name="NOTES")
    pieria.restore(backup, tmp_path, name="NOTES", replace=True)
    with pieria.open("notes", data=tmp_path) as bank:
        assert texts(bank) == {"before"}
    assert Workspace(tmp_path).banks() == ["notes"]


@pytest.mark.parametrize(("file", "values"), [("", {}), (7, {}), ("a\0b", {}), ("x.backup", {"replace": "yes"})])
def test_a_restore_that_cannot_be_right_is_refused(file: Any, values: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(InputError):
        pieria.restore(file, tmp_path / "data", name="notes", **values)
    assert list(tmp_path.iterdir()) == []
