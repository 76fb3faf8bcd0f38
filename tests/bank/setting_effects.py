"""For each setting a function that shows its effect, and the outcome under two values or more."""

import json
import logging
import os
import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing, redirect_stderr, suppress
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from time import thread_time
from typing import Any, cast
from unittest.mock import patch

import anyio
import pytest
from click.testing import CliRunner
from tests.bank.embedding_server import server
from tests.bank.fading_effects import FADES
from tests.bank.test_llm import asked, findings
from tests.capture.payloads import kept_and_dropped
from tests.contract.store_helpers import HandClock
from tests.importers.test_claude_mem import store
from tests.learning.lesson_events import MIGRATED
from tests.learning.lesson_events import session as lived
from tests.models.llm_server import hangs, llm_server
from tests.models.rerank_server import never, rerank_server
from tests.models.small_pipeline import small_pipeline

import pieria
from pieria import Bank, Workspace, telemetry
from pieria.doors.app import application
from pieria.doors.cli.root import cli
from pieria.doors.http.callers import Door
from pieria.doors.http.guard import Hosts
from pieria.doors.http.log import written
from pieria.doors.http.service import service
from pieria.doors.http.tokens import Tokens
from pieria.doors.server import telemetry_of
from pieria.errors import (
    AdapterError,
    BudgetError,
    InputError,
    LimitError,
    PrivacyError,
    SessionError,
    StorageError,
    UnavailableError,
)
from pieria.models.mind import Said
from pieria.runtime import effort
from pieria.sessions.log import UnfinishedSession
from pieria.toolsets import registry
from pieria.toolsets.host import over_the_network
from pieria.workspace.web import Web

INSTALLED = Path(sys.prefix) / "share" / "pieria" / "models"
KEY = "AKIA" + "QWERTYUIOPASDFGH"
Seen = Callable[[Path, Any], object]


def in_bank(setting: str, look: Callable[[Bank], object], **more: Any) -> Seen:
    """Return a function that opens a bank under a value of the setting and looks at it."""

    def seen(folder: Path, value: Any) -> object:
        with pieria.open("b", data=folder, settings={setting: value}, **more) as bank:
            return look(bank)

    return seen


def remembered(setting: str) -> Seen:
    return in_bank(setting, lambda bank: getattr(bank.remember("x"), setting))


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


def busy_seconds(bank: Bank) -> object:
    with bank.core.store.rehearsing() as connection:  # type: ignore[attr-defined]
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


def keeps_secret(bank: Bank) -> object:
    with suppress(PrivacyError):
        return KEY in bank.remember(f"the key is {KEY} for now").text
    return "refused"


def kinds_that_fade(bank: Bank) -> object:
    bank.remember_many([{"text": kind, "kind": kind} for kind in ("note", "drawer")])
    return [one.memory.kind for one in bank.upkeep.gc(threshold=1.0).faded]


def counted_uses(bank: Bank) -> object:
    kept = bank.remember("gardens and rivers")
    bank.recall("gardens")
    bank.sync()
    return bank.usage(kept.id)[kept.id].accesses


def cuts_terms(bank: Bank) -> object:
    bank.remember_many({"text": f"gardens and rivers, number {n}"} for n in range(500))
    return bank.recall("gardens rivers").plan["arms"]["text"]["banks"]["b"]["cut"] != []


def accepted(bank: Bank) -> object:
    bank.observe([*lived("s1", MIGRATED), *lived("s2", MIGRATED)])
    bank.distil("s1")
    [lesson] = bank.upkeep.propose().proposals
    return lesson.state


def seen_of_session_lease(folder: Path, value: Any) -> bool:
    """Return whether another process may take over a session after ten seconds without a sign of life."""
    clock = HandClock()
    with Workspace(folder, {"session_lease": value}, clock=clock) as workspace, suppress(SessionError):
        workspace.open("b").sessions.log.begin(UnfinishedSession("session_1", "b", "Plan the trip"))
        clock.move(seconds=10)
        workspace.open("b").sessions.log.hold("session_1")
        return True
    return False


def seen_of_time_zone(folder: Path, value: Any) -> object:
    noon = datetime(2026, 3, 8, 12, tzinfo=UTC)
    with pieria.open("b", data=folder, settings={"time_zone": value}, clock=lambda: noon) as bank:
        for day, hour in ((7, 3), (7, 21)):
            bank.remember(f"watered the gardens, {hour}", at=datetime(2026, 3, day, hour, tzinfo=UTC))
        return bank.recall("what of the gardens yesterday?")[0].memory.at.hour


def seen_of_nlp(folder: Path, value: str) -> list[str]:
    named = value if value == "none" else small_pipeline(folder / value)
    with pieria.open("b", data=folder, settings={"nlp": named}) as bank:
        return [found.name for found in bank.text.names("so maya okafor moved")]


def dimension(bank: Bank) -> object:
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


def embedded(folder: Path, path: str = "", **settings: Any) -> Any:
    """Return the first request to an embedder."""
    with server() as (address, requests):
        told = {"embedder": "server:m", "embedder_url": address + path, **settings}
        with pieria.open("b", data=folder, settings=told) as bank:
            bank.remember_many([{"text": "a word"}])
            assert "hunter" not in json.dumps(bank.doctor().as_dict())
    return requests[0]


def seen_of_llm(folder: Path, value: Any) -> object:
    if value == "none":
        with pieria.open("b", data=folder, settings={"llm": value}) as bank:
            assert bank.core.llm is None
            return findings(bank, "llm")
    return asked(folder, llm=value).body["model"]


def seen_of_llm_seconds(folder: Path, value: Any) -> object:
    with llm_server(hangs) as serving:
        told = {"llm": "server:m", "llm_url": serving.address, "llm_seconds": value}
        with pieria.open("b", data=folder, settings=told) as bank:
            assert bank.core.llm is not None
            with pytest.raises(AdapterError) as caught:
                bank.core.llm.chat([{"role": "user", "content": "What colour?"}])
    return caught.value.reason


def seen_of_llm_steps(folder: Path, value: Any) -> object:
    with llm_server() as serving:
        told = {"llm": "server:m", "llm_url": serving.address, "llm_steps": value}
        with pieria.open("b", data=folder, settings=told) as bank:
            bank.mind.summarize([Said("Herons nest by the mill.")])
            bank.mind.plan("Where do herons nest?", "semantic")
    return [request.body["model"] for request in serving.requests]


def seen_of_models(folder: Path, value: Any) -> object:
    with pieria.open("b", data=folder, settings={"embedder": "local", "models": folder / value}) as bank:
        [finding] = [finding for finding in bank.doctor().findings if finding.check == "embedder"]
        assert not finding.well
        return re.sub(r".*/(\w+)/all-MiniLM.*", r"\1", finding.detail)


def calls_allowed(bank: Bank) -> object:
    """Return how many of three calls, of 100 tokens each, the budgets allow."""
    calls = 0
    with suppress(BudgetError):
        while calls < 3:
            bank.core.meter.allow("state", "test:model")
            bank.core.meter.note("state", "test:model", {"input_tokens": 100}, 0.0)
            calls += 1
    return calls


def reranked(folder: Path, *script: Any, **settings: Any) -> tuple[Any, Any]:
    """Return the plan of a recall and the reranker's first request."""
    with rerank_server(*script) as serving:
        told = {"reranker": "server:m", **settings}
        told["reranker_url"] = told.get("reranker_url", "{}").format(serving.address)
        with pieria.open("b", data=folder, settings=told) as bank:
            bank.remember_many([{"text": "a heron"}, {"text": "another heron"}])
            assert "hunter" not in json.dumps(bank.doctor().as_dict())
            plan = bank.recall("heron").plan
    return plan, serving.requests[0] if serving.requests else None


def seen_of_reranker(folder: Path, value: Any) -> object:
    plan, request = reranked(folder, reranker=value)
    assert (request is None) == ("reranked" not in plan)
    return request and sorted(request.body)


def seen_of_paths(data: Path, value: str | None) -> list[bool]:
    """Return whether network callers reach a file in each of two folders."""
    allowed = over_the_network(data, Workspace(data, {"paths": value}).resolved.roots)
    reached = []
    for folder in "ab":
        with suppress(InputError):
            reached.append(allowed.allowed(f"/{folder}/file", "path"))
    return [any(f"/{folder}/" in str(path) for path in reached) for folder in "ab"]


def seen_of_token(data: Path, value: str | None) -> list[bool]:
    """Return for each of two tokens whether HTTP lets its caller in."""
    setting = Workspace(data, {"token": value}).resolved.settings.token
    door = Door(Tokens(data), None if setting is None else setting.get_secret_value(), always=False)
    return [door.still({"authorization": f"Bearer {shown}"}) for shown in ("hunter1", "hunter2")]


def seen_of_plain_http(data: Path, value: bool) -> str:
    """Return whether a token may go to another machine without TLS."""
    away = Workspace("http://memory.example", {"token": "hunter1", "plain_http": value, "local": data})
    try:
        with closing(cast("Web", away.place).connection()):
            return "allowed"
    except UnavailableError:
        return "refused"


def seen_of_request_seconds(data: Path, value: float) -> str:
    """Return the outcome of a request that takes somewhat more than one second of processor time."""

    def work() -> str:
        with patch.object(effort, "thread_time", lambda: thread_time() + 1.05):
            effort.check()
        return "done"

    async def outcome() -> str:
        try:
            return await service(Workspace(data, {"request_seconds": value}), registry()).call(work)
        except LimitError as problem:
            return problem.limit

    return anyio.run(outcome)


def seen_of_request_memory(data: Path, value: int) -> int:
    """Return the HTTP status for a body of two MiB."""
    from starlette.testclient import TestClient

    served = service(Workspace(data, {"request_memory": value}), registry())
    app = application(served, Door(Tokens(data), None, always=False), Hosts(), None)
    with TestClient(app, base_url="http://localhost:7411") as client:
        text = {"text": "heron", "meta": {"wide": " " * (2 << 20)}}
        return client.post("/v1/banks/notes/recall", json=text).status_code


def lines_logged(data: Path, **given: Any) -> list[str]:
    """Return the levels of the lines in JSON that a server writes."""
    with redirect_stderr(StringIO()) as said, written(Workspace(data, given).resolved.settings):
        for level in (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR):
            logging.getLogger("pieria").log(level, "heron")
    # Another test may have left the command line's own listener, which writes text.
    return [json.loads(line)["level"] for line in said.getvalue().splitlines() if line.startswith("{")]


def seen_of_telemetry(data: Path, value: str) -> bool:
    """Return whether something listens to telemetry, for a collector that is not there."""
    served = service(Workspace(data, {"telemetry": value}), registry())
    with patch.dict(os.environ, {"OTEL_EXPORTER_OTLP_TIMEOUT": "0.01"}), telemetry_of(served):
        return telemetry.is_heard()


def seen_of_offer_imports(folder: Path, value: bool) -> bool:
    """Return whether an empty bank offers a store of claude-mem."""
    store(folder / ".claude-mem")
    environment = {"HOME": str(folder), "PIERIA_DATA": str(folder / "data"), "PIERIA_OFFER_IMPORTS": str(value)}
    done = CliRunner().invoke(cli, ["call", "mem-find", '{"query": "heron"}'], env=environment)
    return "claude-mem" in done.output


BEARER: dict[Any, object] = {key: f"Bearer {key}" for key in ("hunter1", "hunter2")}


def seen_of_sleep(folder: Path, value: Any) -> object:
    """Return whether the bank sleeps automatically with rules, and with a language model."""
    with Workspace(folder, {"sleep": value, "budget_calls_per_day": 1}) as workspace:
        banks = [workspace.open("b", llm=llm) for llm in (None, "ollama:qwen3")]
        return [bank.upkeep.sleep_log().held_back is None for bank in banks]


EFFECTS: dict[str, tuple[Seen, dict[Any, object]]] = {
    "data": (seen_of_data, {"one": ["one"], "two": ["two"]}),
    "bank": (seen_of_bank, {"one": "one", "two": "two"}),
    "session": (seen_of_session, {"s1": [("said in s1", "s1")], "s2": []}),
    "channel": (seen_of_channel, {"c1": [("said in c1", "c1")], "c2": []}),
    "author": (remembered("author"), {"Maya": "Maya", "Jun": "Jun"}),
    "author_type": (remembered("author_type"), {"human": "human", "agent": "agent"}),
    "durability": (
        in_bank("durability", lambda bank: bank.core.store.describe()["synchronous"]),
        {"full": "full", "relaxed": "relaxed", "off": "off"},
    ),
    "busy_seconds": (in_bank("busy_seconds", busy_seconds), {5.0: 5_000, 60: 60_000}),
    "seal_key": (seen_of_seal_key, {None: False, "one": True, "two": "sealed"}),
    "secrets": (in_bank("secrets", keeps_secret), {"flag": True, "redact": False, "refuse": "refused"}),
    "upkeep_fades": (in_bank("upkeep_fades", kinds_that_fade), {"note": ["note"], "drawer": ["drawer"], "": []}),
    "sleep": (seen_of_sleep, {"off": [False, False], "idle": [True, False], "model": [True, True]}),
    "count_uses": (in_bank("count_uses", counted_uses), {True: 1, False: 0}),
    "session_lease": (seen_of_session_lease, {5: True, 60: False}),
    "accept_above": (in_bank("accept_above", accepted, via="person"), {0.5: "accepted", 0.8: "proposed"}),
    "capture": (kept_and_dropped, {True: (1, 0), False: (0, 1)}),
    "text_budget": (in_bank("text_budget", cuts_terms), {100: True, 5_000: False}),
    "time_zone": (seen_of_time_zone, {"Asia/Kathmandu": 3, "America/Los_Angeles": 21}),
    "nlp": (seen_of_nlp, {"none": [], "small": ["maya okafor"]}),
    "enrich": (
        in_bank("enrich", lambda bank: bank.text.enrich("Use JWT tokens for authentication").entities),
        {True: ("jwt", "authentication"), False: ()},
    ),
    "embedder": (in_bank("embedder", dimension), {"none": None, "hashing:64": 64, "hashing:128": 128, "auto": 384}),
    "embedder_threads": (seen_of_embedder_threads, {1: 1, 2: 2}),
    "embedder_url": (
        lambda folder, value: embedded(folder, value).path,
        {"/one": "/one/embeddings", "/two": "/two/embeddings"},
    ),
    "embedder_key": (lambda folder, value: embedded(folder, embedder_key=value).key, BEARER),
    "llm": (seen_of_llm, {"none": ["none: Pieria calls no language model"], "server:a": "a", "ollama:b:8b": "b:8b"}),
    "llm_url": (
        lambda folder, value: asked(folder, llm_url="{}" + value).path,
        {"/one": "/v1/one/chat/completions", "/two": "/v1/two/chat/completions"},
    ),
    "llm_key": (lambda folder, value: asked(folder, llm_key=value).headers["authorization"], BEARER),
    "llm_seconds": (seen_of_llm_seconds, {value: f"no whole reply within {value} seconds" for value in (1, 1.25)}),
    "llm_steps": (seen_of_llm_steps, {None: ["m", "m"], "summarize=a, retrieval=b:2": ["a", "b:2"]}),
    "budget_tokens_per_day": (in_bank("budget_tokens_per_day", calls_allowed), {None: 3, 200: 2, 0: 0}),
    "budget_calls_per_day": (in_bank("budget_calls_per_day", calls_allowed), {None: 3, 1: 1}),
    "models": (seen_of_models, {"one": "one", "two": "two"}),
    "reranker": (
        seen_of_reranker,
        {"none": None, "server:a": ["documents", "model", "query", "top_n"], "tei": ["query", "texts", "truncate"]},
    ),
    "reranker_url": (
        lambda folder, value: reranked(folder, reranker_url="{}" + value)[1].path,
        {"/one": "/v1/one/rerank", "/two": "/v1/two/rerank"},
    ),
    "reranker_key": (lambda folder, value: reranked(folder, reranker_key=value)[1].headers["authorization"], BEARER),
    "reranker_seconds": (
        lambda folder, value: reranked(folder, never, reranker_seconds=value)[0]["left_out"]["rerank"],
        {value: f"adapter server:m.rerank: it did not answer within {value} s" for value in (0.1, 0.2)},
    ),
    "paths": (seen_of_paths, {None: [False, False], "/a": [True, False], "/a:/b": [True, True]}),
    "request_seconds": (seen_of_request_seconds, {1: "1 seconds", 3_600: "done"}),
    "request_memory": (seen_of_request_memory, {1: 503, 64: 422}),
    "log_format": (
        lambda folder, value: lines_logged(folder, log_format=value),
        {"text": [], "json": ["info", "warning", "error"]},
    ),
    "log_level": (
        lambda folder, value: lines_logged(folder, log_format="json", log_level=value),
        {"debug": ["debug", "info", "warning", "error"], "error": ["error"]},
    ),
    "telemetry": (seen_of_telemetry, {"off": False, "otlp": True}),
    "token": (seen_of_token, {None: [True, True], "hunter1": [True, False], "hunter2": [False, True]}),
    "offer_imports": (seen_of_offer_imports, {True: True, False: False}),
    "plain_http": (seen_of_plain_http, {False: "refused", True: "allowed"}),
    **FADES,
}
