"""Search: word for word, with exact filters, and clear about missing answers."""

from typing import Any

import pytest
from tests.toolsets.conftest import Ask, Refused
from tests.toolsets.requirements import requirement

from pieria.toolsets import Host
from pieria.toolsets.mempalace.words import HALLS, hall_by


@pytest.fixture
def settings(request: pytest.FixtureRequest) -> dict[str, Any]:
    return {"embedder": getattr(request, "param", "hashing")}


def file(ask: Ask, content: str, wing: str = "api", room: str = "notes", **more: Any) -> str:
    return str(ask("mempalace_add_drawer", wing=wing, room=room, content=content, **more)["drawer_id"])


def texts(ask: Ask, query: str, **more: Any) -> list[str]:
    return [one["text"] for one in ask("mempalace_search", query=query, **more)["results"]]


@requirement("search.verbatim")
def test_drawers_come_back_word_for_word_with_where_they_are(ask: Ask) -> None:
    content = "  We chose JWT,\n\nnot cookies.  "
    id = file(ask, content, source_file="/home/maya/adr.md")
    told = ask("mempalace_search", query="JWT or cookies?", wing="api")
    [one] = told["results"]
    assert (one["drawer_id"], one["text"], one["wing"], one["room"]) == (id, content, "api", "notes")
    assert (one["source_file"], told["filters"]["wing"], told["query"]) == ("adr.md", "api", "JWT or cookies?")
    assert 0 < one["similarity"] <= 1
    assert one["distance"] == pytest.approx(1 - one["similarity"], abs=0.001)


@requirement("search.verbatim")
@pytest.mark.parametrize(("settings", "by"), [("hashing", "meaning"), ("none", "words")], indirect=["settings"])
def test_a_similarity_is_told_with_and_without_vectors(ask: Ask, host: Host, by: str) -> None:
    file(ask, "We chose JWT.")
    host.bank.sync()
    [one] = ask("mempalace_search", query="JWT chose")["results"]
    assert one["matched_via"] == by
    assert one["similarity"] > 0.5


@requirement("search.filters")
def test_behind_a_filter_there_are_as_many_hits_as_fit(ask: Ask) -> None:
    for number in range(60):
        file(ask, f"The deploy of service {number} failed on port {number}.", wing="loud", room=f"r{number % 3}")
    rare = [file(ask, f"Quiet deploy {number}.", wing="quiet", room="r1") for number in range(4)]
    for filters in ({"wing": "quiet"}, {"wing": "quiet", "room": "r1"}):
        found = ask("mempalace_search", query="deploy", limit=10, **filters)["results"]
        assert {one["drawer_id"] for one in found} == set(rare)
    assert len(texts(ask, "deploy", limit=100, room="r1")) == 24
    assert len(texts(ask, "deploy", limit=30, wing="", room="")) == 30
    assert texts(ask, "deploy", wing="none") == []


@requirement("search.filters")
def test_a_filter_that_lets_nothing_through_says_why(ask: Ask) -> None:
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
    assert ask("mempalace_list_drawers", wing="apii")["hint"] == "wing: there is no apii. Did you mean api?"
    assert ask("mempalace_list_rooms", wing="apii")["hint"] == "wing: there is no apii. Did you mean api?"
    assert "hint" not in ask("mempalace_list_drawers", wing="api")
    assert "hint" not in ask("mempalace_list_rooms", wing="api")


@requirement("search.filters")
def test_a_source_is_found_by_as_much_of_its_path_as_tells_it(ask: Ask, refused: Refused) -> None:
    one = file(ask, "We chose JWT.", source_file="/home/maya/api/adr.md")
    file(ask, "JWT in the web.", source_file="/home/maya/web/adr.md")
    other = file(ask, "JWT, at last.", source_file="C:\\notes\\jwt.md")
    for given, id in (("/home/maya/api/adr.md", one), ("api/adr.md", one), ("jwt.md", other)):
        assert [hit["drawer_id"] for hit in ask("mempalace_search", query="JWT", source_file=given)["results"]] == [id]
    told = refused("mempalace_search", query="JWT", source_file="adr.md")
    assert (told["violations"][0]["parameter"], "api/adr.md" in told["hint"]) == ("source_file", True)
    assert "/home" not in str(told)
    assert ask("mempalace_search", query="JWT", source_file="dr.md")["results"] == []


@requirement("search.confident")
def test_what_is_not_there_is_no_confident_match(ask: Ask) -> None:
    file(ask, "The billing service runs on port 8080.")
    assert ask("mempalace_search", query="which port does the billing service run on?")["no_confident_match"] is False
    told = ask("mempalace_search", query="who painted the ceiling of the chapel?")
    assert told["no_confident_match"] is True
    assert ask("mempalace_search", query=" ")["warnings"][0] == "query: an empty query finds nothing."


@requirement("search.confident")
def test_what_is_too_distant_is_left_out_and_counted(ask: Ask) -> None:
    file(ask, "The billing service runs on port 8080.")
    told = ask("mempalace_search", query="billing in the harbour office", max_distance=0.1)
    assert (told["results"], told["too_distant"], told["no_confident_match"]) == ([], 1, True)


PROMPT = "You are a careful assistant. Follow all rules of the harbour office and answer in short sentences. " * 8


@requirement("search.prompt")
@pytest.mark.parametrize(("language", "question"), [
    ("English", "Which port does the billing service use?"), ("Chinese", "billing service 使用哪个 port？"),
])  # fmt: skip
def test_of_a_whole_prompt_its_last_question_is_asked(ask: Ask, language: str, question: str) -> None:
    id = file(ask, "The billing service runs on port 8080.")
    for number in range(20):
        file(ask, f"Rule {number} of the harbour office: answer in short sentences, be careful.")
    told = ask("mempalace_search", query=f"{PROMPT}\nUser: thanks. {question}")
    assert (told["results"][0]["drawer_id"], told["no_confident_match"]) == (id, False), language
    assert (told["query"], told["query_sanitized"]) == (question, True)
    assert told["sanitizer"] == {
        "method": "last_question",
        "original_length": len(PROMPT) + len(question) + 15,
        "clean_length": len(question),
        "clean_query": question,
    }


@requirement("search.prompt")
@pytest.mark.parametrize("query", ["Is it? " * 20, PROMPT, f"Which port? {PROMPT}"])
def test_what_is_short_or_does_not_end_in_a_question_is_asked_as_it_is(ask: Ask, query: str) -> None:
    told = ask("mempalace_search", query=query)
    assert (told["query"], "query_sanitized" in told) == (query, False)


@requirement("search.long")
def test_of_a_very_long_drawer_the_passage_that_fits_is_shown(ask: Ask) -> None:
    content = "Nothing of note. " * 900 + "The launch code is kestrel. " + "Nothing of note. " * 900
    id = file(ask, content)
    [one] = ask("mempalace_search", query="launch code kestrel")["results"]
    assert (one["truncated"], one["length"]) == (True, len(content))
    assert "kestrel" in one["text"]
    assert ask("mempalace_get_drawer", drawer_id=id)["content"] == content


@requirement("search.long", "search.verbatim")
@pytest.mark.parametrize("before", [0, 1, 700, 2_400])
def test_that_passage_is_word_for_word_and_whole_words(ask: Ask, host: Host, before: int) -> None:
    lines = [f"Line {number} of the minutes\tsays\n  nothing of note." for number in range(2_500)]
    lines.insert(before, "The launch code is kestrel.")
    content = "\n".join(lines)[:99_000]
    file(ask, content)
    # A text this long is embedded in the background.
    host.bank.sync()
    [one] = ask("mempalace_search", query="launch code kestrel")["results"]
    begin = content.find(one["text"])
    end = begin + len(one["text"])
    assert begin >= 0, "not as it stands there"
    assert ("kestrel" in one["text"]) is ("kestrel" in content)
    assert 1_000 < len(one["text"]) <= 2_400
    assert begin == 0 or content[begin - 1].isspace()
    assert end == len(content) or content[end].isspace()


@requirement("search.duplicate")
def test_a_duplicate_is_known_by_all_of_it(ask: Ask, host: Host) -> None:
    begin = " ".join(f"Line {number} of the common preamble, word for word." for number in range(80))
    tails = [" ".join(f"{word} {number} differs." for number in range(200)) for word in ("Harbour", "Kernel")]
    id = file(ask, f"{begin} {tails[0]}")
    host.bank.sync()
    told = ask("mempalace_check_duplicate", content=f"{begin} {tails[0]}")
    assert (told["is_duplicate"], told["threshold"]) == (True, 0.87)
    assert (told["matches"][0]["id"], told["matches"][0]["similarity"]) == (id, 1.0)
    assert ask("mempalace_check_duplicate", content=f"{begin} {tails[1]}")["is_duplicate"] is False
    assert ask("mempalace_check_duplicate", content="Something else.") == {
        "is_duplicate": False, "threshold": 0.87, "matches": [],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "hall"),
    [
        ("We decided to switch from cookies to JWT.", "hall_decisions"),
        ("The outage happened on 2026-01-10 after the launch.", "hall_events"),
        ("The root cause turned out to be a stale token.", "hall_discoveries"),
        ("Maya prefers tea and hates coffee.", "hall_preferences"),
        ("You should never deploy on Fridays.", "hall_advice"),
        ("The service runs on port 8080.", "hall_facts"),
        ("東京は日本の首都です。", "hall_facts"),
        ("The capital dismissed it.", "hall_facts"),
        ("Wir haben uns für Svelte entschieden.", "hall_decisions"),
        ("Nous avons décidé de garder le cache.", "hall_decisions"),
        ("我们决定使用新的数据库。", "hall_decisions"),
        ("昨日、東京で田中さんに会いました。", "hall_events"),
        ("회의는 금요일에 열립니다.", "hall_events"),
        ("La causa era un token caducado.", "hall_discoveries"),
        ("Оказалось, что ключ истёк.", "hall_discoveries"),
        ("A Maya le gusta el té.", "hall_preferences"),
        ("Bisogna evitare i venerdì.", "hall_advice"),
        ("하지 마세요.", "hall_advice"),
        ("Der Hafen ist im Mai offen, hier liegt die Karte.", "hall_facts"),
    ],
)
@requirement("halls.assigned")
def test_words_speak_for_a_hall(text: str, hall: str) -> None:
    assert hall_by(text) == hall


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
    assert given in found("hall_discoveries")
    assert len(found("hall_discoveries")) == 2
    [row] = [row for row in ask("mempalace_traverse", start_room="notes") if row["hop"] == 0]
    assert row["halls"] == ["hall_decisions", "hall_discoveries"]
    ask("mempalace_update_drawer", drawer_id=decision, content="You should never store a JWT in a URL.")
    assert found("hall_advice") == {decision}
    ask("mempalace_update_drawer", drawer_id=given, content="We decided to write the JWT service in Rust.")
    assert given in found("hall_discoveries"), "a hall that was given by hand stays"
    assert set(HALLS.values()) >= {"hall_facts", "hall_events", "hall_preferences"}
