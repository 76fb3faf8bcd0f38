"""Recall at its limits: little time, few tokens, failing models and odd questions."""

import math
import shutil
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.bank.embedding_server import Requests, server, vector
from tests.bank.resting import rested

import pieria
from pieria import telemetry
from pieria.bank import Bank
from pieria.errors import InputError
from pieria.models import EmbeddingResponse
from pieria.recall.answer import Recall
from pieria.recall.arms import ARMS
from pieria.recall.candidates import LATE
from pieria.recall.search import tokens_of

INSTALLED = Path(sys.prefix) / "share" / "pieria" / "models"
SOON = 20.0
FOR_EVER = 100.0
"""Seconds that a held model waits. Longer than a test may take."""
QUICK = {"durability": "off"}
BY_VECTOR = {"dense", "window"}
TEXTS = ("The heron nests by the mill.", "A stork left in May.", "Cranes came late, and the heron with them.")


def letters(texts: list[str]) -> list[list[float]]:
    return [vector(text) for text in texts]


class Held:
    """An embedding that can be held, and counts its calls."""

    def __init__(self) -> None:
        self.may_go = threading.Event()
        self.may_go.set()
        self.asked = 0

    def embed(self, text: str, opts: Mapping[str, Any] | None = None) -> EmbeddingResponse:
        return self.embed_batch([text])

    def embed_batch(self, texts: Sequence[str], opts: Mapping[str, Any] | None = None) -> EmbeddingResponse:
        self.asked += 1
        assert self.may_go.wait(FOR_EVER)
        return EmbeddingResponse(letters(list(texts)), "held")


@pytest.fixture
def held() -> Iterator[Held]:
    held = Held()
    yield held
    held.may_go.set()


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[..., Bank]]:
    """Return a function that opens one bank with an embedder, as often as called."""
    workspaces: list[pieria.Workspace] = []

    def open(embedding: object = letters, **settings: Any) -> Bank:
        workspaces.append(pieria.Workspace(data=tmp_path, settings={**QUICK, **settings}, embedder=embedding))
        return workspaces[-1].open("notes")

    yield open
    for workspace in workspaces:
        workspace.close()


@pytest.fixture
def bank(opened: Callable[..., Bank]) -> Bank:
    return filled(opened())


def filled(bank: Bank) -> Bank:
    bank.remember_many([{"text": text, "id": f"m{n}"} for n, text in enumerate(TEXTS)])
    assert bank.sync(SOON)
    return bank


def ids(found: Recall) -> list[str]:
    return [hit.memory.id for hit in found]


def check_by_words(found: Recall, reason: str) -> None:
    """Check that the answer uses words alone and that the plan gives the reason."""
    assert set(ids(found)) == {"m0", "m2"}
    assert found.plan["left_out"].keys() >= BY_VECTOR
    assert all(reason in found.plan["left_out"][arm] for arm in BY_VECTOR)
    assert not BY_VECTOR & found.plan["arms"].keys()
    assert not any(BY_VECTOR & hit.why.keys() for hit in found)
    assert "lexical" in found[0].why
    assert found.confidence > 0


# --- time


def test_a_question_that_is_not_embedded_in_time_is_answered_by_words(
    bank: Bank, opened: Any, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The held model never answers, so any answer shows that recall does not wait."""
    # The time left for everything else is more than any machine takes.
    monkeypatch.setattr("pieria.bank.read.answer.QUESTION_SHARE", 0.05)
    slow = opened(held)
    slow.use_embedder()
    assert slow.sync(SOON)
    assert slow.recall("heron").plan["arms"].keys() >= BY_VECTOR
    held.may_go.clear()
    asked = held.asked
    found = slow.recall("heron", deadline_ms=20_000)
    assert held.asked == asked + 1
    check_by_words(found, "did not embed the question within")
    assert set(found.plan["left_out"]) == BY_VECTOR
    assert found.plan["embedding"]["ms"] >= 500


def test_without_a_deadline_nobody_waits_for_ever_either(
    bank: Bank, opened: Any, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pieria.bank.read.answer.QUESTION_SECONDS", 0.2)
    slow = opened(held)
    slow.use_embedder()
    assert slow.sync(SOON)
    held.may_go.clear()
    check_by_words(slow.recall("heron"), "did not embed the question within 0.2 s")


def test_nobody_waits_for_what_was_just_written_to_be_embedded(bank: Bank, opened: Any, held: Held) -> None:
    slow = opened(held)
    slow.use_embedder()
    assert slow.sync(SOON)
    held.may_go.clear()
    slow.remember("Another heron.", id="new")
    found = slow.recall("heron", deadline_ms=2_000)
    assert set(ids(found)) == {"m0", "m2", "new"}
    assert found.plan["embedding"]["pending"] > 0
    held.may_go.set()
    assert slow.sync(SOON)
    again = slow.recall("heron")
    assert again.plan["embedding"]["pending"] == 0
    assert "dense" in {id: hit.why for id, hit in zip(ids(again), again, strict=True)}["new"]


@pytest.mark.parametrize("elsewhere", [False, True])
def test_whoever_writes_to_the_bank_holds_up_no_answer(tmp_path: Path, elsewhere: bool) -> None:
    """If pending rows cannot be embedded in time, they stay pending and the plan says so."""
    settings: dict[str, Any] = {**QUICK, "embedder": "hashing"}
    with pieria.open("notes", data=tmp_path, settings=settings) as bank, ExitStack() as stack:
        bank.remember_many([{"text": text} for text in TEXTS])
        other = stack.enter_context(pieria.open("notes", data=tmp_path, settings={**QUICK, "embedder": "none"}))
        rested()
        other.remember("Another heron.", id="new")
        answers: list[Any] = []
        asking = threading.Thread(target=lambda: answers.append(bank.recall("heron", deadline_ms=400)), daemon=True)
        with (other if elsewhere else bank).core.store.writing():
            asking.start()
            asking.join(SOON / 2)
            assert not asking.is_alive()
        assert answers[0].plan["embedding"]["pending"] == 1
        assert "new" in ids(answers[0])
        assert bank.sync(SOON)
        assert bank.recall("heron").plan["embedding"]["pending"] == 0


def test_what_is_not_begun_in_time_is_left_out(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use a clock that jumps ahead after the second arm."""
    begun: list[str] = []

    def leaping() -> float:
        return 1_000.0 if len(begun) >= 2 else 0.0

    for name, arm in ARMS.items():

        def noting(look: Any, part: Any, name: str = name, look_up: Any = arm.look) -> Any:
            begun.append(name)
            return look_up(look, part)

        monkeypatch.setitem(ARMS, name, arm._replace(look=noting))
    for module in ("bank.read.recall", "bank.read.answer", "recall.candidates", "recall.page", "runtime.effort"):
        monkeypatch.setattr(f"pieria.{module}.perf_counter", leaping)
    heard: list[tuple[Mapping[str, Any], Mapping[str, Any]]] = []
    detach = telemetry.attach(lambda event, *told: heard.append(told) if event[1] == "recall" else None)
    found = bank.recall("heron", deadline_ms=60_000)
    detach()
    [(measured, about)] = heard
    listed = telemetry.POINTS["recall.answered"]
    assert (set(measured), set(about)) == (set(listed.measurements), set(listed.metadata))
    assert about["late"] == list(found.plan["left_out"]) and about["left_out"] == []
    assert about["arms"] == {name: (arm["candidates"], arm["ms"]) for name, arm in found.plan["arms"].items()}
    assert "heron" not in repr(heard)
    assert begun == ["text", "dense"]
    assert set(found.plan["arms"]) == {"text", "dense"}
    assert found.plan["left_out"] == {name: LATE for name in ARMS if name not in begun}
    assert set(ids(found)) == {"m0", "m1", "m2"}
    assert "window" not in found.plan["arms"]


@pytest.mark.parametrize("deadline", [1, 600_000])
def test_any_deadline_brings_an_answer(bank: Bank, deadline: int) -> None:
    found = bank.recall("heron", deadline_ms=deadline)
    assert {"m0", "m2"} <= set(ids(found))
    assert set(found.plan["left_out"]) | set(found.plan["arms"]) == set(ARMS)


@pytest.mark.parametrize("deadline", [0, -1, 600_001, 1.5, "1", True, math.nan])
def test_a_deadline_has_its_bounds(bank: Bank, deadline: Any) -> None:
    with pytest.raises(InputError, match="deadline_ms"):
        bank.recall("heron", deadline_ms=deadline)


# --- models that fail


def served(opened: Callable[..., Bank], address: str) -> Bank:
    return opened(None, embedder="server:m", embedder_url=address)


def test_an_endpoint_that_is_down_leaves_words(opened: Callable[..., Bank]) -> None:
    with server() as (address, _):
        bank = filled(served(opened, address))
        assert bank.recall("heron").plan["arms"].keys() >= BY_VECTOR
    check_by_words(bank.recall("heron"), "openai:m.embed")


def test_an_endpoint_that_answers_with_an_error_leaves_words(opened: Callable[..., Bank]) -> None:
    with server() as (address, requests):
        bank = filled(served(opened, address))
        requests.failing.set()
        check_by_words(bank.recall("heron"), "out of order")
        requests.failing.clear()
        assert bank.recall("heron").plan["arms"].keys() >= BY_VECTOR


def test_an_endpoint_that_is_slow_leaves_words_and_what_is_pending(opened: Callable[..., Bank]) -> None:
    with server() as (address, requests):
        bank = filled(served(opened, address))
        requests.held.set()
        check_by_words(bank.recall("heron", deadline_ms=1_000), "did not embed the question within")
        bank.remember("A late heron.", id="late")
        found = bank.recall("heron", deadline_ms=1_000)
        assert set(ids(found)) == {"m0", "m2", "late"}
        assert found.plan["embedding"]["pending"] > 0
        requests.held.clear()
        requests.let_go.set()
        assert bank.sync(SOON)
        assert "dense" in bank.recall("A late heron.", k=1)[0].why


@pytest.mark.parametrize("dimension", [5, 1])
def test_an_endpoint_with_another_model_behind_its_name_leaves_words(
    opened: Callable[..., Bank], dimension: int
) -> None:
    requests = Requests()
    with server(requests) as (address, _):
        bank = filled(served(opened, address))
        requests.dimension = dimension
        check_by_words(bank.recall("heron"), f"expected 9 dimensions, got {dimension}")
        anew = served(opened, address)
        check_by_words(anew.recall("heron"), f"got {dimension}")
        check_by_words(anew.recall("heron"), "")
        assert anew.remember("A heron more.").id in ids(anew.recall("heron"))


def test_an_endpoint_that_answers_nonsense_leaves_words(opened: Callable[..., Bank]) -> None:
    requests = Requests()
    with server(requests) as (address, _):
        bank = filled(served(opened, address))
        requests.dimension = 0
        check_by_words(bank.recall("heron"), "openai:m.embed")


def test_a_function_that_breaks_leaves_words(opened: Callable[..., Bank]) -> None:
    broken: list[bool] = []

    def breaking(texts: list[str]) -> list[list[float]]:
        if broken:
            raise RuntimeError("no more memory")
        return letters(texts)

    bank = filled(opened(breaking))
    broken.append(True)
    check_by_words(bank.recall("heron"), "RuntimeError")


def test_without_an_embedder_words_answer(opened: Callable[..., Bank], bank: Bank) -> None:
    found = opened("none").recall("heron")
    check_by_words(found, "no embedder is set")
    assert found.plan["embedding"]["note"] == "no embedder is set"


def test_vectors_of_another_model_are_not_compared(opened: Callable[..., Bank], bank: Bank) -> None:
    def shorter(texts: list[str]) -> list[list[float]]:
        return [vector(text)[:4] for text in texts]

    found = opened(shorter).recall("heron")
    check_by_words(found, "this process embeds with")
    assert "this process embeds with" in found.plan["embedding"]["note"]


def a_folder(tmp_path: Path, spoilt: str | None, spoil: Callable[[bytes], bytes]) -> Path:
    """Copy the installed model, with one file spoilt."""
    folder = tmp_path / "models"
    for path in INSTALLED.rglob("*"):
        there = folder / path.relative_to(INSTALLED)
        if path.is_dir():
            there.mkdir(parents=True)
        elif path.name == spoilt:
            there.write_bytes(spoil(path.read_bytes()))
        else:
            shutil.copy(path, there)
    return folder


@pytest.mark.parametrize(
    ("spoilt", "spoil"),
    [
        pytest.param("tokenizer.json", lambda data: data[:-1], id="shorter tokenizer"),
        pytest.param("tokenizer.json", lambda data: b" " * len(data), id="empty tokenizer of the same size"),
        pytest.param("model.safetensors", lambda data: data[:100], id="shorter weights"),
        pytest.param("config.json", lambda data: b"{" * len(data), id="config that is none"),
    ],
)
def test_a_damaged_model_leaves_words(
    tmp_path: Path, opened: Callable[..., Bank], spoilt: str, spoil: Callable[[bytes], bytes]
) -> None:
    whole = filled(opened("local", models=INSTALLED))
    assert whole.recall("heron").plan["arms"].keys() >= BY_VECTOR
    damaged = opened("local", models=a_folder(tmp_path, spoilt, spoil))
    for _ in range(2):
        check_by_words(damaged.recall("heron"), "")
    damaged.remember("One more heron.", id="more")
    found = damaged.recall("heron")
    assert "more" in ids(found)
    # The background or this recall may meet the damage first.
    assert "again" in found.plan["embedding"].get("note", "") or spoilt in str(found.plan["left_out"])


def test_a_model_that_is_gone_leaves_words(tmp_path: Path, opened: Callable[..., Bank]) -> None:
    filled(opened("local", models=INSTALLED))
    gone = opened("local", models=tmp_path / "nowhere")
    found = gone.recall("heron")
    check_by_words(found, "all-MiniLM-L6-v2")
    assert "all-MiniLM-L6-v2" in found.plan["embedding"]["note"]
    a_folder(tmp_path, None, bytes)
    shutil.move(tmp_path / "models", tmp_path / "nowhere")
    assert gone.recall("heron").plan["left_out"] == {}


# --- tokens


def many(bank: Bank, number: int = 60) -> Bank:
    texts = (f"The heron, number {n}, {'and on ' * (n % 7)}by the mill." for n in range(number))
    bank.remember_many([{"text": text, "id": f"n{n}"} for n, text in enumerate(texts)])
    assert bank.sync(SOON)
    return bank


@pytest.mark.parametrize("budget", [40, 100, 1_000])
@pytest.mark.parametrize("k", [5, 25])
def test_pages_of_few_tokens_are_complete_and_repeat_nothing(opened: Any, budget: int, k: int) -> None:
    bank = many(opened())
    page = bank.recall("heron mill", k=k, budget_tokens=budget)
    found: list[str] = []
    while True:
        assert sum(tokens_of(hit.memory) for hit in page) <= budget
        assert 0 < len(page) <= k
        cut = page.plan["truncated"].get("tokens")
        if cut is not None:
            assert cut["budget"] == budget
            assert cut["left_out"] > 0
            assert sum(tokens_of(hit.memory) for hit in page) + cut["next"] > budget
        assert (cut is not None) == (len(page) < k and page.cursor is not None)
        found += ids(page)
        if page.cursor is None:
            break
        page = bank.recall("heron mill", k=k, budget_tokens=budget, cursor=page.cursor)
    assert sorted(found) == sorted(f"n{n}" for n in range(60))
    assert set(found[:k]) >= set(ids(bank.recall("heron mill", k=k))[: min(k, 2)])


def test_what_fits_is_what_comes_first(opened: Any) -> None:
    bank = many(opened())
    whole = ids(bank.recall("heron mill", k=30))
    few = ids(bank.recall("heron mill", k=30, budget_tokens=90))
    assert 0 < len(few) < 30
    assert few == whole[: len(few)]


def test_where_nothing_fits_nothing_is_shown_and_nothing_is_lost(opened: Any) -> None:
    bank = many(opened())
    none = bank.recall("heron mill", k=5, budget_tokens=1)
    assert len(none) == 0
    assert none.plan["truncated"]["tokens"]["left_out"] == 5
    needed = none.plan["truncated"]["tokens"]["next"]
    assert none.cursor is not None
    still = bank.recall("heron mill", k=5, budget_tokens=needed - 1, cursor=none.cursor)
    assert len(still) == 0
    first = bank.recall("heron mill", k=5, budget_tokens=needed, cursor=still.cursor)
    assert ids(first) == ids(bank.recall("heron mill", k=1))
    rest = bank.recall("heron mill", k=5, cursor=first.cursor)
    assert [*ids(first), *ids(rest)] == ids(bank.recall("heron mill", k=6))


@pytest.mark.parametrize("budget", [0, -5, 10_000_001, 2.0, "9", False])
def test_tokens_have_their_bounds(bank: Bank, budget: Any) -> None:
    with pytest.raises(InputError, match="budget_tokens"):
        bank.recall("heron", budget_tokens=budget)


# --- numbers


def test_as_many_as_may_be_asked_for(opened: Any) -> None:
    bank = many(opened(), 300)
    found = bank.recall("heron", k=10_000)
    assert set(ids(found)) == {f"n{n}" for n in range(300)}
    assert found.cursor is None


@pytest.mark.parametrize("k", [0, -1, 10_001, 10**9, 2.5, "3", None, True])
def test_k_has_its_bounds_with_vectors_too(bank: Bank, k: Any) -> None:
    with pytest.raises(InputError) as caught:
        bank.recall("heron", k=k)
    assert caught.value.parameter == "k"


# --- questions


@pytest.mark.parametrize("question", ["", " ", "\n\t  \u3000"])
def test_an_empty_question_finds_nothing_and_asks_no_model(opened: Any, held: Held, question: str) -> None:
    bank = filled(opened(held))
    asked = held.asked
    found = bank.recall(question)
    assert (len(found), found.cursor, found.confidence) == (0, None, 0.0)
    assert found.plan["left_out"].keys() >= BY_VECTOR
    assert held.asked == asked


def test_stop_words_alone_are_looked_up(opened: Any) -> None:
    bank = filled(opened("none"))
    assert set(ids(bank.recall("the by"))) == {"m0", "m2"}
    assert bank.recall("the by").plan["arms"]["text"]["terms"] == ["the", "by"]


def test_what_has_no_words_goes_by_meaning_alone(bank: Bank) -> None:
    found = bank.recall("🎉 🦩")
    assert set(ids(found)) == {"m0", "m1", "m2"}
    assert all("dense" in hit.why and "lexical" not in hit.why for hit in found)


SCRIPTS = (
    "鹤在磨坊筑巢",
    "アオサギは水車小屋のそばに巣を作る",
    "왜가리는 방앗간 옆에 둥지를 튼다",
    "Цапля гнездится у мельницы",
    "مالك الحزين يعشش قرب الطاحونة",
    "बगुला चक्की के पास घोंसला बनाता है",
    "นกกระสาทำรังข้างโรงสี",
    "Ο ερωδιός φωλιάζει",
)


@pytest.mark.parametrize("text", SCRIPTS)
def test_every_script_finds_itself(opened: Any, text: str) -> None:
    bank = opened("hashing")
    bank.remember_many([{"text": each, "id": each[:3]} for each in (*SCRIPTS, *TEXTS)])
    found = bank.recall(text)
    assert found[0].memory.text == text
    assert "dense" in found[0].why
    assert found[0].memory.text == bank.recall(text, weights={"dense": 0, "window": 0})[0].memory.text


@pytest.mark.parametrize("question", ["he\0ron", "\0", "heron\0", "\ud800 heron", "heron \udfff mill", "\ud83d"])
@pytest.mark.parametrize("embedder", [letters, "hashing", "none"])
def test_no_character_breaks_a_question(opened: Any, embedder: object, question: str) -> None:
    bank = filled(opened(embedder))
    found = bank.recall(question)
    assert (found.plan["arms"].keys() >= BY_VECTOR) == (embedder != "none")
    if "heron" in question:
        assert {"m0", "m2"} <= set(ids(found))
    assert found.query == question


def test_half_a_pair_reaches_a_server_as_something_it_can_read(opened: Callable[..., Bank]) -> None:
    with server() as (address, requests):
        bank = filled(served(opened, address))
        assert bank.recall("heron \ud800").plan["arms"].keys() >= BY_VECTOR
        assert requests[-1].texts == ["heron ?"]


def test_a_question_as_long_as_may_be(opened: Any, held: Held) -> None:
    bank = filled(opened(held))
    question = ("heron mill " + "und so weiter " * 80_000)[: 1 << 20]
    found = bank.recall(question)
    assert {"m0", "m2"} <= set(ids(found))
    assert found.plan["embedding"]["question"] == {"characters": 8_000, "of": 1 << 20}
    with pytest.raises(InputError, match="1,048,576 characters"):
        bank.recall(question + "!")


@pytest.mark.parametrize("query", [None, 3, b"heron", ["heron"]])
def test_a_question_is_a_text(bank: Bank, query: Any) -> None:
    with pytest.raises(InputError, match="query"):
        bank.recall(query)
