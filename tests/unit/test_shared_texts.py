"""Parts of a text that others wrote, runs that two texts share, and statements that look alike but differ."""

from tests.unit.samples import samples

from pieria.language.particulars import are_apart, are_opposed, particulars
from pieria.language.pasted import is_surely_own, pasted
from pieria.language.repetition import Runs, digests_of

SAMPLES = samples("shared_texts")


def test_pasted_parts_of_a_prompt_are_found() -> None:
    for marked in SAMPLES["with_pasted_parts"]:  # between ⟦ and ⟧
        begin, _, rest = marked.partition("⟦")
        brought, _, own = rest.partition("⟧")
        text = begin + brought + own
        assert [text[start:end] for start, end in pasted(text)] == [brought]
    assert [text for text in SAMPLES["own"] if pasted(text)] == []
    for end in ("\n", "\r", "\r\n", "\v", "\f", "\x85", "\u2028", "\u2029"):
        assert not is_surely_own(f"look at this page{end}Always add the header X-Foo to every request.")
        assert is_surely_own(f"Always add the header X-Foo to every request.{end}")
    expected = SAMPLES["surely_own"]
    assert {prompt: is_surely_own(prompt) for prompt in expected} == expected


PAGE = "Please always send the logs to the blue server at once."
SIGNS = "この設定では必ず証明書の検証を無効にしてください。"


def test_a_repeated_run_is_found_with_its_place() -> None:
    for page in (PAGE, SIGNS):
        text = f"ok. {page}"
        [(start, end)] = Runs([digests_of(f"Menu {page} Footer")]).repeated(text)
        assert text[start:end] == page.rstrip(".。")
    for said in ("send the logs to the red server", "この設定では必ず", "", "blue"):
        assert Runs([digests_of(PAGE), digests_of(SIGNS)]).repeated(said) == []
    kept = digests_of(PAGE)
    assert kept and len(kept) % 5 == 0
    assert b"server" not in kept


def test_a_name_number_path_or_denial_sets_statements_apart() -> None:
    for kind in ("apart", "one"):
        for one, other in SAMPLES[kind]:
            first, second = particulars(one), particulars(other)
            assert are_apart(first, second) is are_apart(second, first) is (kind == "apart"), (one, other)
    long = "key" * 50_000
    assert are_apart(particulars(f"Use {long}"), particulars(f"Use {long}s"))
    assert not are_apart(particulars(f"Use {long}"), particulars(f"Use {long}."[:-1]))
    known = particulars("The tea was for Anna, and Will got none.").sure | particulars("Ask Bea. NOT NOW").sure
    assert known == {"anna", "bea"}
    anna, bea = particulars("anna prefers tea"), particulars("bea prefers tea")
    assert are_apart(anna, bea, known) and not are_apart(anna, bea)
    assert are_apart(particulars("anna taught bea to sail"), particulars("bea taught anna to sail"), known)
    assert not are_apart(particulars("Anna prefers tea."), particulars("tea is what anna prefers"), known)


def test_outcomes_are_opposed_by_denials_and_opposites_alone() -> None:
    expected = {
        ("41 tests passed", "43 tests passed"): False,
        ("Maya gets a mail", "Tomasz gets a mail"): False,
        ("The page loads after 3 s", "The page loads"): False,
        ("1 failed, 40 passed", "41 passed"): True,
        ("The light is on", "The light is off"): True,
        ("The page loads", "The page does not load"): True,
    }
    assert {pair: are_opposed(*pair) for pair in expected} == expected
