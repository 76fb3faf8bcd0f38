"""The names in a text by rules, and the known names it mentions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pieria.language.entities import KINDS, entities
from pieria.language.names import Names, named_in

FOUND = [
    ("What did Caroline's sister say about Ludwig van Beethoven?", "name", "Caroline|Ludwig van Beethoven"),
    ("I hope Maya'll come, and O’Reilly’d like to.", "name", "Maya|O’Reilly"),
    ("Thanks Caroline! Hey Mel, how are you?", "name", "Caroline|Mel"),
    ("Yesterday Maya and I met Dr. Smith and J. R. R. Tolkien.", "name", "Maya|Dr. Smith|J. R. R. Tolkien"),
    ("New York is big. The Bank of England is old.", "name", "New York|Bank of England"),
    ("Will Smith came. Will you? Would Maya?", "name", "Will Smith|Maya"),
    ("Élodie and Anne-Marie O'Brien saw San José", "name", "Élodie|Anne-Marie O'Brien|San José"),
    ("I bought an iPhone at Google Cloud on Black Friday", "name", "iPhone|Google Cloud|Black Friday"),
    ("私はMayaさんと行く", "name", "Maya"),
    ("Grace came late. I like Grace.", "name", "Grace|Grace"),
    ("see Maya Lee, Ben and Mia", "name", "Maya Lee|Ben|Mia"),
    ("McDonald’s and LeBron", "name", "McDonald|LeBron"),
    ("Anna prefers tea. James has none. Agnes, my aunt. Paris?", "name", "Anna|James|Agnes|Paris"),
    ("Italy is hot. Cherish the days! Ask Cherish.", "name", "Italy|Cherish|Cherish"),
    ("IBM and NASA; the WHO report, U.S. law", "acronym", "IBM|NASA|WHO|U.S."),
    ("two APIs, AT&T", "acronym", "APIs|AT&T"),
    ("call getUserName() or user_name, MAX_LEN", "identifier", "getUserName|user_name|MAX_LEN"),
    ("HttpClient, run(), os.path.join, node.js", "identifier", "HttpClient|run|os.path.join|node.js"),
    ("__init__, `foo`, .NET, C++ and C#", "identifier", "__init__|foo|.NET|C++|C#"),
    ("src/db/store.ts:42, ~/notes, /tmp/w", "path", "src/db/store.ts|~/notes|/tmp/w"),
    ("./a.sh, C:\\Users\\maya, src/db/", "path", "./a.sh|C:\\Users\\maya|src/db/"),
    ("mail maya.lee+x@mail.example.com.", "email", "maya.lee+x@mail.example.com"),
    ("https://www.docs.example.org/a/b?c", "host", "docs.example.org"),
    ("localhost:80 and 127.0.0.1:7411", "host", "localhost:80|127.0.0.1:7411"),
    ("v2.3.1, 3.11.2 and v2", "version", "v2.3.1|3.11.2|v2"),
    ("ABC-123 and #45", "ticket", "ABC-123|#45"),
    ("@maya and @ben_2", "handle", "@maya|@ben_2"),
    ("#running #été", "tag", "#running|#été"),
    ('She read "Charlotte\'s Web" and “Becoming Nicole”, 『雪国』', "title", "Charlotte's Web|Becoming Nicole|雪国"),
]


@pytest.mark.parametrize(("text", "kind", "names"), FOUND)
def test_what_is_named_is_found(text: str, kind: str, names: str) -> None:
    assert "|".join(found.name for found in entities(text) if found.kind == kind) == names


def test_every_kind_is_found_somewhere() -> None:
    assert {kind for _, kind, _ in FOUND} == set(KINDS)


@pytest.mark.parametrize(
    "text",
    [
        "Painting is fun. Camping was great. However, nobody came. Yes. Unfortunately not.",
        "THIS IS NOT FUNNY AT ALL",
        "How To Build A Great Team",
        "On Monday in May, or on Tuesday. I'm here, I think.",
        "and/or 24/7 he/she I/O e.g. this, i.e. that, end.Next etc.",
        'He said "I never said that." and "why not?"',
        "a 3.14 b 10:30 c $5.00 d 50% e 2023-05-07",
        "#a1b2c3 is a colour",
        "",
        "東京へ行く",
        "WOW! AMAZING. OK",
        "How're you? It'll rain. Must've been so. Y’all come.",
        "Woohoo! Phew, cheers. Yikes",
        "Reminds me of home. Cherish the days! Enter your code. Prioritize them. Tackle any problem.",
        "Setbacks are lessons. Obstacles were. Weddings have cakes.",
        "Mmm, good. Awww! Gonna go. Would you? Jealous! Impressive plan. Friendship counts.",
        "x" * 300 + "@example.com",
    ],
)
def test_what_only_looks_like_a_name_is_none(text: str) -> None:
    assert entities(text) == []


def test_a_question_is_read_like_a_text() -> None:
    assert [found.name for found in entities("Did Caroline visit Oslo?")] == ["Caroline", "Oslo"]


scraps = st.sampled_from(
    [*(text for text, _, _ in FOUND), "A", "The", "of", ". ", "\n", '"', "`", "İ", "@", "#", "/", "://", " "]
)


@given(st.text() | st.lists(scraps).map("".join))
def test_an_entity_is_where_it_says(text: str) -> None:
    found = entities(text)

    for name, kind, start, end in found:
        assert kind in KINDS
        assert 0 <= start < end <= len(text)
        assert " ".join(text[start:end].split()) == name
    assert found == sorted(found, key=lambda entity: entity.start)


KNOWN = [
    "Caroline",
    "Maya Lee",
    "Maya",
    "José",
    "東京",
    "O'Brien",
    "store.ts",
    "AT&T",
    "Dr. Smith",
    "C++",
    "京",
    "Zoë",
    "user_name",
]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("what did caroline's sister do", "Caroline"),
        ("MAYA LEE, maya, Maya-Lee; Maya, Lee", "Maya Lee|Maya|Maya Lee|Maya"),
        ("jose and JOSÉ’s house", "José|José"),
        ("東京に行く", "東京"),
        ("obrien and o'brien's", "O'Brien|O'Brien"),
        ("see store.ts at at&t with dr smith or Dr. Smith", "store.ts|AT&T|Dr. Smith|Dr. Smith"),
        ("carolines mayan don't 京", ""),
        ("c++ code by zoe", "C++|Zoë"),
        ("maya. Lee", "Maya"),
        ("maya\n lee", "Maya Lee"),
        ("ｍａｙａ and user_name", "Maya|user_name"),
        ("", ""),
    ],
)
def test_known_names_are_found_however_they_are_spelt(text: str, names: str) -> None:
    assert "|".join(found.name for found in named_in(text, KNOWN)) == names


def test_the_place_of_a_name_is_without_its_possessive() -> None:
    [found] = named_in("ask Élodie’s boss", ["elodie"])

    assert (found.name, found.start, found.end) == ("elodie", 4, 10)


def test_of_names_that_are_spelt_alike_the_first_is_found() -> None:
    assert [found.name for found in named_in("maya", ["MAYA", "maya", "Maya"])] == ["MAYA"]


@pytest.mark.parametrize("name", ["", " ", "?!", "京", "word " * 17])
def test_what_is_no_name_is_not_looked_for(name: str) -> None:
    assert named_in(f"京 word {name}", [name]) == []


def test_names_of_up_to_sixteen_words_are_looked_for() -> None:
    name = " ".join(f"word{number}" for number in range(16))

    assert [found.name for found in named_in(f"so {name} it is", [name])] == [name]


words = st.text(st.characters(categories=["Lu", "Ll", "Lo", "Nd"]), min_size=1, max_size=8)


@given(st.lists(words, min_size=1, max_size=4), st.sampled_from(["{}", "so {}!", "({})", "“{}’s” a", "{}, b"]))
def test_a_name_is_found_in_what_is_written_around_it(parts: list[str], around: str) -> None:
    name = " ".join(parts)
    names = Names([name])
    if names.found_in(name):
        text = around.format(name)
        assert any(name in text[found.start : found.end] for found in names.found_in(text))


@given(st.text(), st.lists(words, max_size=5))
def test_names_that_are_found_do_not_overlap(text: str, known: list[str]) -> None:
    behind = 0
    for name, start, end in named_in(text, known):
        assert name in known
        assert behind <= start < end <= len(text)
        behind = end
