"""Search: word for word, with exact filters, and clear about missing answers."""

from pathlib import Path
from typing import Any

import pytest
from tests.toolsets.conftest import Ask, HandClock, Host, Refused, requirement

from pieria.toolsets.mempalace.words import TYPES, hall_by


@pytest.fixture
def settings(request: pytest.FixtureRequest) -> dict[str, Any]:
    return {"embedder": getattr(request, "param", "hashing")}


def file(ask: Ask, content: str, wing: str = "api", room: str = "notes", **more: Any) -> str:
    return str(ask("mempalace_add_drawer", wing=wing, room=room, content=content, **more)["drawer_id"])


def texts(ask: Ask, query: str, **more: Any) -> list[str]:
    return [one["text"] for one in ask("mempalace_search", query=query, **more)["results"]]


@requirement("search.verbatim", "search.filters")
def test_drawers_are_found_word_for_word_and_by_source(ask: Ask, refused: Refused, host: Host) -> None:
    content = "  We chose JWT,\n\nnot cookies.  "
    id = file(ask, content, source_file="/home/maya/adr.md")
    host.bank.sync()
    told = ask("mempalace_search", query="JWT or cookies?", wing="api", why=True)
    [one] = told["results"]
    assert (one["drawer_id"], one["text"], one["wing"], one["room"]) == (id, content, "api", "notes")
    assert (one["matched_via"], one["similarity"] > 0.5) == ("meaning", True)
    assert (one["source_file"], told["filters"]["wing"], told["query"]) == ("adr.md", "api", "JWT or cookies?")
    assert 0 < one["similarity"] <= 1
    assert one["distance"] == pytest.approx(1 - one["similarity"], abs=0.001)
    assert one["why"]["dense"] == one["similarity"]
    [plain] = ask("mempalace_search", query="JWT or cookies?", wing="api")["results"]
    assert one.keys() - plain.keys() == {"distance", "score", "matched_via", "why"}
    one = file(ask, "We chose JWT.", source_file="/home/maya/api/adr.md")
    file(ask, "JWT in the web.", source_file="/home/maya/web/adr.md")
    other = file(ask, "JWT, at last.", source_file="C:\\notes\\jwt.md")
    for given, id in (("/home/maya/api/adr.md", one), ("api/adr.md", one), ("jwt.md", other)):
        assert [hit["drawer_id"] for hit in ask("mempalace_search", query="JWT", source_file=given)["results"]] == [id]
    told = refused("mempalace_search", query="JWT", source_file="adr.md")
    assert (told["violations"][0]["parameter"], "api/adr.md" in told["hint"]) == ("source_file", True)
    assert "/home" not in str(told)
    told = ask("mempalace_search", query="JWT", source_file="dr.md")
    assert (told["results"], told["filters"]) == ([], {"wing": None, "room": None, "source_file": "dr.md"})


@requirement("search.filters")
def test_empty_filters_say_why(ask: Ask) -> None:
    file(ask, "We chose JWT.", wing="api", room="decisions")
    file(ask, "We chose blue.", wing="web", room="styles")
    for filters, said in (
        ({"wing": "apii"}, "wing: there is no apii. Did you mean api?"),
        ({"room": "stylez"}, "room: there is no stylez. Did you mean styles?"),
        ({"wing": "api", "room": "styles"}, "room: there is no styles in api."),
        ({"source_file": "none.md"}, "source_file: nothing came from none.md."),
    ):
        told = ask("mempalace_search", query="JWT", **filters)
        assert (told["results"], told["warnings"][0]) == ([], said)
    told = ask("mempalace_search", query="JWT", wing="api", before="2020-01-01")
    assert not [one for one in told["warnings"] if one.startswith(("wing", "room"))]
    for tool in ("list_drawers", "list_rooms", "list_tunnels", "sync"):
        assert ask(f"mempalace_{tool}", wing="apii")["hint"] == "wing: there is no apii. Did you mean api?"
        assert "hint" not in ask(f"mempalace_{tool}", wing="api")


@requirement("search.confident", "complaint.nothing")
def test_unsure_answers_say_so(ask: Ask) -> None:
    file(ask, "The billing service runs on port 8080.")
    assert "no_confident_match" not in ask("mempalace_search", query="which port does the billing service run on?")
    told = ask("mempalace_search", query="who painted the ceiling of the chapel?")
    assert told["no_confident_match"] is True
    assert ask("mempalace_search", query=" ")["warnings"][0] == "query: an empty query finds nothing."
    told = ask("mempalace_search", query="billing in the harbour office", max_distance=0.1)
    assert (told["results"], told["too_distant"], told["no_confident_match"]) == ([], 1, True)


PROMPT = "You are a careful assistant. Follow all rules of the harbour office and answer in short sentences. " * 8


@requirement("search.prompt")
def test_last_question_of_a_prompt_is_asked(ask: Ask) -> None:
    id = file(ask, "The billing service runs on port 8080.")
    for number in range(20):
        file(ask, f"Rule {number} of the harbour office: answer in short sentences, be careful.")
    for question in ("Which port does the billing service use?", "billing service 使用哪个 port？"):
        told = ask("mempalace_search", query=f"{PROMPT}\nUser: thanks. {question}")
        assert (told["results"][0]["drawer_id"], "no_confident_match" in told) == (id, False), question
        assert (told["query"], told["query_sanitized"]) == (question, True)
        lengths = {"original_length": len(PROMPT) + len(question) + 15, "clean_length": len(question)}
        assert told["sanitizer"] == {"method": "last_question", "clean_query": question, **lengths}
    for query in ("Is it? " * 20, PROMPT, f"Which port? {PROMPT}"):
        told = ask("mempalace_search", query=query)
        assert (told["query"], "query_sanitized" in told) == (query, False)


@requirement("search.long", "search.verbatim", "complaint.slices")
def test_passage_of_a_long_drawer_is_shown_in_whole_words(ask: Ask, host: Host) -> None:
    for before in (0, 1, 700, 2_400):
        lines = [f"Line {number} of the minutes\tsays\n  nothing of note." for number in range(2_500)]
        lines.insert(before, "The launch code is kestrel.")
        content = "\n".join(lines)[:99_000]
        id = file(ask, content, wing=f"w{before}")
        # A text this long is embedded in the background.
        host.bank.sync()
        [one] = ask("mempalace_search", query="launch code kestrel", wing=f"w{before}")["results"]
        assert (one["drawer_id"], one["truncated"], one["length"]) == (id, True, len(content))
        begin = content.find(one["text"])
        end = begin + len(one["text"])
        assert begin >= 0, "not as it stands there"
        assert ("kestrel" in one["text"]) is ("kestrel" in content)
        assert 1_000 < len(one["text"]) <= 2_400
        assert begin == 0 or content[begin - 1].isspace()
        assert end == len(content) or content[end].isspace()


@requirement("search.duplicate")
def test_duplicate_is_known_by_its_whole_text(ask: Ask, host: Host) -> None:
    begin = " ".join(f"Line {number} of the common preamble, word for word." for number in range(80))
    tails = [" ".join(f"{word} {number} differs." for number in range(200)) for word in ("Harbour", "Kernel")]
    id = file(ask, f"{begin} {tails[0]}")
    host.bank.sync()
    told = ask("mempalace_check_duplicate", content=f"{begin} {tails[0]}")
    assert (told["is_duplicate"], told["threshold"]) == (True, 0.87)
    assert (told["matches"][0]["id"], told["matches"][0]["similarity"]) == (id, 1.0)
    assert ask("mempalace_check_duplicate", content=f"{begin} {tails[1]}")["is_duplicate"] is False
    assert ask("mempalace_check_duplicate", content="Something else.")["matches"] == []


@requirement("halls.assigned")
def test_words_speak_for_a_hall() -> None:
    rows = [line.split("\t") for line in Path(__file__).with_name("halls.tsv").read_text().splitlines()[1:]]
    assert {text: hall_by(text) for _, text in rows} == {text: hall for hall, text in rows}


@requirement("halls.assigned")
def test_every_way_of_filing_gives_a_hall_that_filters(ask: Ask, host: Host) -> None:
    decision = file(ask, "We decided on JWT for the service.")
    given = file(ask, "The JWT service is written in Go.", hall="hall_discoveries")
    ask("mempalace_diary_write", agent_name="Helper", entry="JWT was discussed.")
    host.bank.remember("JWT tokens expired.", kind="observation", body={"type": "bugfix"}, place="api/notes")

    def found(hall: str) -> set[str]:
        results = ask("mempalace_search", query="JWT", hall=hall, limit=50)["results"]
        listed = {row["drawer_id"] for row in ask("mempalace_list_drawers", hall=hall)["drawers"]}
        assert listed == {one["drawer_id"] for one in results}
        assert all(one["hall"] == hall for one in results)
        return listed

    assert found("hall_decisions") == {decision}
    assert len(found("hall_diary")) == 1
    assert (len(found("hall_discoveries")), given in found("hall_discoveries")) == (2, True)
    [row] = [row for row in ask("mempalace_traverse", start_room="notes") if row["hop"] == 0]
    assert row["halls"] == ["hall_decisions", "hall_discoveries"]
    ask("mempalace_update_drawer", drawer_id=decision, content="You should never store a JWT in a URL.")
    assert found("hall_advice") == {decision}
    ask("mempalace_update_drawer", drawer_id=given, content="We decided to write the JWT service in Rust.")
    assert given in found("hall_discoveries"), "a hall that was given by hand stays"


@requirement("everybody.s", "halls.assigned")
def test_unknown_type_lies_in_no_hall(ask: Ask, host: Host) -> None:
    id = host.bank.remember("We decided on kestrels.", body={"type": "omen"}).id
    assert "hall" not in ask("mempalace_search", query="kestrels")["results"][0]
    assert not any(ask("mempalace_list_drawers", hall=hall)["total"] for hall in TYPES)
    told = ask("mempalace_update_drawer", drawer_id=id, hall="hall_decisions")
    assert (told["updated_fields"], told["hall"]) == (["hall"], "hall_decisions")
    assert ask("mempalace_list_drawers", hall="hall_decisions")["total"] == 1


def broken(texts: list[str]) -> list[list[float]]:
    raise OSError("the model is not there")


@requirement("complaint.cold")
@pytest.mark.parametrize("models", [{"embedder": broken}])
@pytest.mark.parametrize("settings", [{}])
def test_palace_without_its_model_answers_by_words(ask: Ask) -> None:
    id = file(ask, "Crate 1 holds kestrels.")
    told = ask("mempalace_search", query="kestrels", why=True)
    [one] = told["results"]
    assert (one["drawer_id"], one["matched_via"], one["similarity"] > 0.5) == (id, "words", True)
    assert told["warnings"]


@requirement("complaint.recency")
def test_newer_of_two_similar_drawers_comes_first(ask: Ask, clock: HandClock) -> None:
    old, new = "The password changes every 60 days.", "The password changes every 90 days."
    file(ask, old)
    clock.move(days=20)
    file(ask, new)
    assert texts(ask, "how often does the password change?")[0] == new
    assert (texts(ask, "password", since="2026-03-20"), texts(ask, "password", before="2026-03-20")) == ([new], [old])


SPOKEN = {
    "Die Rechnungen werden freitags verschickt.": "Wann wird eine Rechnung verschickt?",
    "Совещание перенесли на пятницу.": "когда совещание?",
    "昨日、東京で田中さんに会いました。": "東京の田中さん",
    "الاجتماع يوم الجمعة في القاهرة.": "الاجتماع في القاهرة",
    "การประชุมจัดขึ้นที่กรุงเทพ": "กรุงเทพ",
}


@requirement("complaint.languages")
@pytest.mark.parametrize("settings", ["none", "hashing"], indirect=True)
def test_any_language_is_found_by_its_words(ask: Ask) -> None:
    for text in (*SPOKEN, "Nothing of this is said in English."):
        file(ask, text)
    assert {text: texts(ask, query)[0] for text, query in SPOKEN.items()} == {text: text for text in SPOKEN}
