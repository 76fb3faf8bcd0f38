"""The parts of a question that recall reads before it searches a store."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.samples import samples

from pieria.language.analyser import terms
from pieria.recall.query import FULLY, PARTLY, Reading, reading
from pieria.record.time import micros

SAMPLES, QUESTIONS = samples("grammar"), samples("questions")
NOW = datetime(2026, 3, 18, 12, tzinfo=UTC)


def read(text: str) -> Reading:
    return reading(text, NOW)


def test_terms_keep_their_order_neighbours_and_quotes() -> None:
    found = read("Where did the great heron nest?")
    assert found.considered == ["great", "heron", "nest"]
    assert found.order.index("great") < found.order.index("heron") < found.order.index("nest")
    assert {("great", "heron"), ("heron", "nest")} <= found.pairs
    assert ("did", "the") not in found.pairs
    found = read("the new york office or the new jersey office")
    assert {("new", "york"), ("york", "offic"), ("new", "jersey"), ("jersey", "offic")} <= found.pairs
    assert ("york", "jersey") not in found.pairs
    found = read('who said "ship it on Friday" and “never again”, or "no"?')
    assert found.quoted == (("ship", "it", "on", "friday"), ("never", "again"))
    assert set(found.runs) == found.pairs | set(found.quoted)
    assert read("who said ship it?").quoted == ()
    assert read('who wrote "to be or not to be" in Hamlet?').considered == ["write", "to", "be", "or", "not", "hamlet"]
    assert read('who wrote "to be or not to see" in Hamlet?').considered == ["write", "see", "hamlet"]


def test_rules_overviews_and_moments_are_distinguished() -> None:
    amounts = {"fully": FULLY, "partly": PARTLY, "not": 0.0}
    for text, (wants_done, may_heed_rules) in QUESTIONS["wanted"].items():
        assert (read(text).wants_done, read(text).may_heed_rules) == (amounts[wants_done], may_heed_rules), text
    kinds = QUESTIONS["overviews_and_moments"]
    assert {text: [read(text).is_overview, read(text).is_when] for text in kinds} == kinds


def test_times_are_read_as_spans() -> None:
    [day] = read("What happened on 7 May 2023?").spans
    seventh, eighth = (micros(datetime(2023, 5, number, tzinfo=UTC)) for number in (7, 8))
    assert (day.since, day.until, day.yearly) == (seventh, eighth, False)
    assert read("What happened in May?").spans[0].yearly
    [yesterday] = read("What happened yesterday?").spans
    assert (yesterday.since, yesterday.yearly) == (micros(datetime(2026, 3, 17, tzinfo=UTC)), False)
    assert read("What happened before June 2023?").spans[0].since is None
    assert read("What happened?").spans == ()


def test_things_are_named_by_their_spelling_and_once() -> None:
    named = read("Did Ada Lovelace visit Porto?").named
    assert set(named) == {frozenset(terms("Ada Lovelace")), frozenset(terms("Porto"))}
    assert read("did anybody visit the harbour?").named == ()
    found = read("Is Porto like Porto, or is PORTO's harbour?")
    assert len(found.named) == len(set(found.named))
    assert found.labels.count("porto") == found.fact_keys.count("porto") == 1
    for question, expected in SAMPLES["fact_keys"].items():
        keys = read(question).fact_keys
        assert set(expected) <= set(keys)
        assert all("?" not in key and not key.endswith("'s") for key in keys)
    found = read("where is ｍａｙａ straße?")
    assert {"ｍａｙａ", "ｍａｙａ strasse"} <= set(found.labels)
    assert {"maya", "maya strasse"} <= set(found.fact_keys)


def test_common_words_are_no_names_and_names_are_bounded() -> None:
    for question in ("", "??? — …", "what was that, then?", "who did you tell about it?", "of the and"):
        assert read(question).labels == read(question).fact_keys == ()
    keys = read("and the tower of london was").fact_keys
    assert "tower of london" in keys
    assert not {"of", "tower of", "of london", "the tower", "london was"} & set(keys)
    keys = read("alpha beta gamma delta").fact_keys
    assert {"alpha beta gamma", "beta gamma delta", "alpha beta", "delta"} <= set(keys)
    assert max(len(key.split()) for key in keys) == 3
    found = read(" ".join(f"Maya{number} met" for number in range(300)))
    assert 0 < len(found.named) <= 20
    assert len(found.fact_keys) <= 20 + 3 * 60


def test_a_very_long_question_is_read_by_its_beginning() -> None:
    def of_the_beginning(found: Reading) -> Reading:
        """Return all but the question and its search words, which have bounds of their own."""
        return found._replace(text="", about="", considered=[], beyond=[], order=[], pairs=frozenset())

    for beginning in ("Where is Maya in May 2023? ", "harbour " * 60, "a" + "!" * 3_000 + "a "):
        filled = (beginning + "heron " * ((4_000 - len(beginning)) // 6)).ljust(4_000, ".")
        book = filled + " Porto and Ada met on 7 May 2021. Write a summary." * 1_000
        assert of_the_beginning(read(book)) == of_the_beginning(read(filled))
    found = read("Write a letter. " + "heron " * 10_000 + "in May 2023")
    assert (found.wants_done, found.spans) == (FULLY, ())


@given(st.text(max_size=300))
def test_any_question_can_be_read(text: str) -> None:
    found = read(text)
    assert 0.0 <= found.wants_done <= 1.0
    assert not (found.is_overview and found.may_heed_rules)
    for keys in (found.labels, found.fact_keys):
        assert all(key.strip() for key in keys)
        assert len(set(keys)) == len(keys)
    assert all(found.named)
    assert len(set(found.named)) == len(found.named)
