"""Readers by rules take time that grows with the length of a text. A quadratic pattern would exceed a time limit."""

import json
import random
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from tests.unit.samples import HERE

from pieria.language.asks import asks
from pieria.language.entities import entities
from pieria.language.grammar.persons import third
from pieria.language.intent import judge_recalling, judge_saving
from pieria.language.names import Names, named_in
from pieria.language.passages import LIMIT, passages
from pieria.language.pasted import pasted
from pieria.language.reversal import find_reversals
from pieria.language.sentences import sentences
from pieria.language.standing_rules import standing
from pieria.language.timewords import timewords
from pieria.language.windows import Turn, window
from pieria.models.mind import Found, Said, StepSeen
from pieria.models.minds.rules import RuleMind
from pieria.models.minds.rules.speech import spoken
from pieria.record.fence import inert

NOW = datetime(2026, 1, 10, tzinfo=UTC)
KNOWN = Names(["a", "a a a a", "Maya Lee", "東京", "A'A", "a.a"] + [f"a {'b ' * length}c" for length in range(14)])
READERS: dict[str, Callable[[str], object]] = {
    "asks": asks,
    "entities": entities,
    "names": KNOWN.found_in,
    "passages": passages,
    "sentences": lambda text: list(sentences(text)),
    "spoken": lambda text: list(spoken(text)),
    "standing": standing,
    "third": lambda text: third(text, "the user"),
    "timewords": lambda text: timewords(text, now=NOW),
    "window": lambda text: window([Turn(text, "Maya"), Turn(text, text), Turn(text)], 1),
}
REPEATED: dict[str, list[str]] = json.loads((HERE / "repeated.json").read_text())


def repeated(of: str, size: int) -> str:
    return of * (size // len(of.encode(errors="surrogatepass")))


@pytest.mark.slow
@pytest.mark.timeout(1_800)
@pytest.mark.parametrize("reader", READERS)
def test_endless_repetition_is_read_in_time(reader: str) -> None:
    for of in REPEATED["readers"]:
        READERS[reader](repeated(of, 120_000))


@pytest.mark.timeout(60)
def test_a_long_text_of_everything_is_read_in_time() -> None:
    text = "".join(random.Random(7).choices(REPEATED["readers"], k=10_000))
    for read in READERS.values():
        read(text)
    for of in ("a", "漢", "a ", "A: b\n", "```\n", ". ", "\u0301", "🇩🇪", "a\u0301"):
        text = repeated(of, 60_000)
        found = passages(text)
        assert len(found) >= len(text.rstrip()) / LIMIT
        assert all(0 < end - start <= LIMIT for start, end in found)
    names = [f"Maya {number} Lee" for number in range(2_000)]
    assert [found.name for found in named_in(" ".join(names).lower(), names)] == names
    for text in ("\n", "word ", "a  ", "i'm ", "my a b c d, ", '"', "x (\n", "is it my? "):
        assert judge_saving(repeated(text, 10_000)).band in ("save", "ask", "skip")
        assert judge_recalling(repeated(text, 10_000)).band in ("search", "ask", "skip")
    for text in ("moved a from ", "a, not b ", "b is now ", "no longer a ", "instead of ", "a replaced "):
        find_reversals(text * 4_000)
        find_reversals((text * 400)[:399])
    for text in ("Here is the mail:\nhello\n" + "-" * 100_000 + "x", "ERROR: x\n\n\n" * 3_000):
        assert pasted(text)[-1][1] >= len(text) - 2
    for text in ("<" * 200_000, "< " * 100_000, "<" + " " * 200_000):
        assert inert(text) == text


@pytest.mark.timeout(60)
def test_a_rule_mind_reads_long_texts_in_time() -> None:
    mind = RuleMind()
    for trap in REPEATED["traps"]:
        text = trap * (2_500 // len(trap))
        steps = [StepSeen(text, text, text, text, 0.9)]
        assert len(mind.triples(text)) <= 2
        assert len(mind.entities(text)) <= 3
        assert 0 <= mind.reward(text, text, text, text + "!") <= 1
        assert len(mind.propositions(text, steps)) <= 2
        procedures = mind.procedures(text, steps)
        assert len(mind.returns(text, steps, procedures)) == len(procedures)
        assert len(mind.plan(text, mind.mode(text))) <= 8
        assert mind.refine(text, [Found("semantic", text)]) == []
        assert len(mind.summarize([Said(text, "Maya"), Said("Heron is a tool.", "Tom")], 50).split()) <= 50
        assert mind.merge_statements([Said(text), Said(text)]) == mind.merge_statements([Said(text)])
        assert len(mind.state(text, text, before=text, action=text)) < 3_000
        assert len(mind.synthesize(text, "semantic", [Found("semantic", text)])) < 20_000
