"""The error tree: the promises of every error, and that the module's drawing and the page are current."""

import copy
import inspect
import json
import pickle
import re
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pieria import errors
from pieria.errors import AdapterError, InputError, Invalid, NotFoundError, PieriaError, SessionError, StorageError

PAGE = (Path(__file__).parents[2] / "docs" / "errors.md").read_text()
CLASSES = [
    kind
    for name, kind in vars(errors).items()
    if inspect.isclass(kind) and issubclass(kind, PieriaError) and not name.startswith("_")
]
EXAMPLES = [
    Invalid("something is off"),
    Invalid(errors=[InputError("k", "a number above 0", 0), InputError("status", "a known status", "lost")]),
    InputError("importance", "a number from 0 to 1", 5, hint="Use 0.9 for what matters most."),
    errors.UnavailableError("policy", "this bank ranks by text alone"),
    errors.PrivacyError("text", ["password", "jwt"]),
    errors.TransferError(Path("notes.jsonl"), "half of its lines cannot be read", ["line 3: no JSON", "line 9: no id"]),
    errors.ConfigError("no_config"),
    errors.EpisodeError("already_closed"),
    errors.PromptError("get_state", "empty_response"),
    errors.Framework("the surroundings are off"),
    NotFoundError("memory", "01k"),
    errors.ConflictError("a later change depends on it", ["a", "b"]),
    errors.QuarantinedError("it is in quarantine", ["a"]),
    errors.ClosedError("bank 'notes'"),
    errors.ForkedError("bank notes", 123, 456),
    SessionError("not_ready", "idle"),
    errors.PipelineError("task_crashed", errors=[NotFoundError("repo", "x")]),
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
    errors.Unknown("who knows"),
    errors.UnknownError(ValueError("odd"), {"a": 1}),
    PieriaError("the root itself"),
]


def parents(kind: type[PieriaError]) -> set[str]:
    return {base.__name__ for base in kind.__mro__ if base in CLASSES}


def test_every_class_has_an_example_a_code_and_one_top() -> None:
    assert {type(error) for error in EXAMPLES} == set(CLASSES)
    codes = [kind.code for kind in CLASSES]
    assert len(set(codes)) == len(codes)
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", code) for code in codes)
    tops = (Invalid, errors.Framework, errors.Unknown)
    assert [kind for kind in CLASSES if sum(issubclass(kind, top) for top in tops) != 1] == [PieriaError]


def test_the_page_and_the_drawing_show_every_class() -> None:
    drawn: dict[str, str] = {}
    stack: list[tuple[int, str]] = []
    for branch, name in re.findall(r"^    ([│├└─ ]*)([A-Z]\w+)", str(errors.__doc__), re.MULTILINE):
        stack = [(depth, above) for depth, above in stack if depth < len(branch)]
        drawn[name] = stack[-1][1] if stack else ""
        stack.append((len(branch), name))
    assert drawn.pop("PieriaError") == ""
    for name, parent in drawn.items():
        assert parents(getattr(errors, name)) == {name} | parents(getattr(errors, parent))
    assert set(drawn) == {kind.__name__ for kind in CLASSES} - {"PieriaError"}
    listed = dict(re.findall(r"^\| `(\w+)` \| `(\w+)` \|", PAGE, re.MULTILINE))
    assert listed == {kind.__name__: kind.code for kind in CLASSES}
    rows = dict(re.findall(r"^\| `(\w+)` (\|.*)$", PAGE, re.MULTILINE))
    for kind in CLASSES:
        assert ("| yes |" in rows[kind.__name__]) == kind.retryable, kind.__name__


def test_every_error_survives_copies_and_becomes_json() -> None:
    for error in EXAMPLES:
        for other in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):  # noqa: S301
            assert type(other) is type(error)
            assert str(other) == str(error)
            assert other.as_dict() == error.as_dict()
            assert traceback.format_exception_only(other) == traceback.format_exception_only(error)
        shown = json.loads(json.dumps(error.as_dict(), allow_nan=False))
        assert (shown["code"], shown["retryable"], shown["hint"]) == (error.code, error.retryable, error.hint)
        assert shown["message"] and str(error).startswith(shown["message"])
        assert set(error.fields) <= set(shown)
        lines = "".join(traceback.format_exception_only(error))
        assert (f"hint: {error.hint}" in lines) if error.hint else ("hint:" not in lines)


def test_all_errors_of_a_call_are_listed_at_any_depth() -> None:
    first, second, third = (InputError(name, "a number", "x") for name in "abc")
    lists_others = Invalid(errors=[second, Invalid(errors=[third])])
    nested = InputError("d", "a number", "x", errors=[first, lists_others])
    assert nested.all_errors() == [nested, first, second, third]
    assert (lists_others.all_errors(), first.all_errors()) == ([second, third], [first])
    broken = errors.PipelineError("extraction_failed", errors=[AdapterError("a")])
    assert broken.all_errors() == [broken, *broken.errors]


def test_an_outcome_is_raised_or_returned() -> None:
    outcomes: list[Any] = ["committed", {"checked": 0}, None]
    assert [errors.raise_or_return(outcome) for outcome in outcomes] == outcomes
    for error in (NotFoundError("repo", "x"), ValueError("odd")):
        with pytest.raises(type(error)) as raised:
            errors.raise_or_return(error)
        assert raised.value is error


def test_leaves_of_the_sessions_library_keep_their_fields() -> None:
    inner = ValueError("x")
    error = AdapterError(adapter="a", operation="o", reason=inner)
    assert (error.adapter, error.operation, error.reason) == ("a", "o", inner)
    assert SessionError(reason="not_idle", state="ready").state == "ready"
    assert StorageError(operation="o", reason="r").reason == "r"
    assert errors.UnknownError(error=inner, value=3).value == 3
    assert AdapterError("a", retryable=True).as_dict()["retryable"] is True
    assert AdapterError("a").as_dict()["retryable"] is False
    assert errors.BusyError("remember").retryable


def test_known_reasons_read_as_words_and_others_as_they_are() -> None:
    for kind in (kind for kind in CLASSES if kind.reasons):
        for reason, words in kind.reasons.items():
            assert str(kind(reason=reason)).endswith(words)  # type: ignore[call-arg]
        assert "the moon is full" in str(kind(reason="the moon is full"))  # type: ignore[call-arg]
    assert set(errors.SessionError.reasons) >= {"not_ready", "pending_queue_full", "session_stopping"}
    assert set(errors.PromptError.reasons) >= {"empty_response", "invalid_schema", "no_tags_generated"}
    assert set(errors.PipelineError.reasons) == {"extraction_failed", "extraction_timeout", "task_crashed"}


def test_received_values_are_described_in_few_words() -> None:
    received: list[tuple[str, object, str]] = [
        ("k", None, "nothing"),
        ("k", True, "True"),
        ("k", float("nan"), "nan"),
        ("k", 10**5000, "an integer of 16,610 bits"),
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
    ]
    for parameter, value, shown in received:
        assert InputError(parameter, "something else", value).received == shown
    error = InputError("importance", "a number from 0 to 1", 5)
    assert str(error) == "importance: expected a number from 0 to 1, got 5"
    assert error.as_dict()["received"] == "5"


@given(
    st.text() | st.binary() | st.integers() | st.floats() | st.lists(st.text()) | st.dictionaries(st.text(), st.text())
)
def test_a_description_is_short_and_printable(received: object) -> None:
    shown = InputError("anything", "something else", received).received
    assert len(shown) <= 80
    assert shown.isprintable()


@given(st.text(min_size=1))
def test_remembered_text_never_gets_into_a_message(text: str) -> None:
    described = f"text of {len(text):,} character{'s' * (len(text) > 1)}"
    assert InputError("text", "at most 1 MiB", text).received in (described, f"blank {described}")


def test_errors_read_as_sentences() -> None:
    broken = errors.PipelineError("extraction_failed", errors=[AdapterError("m", "chat", "the server answered 500")])
    assert str(broken) == "pipeline: extraction failed at every attempt: adapter m.chat: the server answered 500"
    assert SessionError("not_collecting").hint == "Start an episode first."
    assert SessionError("held_elsewhere", hint="Close it there.").hint == "Close it there."
    assert str(errors.ConfigError()) == "configuration"
    assert str(StorageError(operation="backup")) == "store, during backup"
    assert errors.PrivacyError("text", "password").found == ("password",)
    assert errors.ConflictError("it is taken", "abc").ids == ("abc",)
    other = InputError("k", "a number above 0", 0)
    error = InputError("status", "a known status", "lost", errors=[other, other])
    assert str(error) == "status: expected a known status, got 'lost' (and 2 further problems)"
    assert error.as_dict()["errors"] == [other.as_dict()] * 2
    assert str(Invalid(errors=(other,))) == "1 problem: k: expected a number above 0, got 0"
    for id in (f"drawer_billing_decisions_{'0' * 24}_2", f"drawer_my own project_decisions_{'0' * 24}"):
        assert str(NotFoundError("drawer", id)) == f"drawer '{id}' not found"
    assert "Lisbon" not in str(NotFoundError("drawer", "Maya told me that she would rather live in Lisbon."))
    assert "0" * 50 not in str(NotFoundError("drawer", "0" * 201))


def test_values_that_json_cannot_hold_are_shown_as_text() -> None:
    problems = [float("inf"), "a\ud800", {1: {2}}, Path("x"), NotFoundError("memory", "m"), object()]
    shown = errors.TransferError("x", "odd", problems).as_dict()
    text = json.dumps(shown, allow_nan=False, ensure_ascii=False).encode()
    assert json.loads(text)["problems"][:4] == ["inf", "a\\ud800", {"1": [2]}, "x"]
    assert shown["problems"][4]["code"] == "not_found"
    shown = errors.UnknownError(ValueError("odd"), "a" * 100).as_dict()
    assert (shown["value"], shown["error"]) == ("'aaaaaaaaaaaa'… (100 characters)", "ValueError: odd")
