"""The error tree: the promises of every error, and that the module's drawing and the page are current."""

import copy
import inspect
import json
import pickle
import re
import traceback
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pieria import errors
from pieria.errors import (
    AdapterError,
    BusyError,
    ConflictError,
    Framework,
    InputError,
    Invalid,
    NotFoundError,
    PieriaError,
    PipelineError,
    PrivacyError,
    SessionError,
    StorageError,
    TransferError,
    UnavailableError,
    Unknown,
    UnknownError,
)

PAGE = Path(__file__).parents[2] / "docs" / "errors.md"
CLASSES = [
    kind
    for name, kind in vars(errors).items()
    if inspect.isclass(kind) and issubclass(kind, PieriaError) and not name.startswith("_")
]
EXAMPLES = [
    Invalid("something is off"),
    Invalid(errors=[InputError("k", "a number above 0", 0), InputError("status", "a known status", "lost")]),
    InputError("importance", "a number from 0 to 1", 5, hint="Use 0.9 for what matters most."),
    UnavailableError("policy", "this bank ranks by text alone"),
    PrivacyError("text", ["password", "jwt"]),
    TransferError(Path("notes.jsonl"), "half of its lines cannot be read", ["line 3: no JSON", "line 9: no id"]),
    errors.ConfigError("no_config"),
    errors.EpisodeError("already_closed"),
    errors.PromptError("get_state", "empty_response"),
    Framework("the surroundings are off"),
    NotFoundError("memory", "01k"),
    ConflictError("a later change depends on it", ["a", "b"]),
    errors.QuarantinedError("it is in quarantine", ["a"]),
    errors.ClosedError("bank 'notes'"),
    errors.ForkedError("bank notes", 123, 456),
    SessionError("not_ready", "idle"),
    PipelineError("task_crashed", errors=[NotFoundError("repo", "x")]),
    AdapterError("openai", "chat", ConnectionError("refused"), retryable=True),
    errors.ModelMissingError("all-MiniLM-L6-v2", Path("models/all-MiniLM-L6-v2")),
    errors.ModelDamagedError(Path("models/all-MiniLM-L6-v2/config.json"), "the file is missing"),
    errors.ReplyError("ollama:qwen3", "chat_structured", "the reply holds no answer", usage={"input_tokens": 3}),
    errors.ReplyRefusedError("openai:m", "chat"),
    errors.ReplyCutError("openai:m", "chat", usage={"output_tokens": 9}),
    errors.ReplyUnreadableError("ollama:qwen3", "chat_structured", usage={"input_tokens": 3}),
    errors.JobError("unknown_kind"),
    errors.BudgetError("budget_calls_per_day", 100, 100, datetime(2026, 3, 2, tzinfo=UTC)),
    errors.AccessError("read_only"),
    errors.LimitError("calls", "100 a second", 2),
    errors.RepoError("notes", "already_open"),
    StorageError("remember", "out of memory"),
    *(kind("remember") for kind in StorageError.__subclasses__()),
    Unknown("who knows"),
    UnknownError(ValueError("odd"), {"a": 1}),
    PieriaError("the root itself"),
]


def parents(kind: type[PieriaError]) -> set[str]:
    return {base.__name__ for base in kind.__mro__ if base in CLASSES}


def test_every_class_has_an_example_here() -> None:
    assert {type(error) for error in EXAMPLES} == set(CLASSES)


def test_codes_are_snake_case_and_tell_the_classes_apart() -> None:
    codes = [kind.code for kind in CLASSES]
    assert len(set(codes)) == len(codes)
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", code) for code in codes)


def test_the_drawing_shows_every_class_under_its_parent() -> None:
    drawn: dict[str, str] = {}
    stack: list[tuple[int, str]] = []
    for line in str(errors.__doc__).splitlines():
        found = re.match(r"^    ([│├└─ ]*)([A-Z]\w+)", line)
        if not found:
            continue
        depth, name = len(found[1]), found[2]
        while stack and stack[-1][0] >= depth:
            stack.pop()
        drawn[name] = stack[-1][1] if stack else ""
        stack.append((depth, name))
    assert drawn.pop("PieriaError") == ""
    for name, parent in drawn.items():
        kind = getattr(errors, name)
        assert parent in parents(kind)
        assert len(parents(kind)) == len(parents(getattr(errors, parent))) + 1
    assert set(drawn) == {kind.__name__ for kind in CLASSES} - {"PieriaError"}


def test_the_page_lists_every_class_with_its_code_and_no_other() -> None:
    listed = dict(re.findall(r"^\| `(\w+)` \| `(\w+)` \|", PAGE.read_text(), re.MULTILINE))
    assert listed == {kind.__name__: kind.code for kind in CLASSES}


def test_the_page_names_every_retryable_error_as_such() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` (\|.*)$", PAGE.read_text(), re.MULTILINE))
    for kind in CLASSES:
        assert ("| yes |" in rows[kind.__name__]) == kind.retryable, kind.__name__


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: type(error).__name__)
def test_an_error_survives_pickle_and_copy(error: PieriaError) -> None:
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):  # noqa: S301
        assert type(other) is type(error)
        assert str(other) == str(error)
        assert other.as_dict() == error.as_dict()
        assert traceback.format_exception_only(other) == traceback.format_exception_only(error)


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: type(error).__name__)
def test_an_error_says_itself_as_json(error: PieriaError) -> None:
    shown = json.loads(json.dumps(error.as_dict(), allow_nan=False))
    assert shown["code"] == error.code
    assert shown["message"] and str(error).startswith(shown["message"])
    assert shown["retryable"] is error.retryable
    assert shown["hint"] == error.hint
    assert set(error.fields) <= set(shown)


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: type(error).__name__)
def test_a_traceback_ends_in_the_hint(error: PieriaError) -> None:
    shown = "".join(traceback.format_exception_only(error))
    assert (f"hint: {error.hint}" in shown) if error.hint else ("hint:" not in shown)


def test_leaves_stand_under_the_class_that_says_whose_fault_it_is() -> None:
    for kind in CLASSES:
        assert kind is PieriaError or sum(issubclass(kind, top) for top in (Invalid, Framework, Unknown)) == 1


def test_contract_leaves_keep_their_fields_unchanged() -> None:
    inner = ValueError("x")
    error = AdapterError(adapter="a", operation="o", reason=inner)
    assert (error.adapter, error.operation, error.reason) == ("a", "o", inner)
    assert SessionError(reason="not_idle", state="ready").state == "ready"
    assert StorageError(operation="o", reason="r").reason == "r"
    assert UnknownError(error=inner, value=3).value == 3


@pytest.mark.parametrize("kind", [kind for kind in CLASSES if kind.reasons], ids=lambda kind: str(kind.__name__))
def test_known_reasons_read_as_words_and_others_as_they_are(kind: type[PieriaError]) -> None:
    for reason, words in kind.reasons.items():
        assert str(kind(reason=reason)).endswith(words)  # type: ignore[call-arg]
    assert "the moon is full" in str(kind(reason="the moon is full"))  # type: ignore[call-arg]


def test_every_reason_of_the_sessions_library_has_words() -> None:
    assert set(errors.SessionError.reasons) >= {"not_ready", "pending_queue_full", "session_stopping"}
    assert set(errors.PromptError.reasons) >= {"empty_response", "invalid_schema", "no_tags_generated"}
    assert set(errors.PipelineError.reasons) == {"extraction_failed", "extraction_timeout", "task_crashed"}


def test_an_input_error_reads_as_a_sentence() -> None:
    error = InputError("importance", "a number from 0 to 1", 5)
    assert str(error) == "importance: expected a number from 0 to 1, got 5"
    assert error.as_dict()["received"] == "5"


@pytest.mark.parametrize(
    ("parameter", "received", "shown"),
    [
        ("k", None, "nothing"),
        ("k", True, "True"),
        ("k", float("nan"), "nan"),
        pytest.param("k", 10**5000, "an integer of 16,610 bits", id="huge"),
        ("kind", "memo", "'memo'"),
        ("kind", "", "empty text"),
        ("kind", "a\x00b\ud800", r"'a\x00b\ud800'"),
        ("kind", "a" * 5000, "'aaaaaaaaaaaa'… (5,000 characters)"),
        ("tags", ["a"], "a list of 1 item"),
        ("meta", {"a": 1, "b": 2}, "a dict of 2 items"),
        ("file", b"abc", "3 bytes"),
        ("path", Path("a/b"), "'a/b'"),
        ("at", datetime(2026, 1, 2, tzinfo=UTC), "2026-01-02 00:00:00+00:00"),
        ("at", object(), "a value of type object"),
        ("text", "our secret plan", "text of 15 characters"),
        ("text", " \n", "blank text of 2 characters"),
        ("text", 7, "a value of type int"),
        ("query", "who knows our plan", "text of 18 characters"),
        ("title", "Our plan", "text of 8 characters"),
        ("items[3].text", "our secret plan", "text of 15 characters"),
        ("token", "abcd", "text of 4 characters"),
    ],
)
def test_what_was_received_is_described_in_few_words(parameter: str, received: object, shown: str) -> None:
    assert InputError(parameter, "something else", received).received == shown


@given(
    st.text() | st.binary() | st.integers() | st.floats() | st.lists(st.text()) | st.dictionaries(st.text(), st.text())
)
def test_a_description_is_short_and_printable(received: object) -> None:
    shown = InputError("anything", "something else", received).received
    assert len(shown) <= 80
    assert shown.isprintable()


@given(st.text(min_size=1))
def test_remembered_text_never_gets_into_a_message(text: str) -> None:
    error = InputError("text", "at most 1 MiB", text)
    assert error.received in (
        f"{blank}text of {len(text):,} character{'s' * (len(text) > 1)}" for blank in ("", "blank ")
    )


def test_further_errors_are_counted_in_the_message_and_listed_in_the_dictionary() -> None:
    other = InputError("k", "a number above 0", 0)
    error = InputError("status", "a known status", "lost", errors=[other, other])
    assert str(error) == "status: expected a known status, got 'lost' (and 2 further problems)"
    assert error.as_dict()["errors"] == [other.as_dict()] * 2


def test_learning_that_broke_off_says_what_it_broke_off_for() -> None:
    error = PipelineError("extraction_failed", errors=[AdapterError("m", "chat", "the server answered 500")])
    assert str(error) == "pipeline: extraction failed at every attempt: adapter m.chat: the server answered 500"


def test_what_a_session_refuses_says_what_to_do() -> None:
    assert SessionError("not_collecting").hint == "Start an episode first."
    assert SessionError("held_elsewhere", hint="Close it there.").hint == "Close it there."


def test_a_class_without_a_message_of_its_own_tells_its_errors() -> None:
    error = Invalid(errors=(InputError("k", "a number above 0", 0),))
    assert str(error) == "1 problem: k: expected a number above 0, got 0"


def test_a_single_kind_or_id_may_be_given_bare() -> None:
    assert PrivacyError("text", "password").found == ("password",)
    assert ConflictError("it is taken", "abc").ids == ("abc",)


def test_an_adapter_knows_whether_a_new_try_may_help() -> None:
    assert AdapterError("a", retryable=True).as_dict()["retryable"] is True
    assert AdapterError("a").as_dict()["retryable"] is False
    assert BusyError("remember").retryable


def test_what_an_unknown_failure_happened_to_is_only_described() -> None:
    shown = UnknownError(ValueError("odd"), "a" * 100).as_dict()
    assert shown["value"] == "'aaaaaaaaaaaa'… (100 characters)"
    assert shown["error"] == "ValueError: odd"


def test_what_json_cannot_hold_is_shown_as_text() -> None:
    problems = [float("inf"), "a\ud800", {1: {2}}, Path("x"), NotFoundError("memory", "m"), object()]
    shown = TransferError("x", "odd", problems).as_dict()
    text = json.dumps(shown, allow_nan=False, ensure_ascii=False).encode()
    assert json.loads(text)["problems"][:4] == ["inf", "a\\ud800", {"1": [2]}, "x"]
    assert shown["problems"][4]["code"] == "not_found"


def test_an_error_without_a_reason_still_says_what_it_is_about() -> None:
    assert str(errors.ConfigError()) == "configuration"
    assert str(StorageError(operation="backup")) == "store, during backup"


def test_an_id_is_named_whole_and_what_looks_like_none_is_not() -> None:
    long = f"drawer_billing_decisions_{'0' * 24}_2"
    assert str(NotFoundError("drawer", long)) == f"drawer '{long}' not found"
    assert "Lisbon" not in str(NotFoundError("drawer", "Maya told me that she would rather live in Lisbon."))
    assert "0" * 50 not in str(NotFoundError("drawer", "0" * 201))
    blank = f"drawer_my own project_decisions_{'0' * 24}"
    assert str(NotFoundError("drawer", blank)) == f"drawer '{blank}' not found"
