"""Secrets and private parts that are cut, and above all the texts that are left alone."""

import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.unit.making_secrets import AWS_KEY, AWS_SECRET, COVERED, FOUND, LONG, SAMPLES, WEAK, made
from tests.unit.samples import samples

from pieria.record.ids import derived_id, new_id
from pieria.record.privacy import FOLDED, PLAIN, cut_private, find_secrets, redact

PAGE = Path(__file__).parents[2] / "docs" / "privacy.md"
PRIVATE = samples("private")


def test_secrets_are_found_where_they_stand_and_redacted() -> None:
    for kind, text, secret in FOUND:
        whole = text.replace("@@", secret, 1)
        found = find_secrets(whole)
        assert [(one.kind, whole[one.start : one.end]) for one in found] == [(kind, secret)]
        redacted = text.replace("@@", f"[secret: {kind}]", 1)
        assert redact(whole) == (redacted, found)
        assert redact(redacted) == (redacted, ())
    for kind, text, secret in COVERED:
        redacted, found = redact(text.replace("@@", secret, 1))
        third = len(secret) // 3
        assert secret[third:-third] not in redacted
        assert kind in {one.kind for one in found}
    kinds = {shape.kind for shape in (*PLAIN, *FOLDED)}
    assert {kind for kind, _, _ in (*FOUND, *COVERED)} == kinds
    assert set(re.findall(r"^\| `(\w+)` \|", PAGE.read_text(), re.MULTILINE)) == kinds
    text = f"password: {WEAK}, then {LONG} is nothing, api_key={LONG} and {AWS_KEY}"
    assert [secret.kind for secret in find_secrets(text)] == ["password", "credential", "aws_access_key"]
    assert redact(text)[0] == (
        f"password: [secret: password], then {LONG} is nothing, "
        "api_key=[secret: credential] and [secret: aws_access_key]"
    )
    assert [secret.kind for secret in find_secrets(f"{AWS_KEY},{AWS_SECRET}")] == ["aws_access_key", "aws_secret_key"]
    assert len(find_secrets(f"{AWS_KEY} {AWS_KEY}\n{AWS_KEY}")) == 3
    text = f"token=prefix1-{made('gh' + 'p_', 36)}"
    assert find_secrets(text) == (("github_token", len("token="), len(text)),)


def test_innocent_texts_are_left_alone() -> None:
    ids = (new_id(), derived_id("drawer_", "a"), f"{new_id()}@3")
    texts = ["", "lone \ud800 surrogate password: \udfff", *(f"see {id}, id: {id}, memory={id}" for id in ids)]
    texts += SAMPLES["innocent"]
    assert {text: redact(text) for text in texts} == {text: (text, ()) for text in texts}
    assert {text: find_secrets(text) for text in texts} == dict.fromkeys(texts, ())


@given(st.text(), st.sampled_from(FOUND), st.text())
def test_secrets_are_redacted_in_any_surroundings(before: str, found: tuple[str, str, str], after: str) -> None:
    _, text, secret = found
    assert secret not in redact(f"{before}\n{text.replace('@@', secret, 1)}\n{after}")[0]


@given(st.text(st.sampled_from("passwordkeytokensk-_=:1aA./@ \"'\n\\") | st.characters()))
@example("İ password: " + WEAK)
@example("sk-" * 300)
def test_secrets_stand_in_order_inside_the_text(text: str) -> None:
    end = 0
    for secret in find_secrets(text):
        assert end <= secret.start < secret.end <= len(text)
        end = secret.end


def test_private_parts_are_cut_in_any_writing_and_no_others() -> None:
    assert [[text, *cut_private(text)] for text, _, _ in PRIVATE["cuts"]] == PRIVATE["cuts"]
    texts = PRIVATE["ordinary"]
    assert {text: cut_private(text) for text in texts} == {text: (text, 0) for text in texts}
    for name, opening, closing in PRIVATE["tags"]:
        left, cuts = cut_private(f"Maya likes tea. {opening}brindlewolf{closing} And jazz.")
        assert cuts == 1, name
        assert "brindlewolf" not in left, name
        assert left.startswith("Maya likes tea.") and left.endswith("And jazz."), name
    for name, opening, _ in PRIVATE["tags"]:
        if name not in PRIVATE["needs_its_end"]:
            left, cuts = cut_private(f"Maya likes tea. {opening}brindlewolf")
            assert cuts == 1 and "brindlewolf" not in left, name


@given(st.text(st.characters(exclude_characters="<&\\%")), st.text(st.characters(exclude_characters="<&\\%")))
def test_cutting_leaves_all_that_is_public(public: str, private: str) -> None:
    joined = public + (public[1:] if public.startswith(" ") and public[-1].isspace() else public)
    assert cut_private(f"{public}<private>{private}</private>{public}") == (joined, 1)


@given(st.lists(st.sampled_from(["<private>", "</private>", "&lt;private&gt;", "<private", ">", "a", " "])))
def test_a_text_only_gets_shorter_by_cutting(parts: list[str]) -> None:
    text = "".join(parts)
    left, cuts = cut_private(text)
    assert (left == text) == (cuts == 0)
    assert len(left) <= len(text)


ADVERSARIES = [
    *("s" + "k-", "s" + "k-a1", "eyJaaaaaaaaa.", "eyJ", "AK" + "IA" + "A" * 16, "aws ", "://a:", "://a:b@"),
    *("-----BEGIN PRIVATE " + "KEY-----", "-----BEGIN PRIVATE " + "KEY-----\n" + "A" * 63 + "\n"),
    *("password=", "password: \\\\\\\\", "api_key = ,,,,,,,,", "secret_token_", "bearer aaaaaaaaaaaaaaaaaaaaaaaaa "),
    *("<private ", "<private>", "</private>", "< " * 3 + "/", "&lt;private", "%3cprivate%3", '<private a="'),
    *("<private a='</private>", "<pri<b>", "<!--", "</**", "\u200b<", "рг", "\\u003c", "\\u005c"),
    *("&#0000", "&amp;", "&#38;", "%25", "=3C"),
    "".join(sorted({probe for shape in (*PLAIN, *FOLDED) for probe in shape.probes})),
]


@pytest.mark.timeout(60)
def test_hostile_texts_are_read_in_time() -> None:
    """Quadratic time would exceed the limit."""
    for piece in ADVERSARIES:
        for unit in (piece, f"{piece} "):
            text = unit * (20_000 // len(unit))
            cut_private(text)
            assert redact(text)[0]
    for name in ("password:", "secret ", "<private", "<", "sk" + "-", "aws", "://a:", "bearer "):
        for filling in ("a", " ", "\\", "_", "-", "=", "/", "\n"):
            text = name + filling * 20_000
            cut_private(text)
            assert redact(text)[0].startswith(name[:2])


@pytest.mark.slow
def test_endless_repeats_of_each_probe_are_read_in_time() -> None:
    for probe in sorted({probe for shape in (*PLAIN, *FOLDED) for probe in shape.probes}):
        assert redact(probe * (40_000 // len(probe)))[0]
