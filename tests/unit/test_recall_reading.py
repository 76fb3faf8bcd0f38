"""The parts of a question that recall reads before it searches a store."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pieria.language.analyser import terms
from pieria.recall.query import FULLY, PARTLY, Reading, reading
from pieria.record.time import micros

NOW = datetime(2026, 3, 18, 12, tzinfo=UTC)


def test_terms_keep_their_order_and_neighbours_that_tell_something() -> None:
    read = reading("Where did the great heron nest?", NOW)
    assert read.considered == ["great", "heron", "nest"]
    assert read.order.index("great") < read.order.index("heron") < read.order.index("nest")
    assert {("great", "heron"), ("heron", "nest")} <= read.pairs
    assert ("did", "the") not in read.pairs


def test_a_word_that_comes_again_has_its_neighbours_at_each_place() -> None:
    read = reading("the new york office or the new jersey office", NOW)
    assert {("new", "york"), ("york", "offic"), ("new", "jersey"), ("jersey", "offic")} <= read.pairs
    assert ("york", "jersey") not in read.pairs


def test_passages_in_quotes_are_read_as_their_neighbours() -> None:
    read = reading('who said "ship it on Friday" and “never again”, or "no"?', NOW)
    assert read.quoted == (("ship", "it", "on", "friday"), ("never", "again"))
    assert set(read.runs) == read.pairs | set(read.quoted)
    assert reading("who said ship it?", NOW).quoted == ()


def test_idle_words_that_are_quoted_are_looked_for() -> None:
    assert reading('who wrote "to be or not to be" in Hamlet?', NOW).considered == [
        "write",
        "to",
        "be",
        "or",
        "not",
        "hamlet",
    ]
    assert reading('who wrote "to be or not to see" in Hamlet?', NOW).considered == ["write", "see", "hamlet"]


@pytest.mark.parametrize(
    ("question", "wanted", "heeds"),
    [
        ("Write an e-mail to the team about the release.", FULLY, True),
        ("Can you suggest a recipe for tonight?", FULLY, True),
        ("How should I structure the tests?", FULLY, True),
        ("Which framework suits my project?", PARTLY, True),
        ("Which framework suits the project?", PARTLY, False),
        ("When did Maya move to Porto?", 0.0, False),
        ("What did I say about the release?", 0.0, False),
        ("Summarise all we know of the release.", 0.0, False),
        ("In what order did I visit the cities?", 0.0, False),
    ],
)
def test_rules_are_heeded_where_something_is_to_be_done_for_the_asker(
    question: str, wanted: float, heeds: bool
) -> None:
    read = reading(question, NOW)
    assert (read.wants_done, read.may_heed_rules) == (wanted, heeds)


@pytest.mark.parametrize(
    ("question", "overview", "when"),
    [
        ("In what order did the cities come?", True, False),
        ("Give me a summary of the project.", True, False),
        ("When did the heron come?", False, True),
        ("What date was the launch?", False, True),
        ("Who saw the heron?", False, False),
    ],
)
def test_overviews_and_moments_are_told_apart(question: str, overview: bool, when: bool) -> None:
    read = reading(question, NOW)
    assert (read.is_overview, read.is_when) == (overview, when)


def test_times_are_read_as_spans() -> None:
    [day] = reading("What happened on 7 May 2023?", NOW).spans
    assert (day.since, day.until) == (
        micros(datetime(2023, 5, 7, tzinfo=UTC)),
        micros(datetime(2023, 5, 8, tzinfo=UTC)),
    )
    assert not day.yearly
    assert reading("What happened in May?", NOW).spans[0].yearly
    [yesterday] = reading("What happened yesterday?", NOW).spans
    assert yesterday.since == micros(datetime(2026, 3, 17, tzinfo=UTC))
    assert not yesterday.yearly
    assert reading("What happened before June 2023?", NOW).spans[0].since is None
    assert reading("What happened?", NOW).spans == ()


@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    read = reading(text, NOW)
    assert 0.0 <= read.wants_done <= 1.0
    assert not (read.is_overview and read.may_heed_rules)


def test_a_very_long_question_is_read_by_its_beginning() -> None:
    read = reading("Write a letter. " + "heron " * 200_000 + "in May 2023", NOW)
    assert read.wants_done == FULLY
    assert read.spans == ()


# --- possible names


def test_things_are_named_by_how_they_are_spelt() -> None:
    named = reading("Did Ada Lovelace visit Porto?", NOW).named
    assert set(named) == {frozenset(terms("Ada Lovelace")), frozenset(terms("Porto"))}
    assert reading("did anybody visit the harbour?", NOW).named == ()


def test_a_thing_that_is_named_twice_is_named_once() -> None:
    read = reading("Is Porto like Porto, or is PORTO's harbour?", NOW)
    assert len(read.named) == len(set(read.named))
    assert read.labels.count("porto") == read.fact_keys.count("porto") == 1


@pytest.mark.parametrize(
    ("question", "keys"),
    [
        ("where is maya's bike?", {"maya", "bike", "maya bike"}),
        ("where is MAYA’S bike?", {"maya", "bike", "maya bike"}),
        ('what of "maya"\'s bike?', {"maya", "bike", "maya bike"}),
        ("what of (maya), or of «porto»?!", {"maya", "porto"}),
        ("who is ada, then?", {"ada"}),
        ("what does o'brien's heron like", {"o'brien", "heron", "o'brien heron"}),
        ("what of c++ and foo_bar.py?", {"c", "foo_bar.py", "c and foo_bar.py"}),
        ("¿dónde vive José?", {"dónde", "vive", "josé", "dónde vive", "vive josé", "dónde vive josé"}),
        ("記憶 は?", {"記憶", "は", "記憶 は"}),
    ],
)
def test_what_stands_around_a_name_is_no_part_of_it(question: str, keys: set[str]) -> None:
    assert keys <= set(reading(question, NOW).fact_keys)
    assert all("?" not in key and not key.endswith("'s") for key in reading(question, NOW).fact_keys)


@pytest.mark.parametrize(
    "question", ["", "??? — …", "what was that, then?", "who did you tell about it?", "of the and"]
)
def test_common_words_alone_are_no_names(question: str) -> None:
    read = reading(question, NOW)
    assert read.labels == read.fact_keys == ()


def test_a_common_word_may_stand_within_a_name_and_neither_begin_nor_end_it() -> None:
    keys = reading("and the tower of london was", NOW).fact_keys
    assert "tower of london" in keys
    assert not {"of", "tower of", "of london", "the tower", "london was"} & set(keys)


def test_a_name_has_three_words_at_most() -> None:
    keys = reading("alpha beta gamma delta", NOW).fact_keys
    assert {"alpha beta gamma", "beta gamma delta", "alpha beta", "delta"} <= set(keys)
    assert max(len(key.split()) for key in keys) == 3


def test_labels_and_facts_have_keys_of_their_own() -> None:
    """A label keeps its characters; a fact's key is folded in form too."""
    read = reading("where is ｍａｙａ straße?", NOW)
    assert {"ｍａｙａ", "ｍａｙａ strasse"} <= set(read.labels)
    assert {"maya", "maya strasse"} <= set(read.fact_keys)


def of_the_beginning(read: Reading) -> Reading:
    """Return all but the question and its search words, which have bounds of their own."""
    return read._replace(text="", about="", considered=[], beyond=[], order=[], pairs=frozenset())


@pytest.mark.parametrize("beginning", ["Where is Maya in May 2023? ", "harbour " * 60, "a" + "!" * 3_000 + "a "])
def test_names_and_times_of_a_question_as_long_as_a_book_are_those_of_its_beginning(beginning: str) -> None:
    filled = beginning + "heron " * ((4_000 - len(beginning)) // 6)
    filled += "." * (4_000 - len(filled))
    book = filled + " Porto and Ada met on 7 May 2021. Write a summary." * 20_000
    assert len(book) > 1_000_000
    assert of_the_beginning(reading(book, NOW)) == of_the_beginning(reading(filled, NOW))


def test_only_so_many_names_are_looked_for() -> None:
    read = reading(" ".join(f"Maya{number} met" for number in range(300)), NOW)
    assert 0 < len(read.named) <= 20
    assert len(read.fact_keys) <= 20 + 3 * 60


@given(st.text(max_size=300))
def test_no_key_is_blank_and_none_is_there_twice(text: str) -> None:
    read = reading(text, NOW)
    for keys in (read.labels, read.fact_keys):
        assert all(key.strip() for key in keys)
        assert len(set(keys)) == len(keys)
    assert all(read.named)
    assert len(set(read.named)) == len(read.named)
