"""Drawers: one for each text in a room, whole, and gone once deleted."""

import hashlib
from typing import Any

from tests.toolsets.conftest import Ask, HandClock, Host, Refused, requirement

JWT = "We chose JWT for all new APIs."


def file(ask: Ask, content: str = JWT, wing: str = "api", room: str = "decisions", **more: Any) -> dict[str, Any]:
    filed: dict[str, Any] = ask("mempalace_add_drawer", wing=wing, room=room, content=content, **more)
    return filed


def wings(ask: Ask, host: Host) -> Any:
    return ask("mempalace_list_wings", at=host)["wings"]


@requirement("drawer.id", "drawer.again")
def test_id_follows_from_the_text_and_can_be_used_again(ask: Ask, host: Host) -> None:
    filed = file(ask, "é", "café", "a b")
    digest = hashlib.sha256("4:café3:a b1:é".encode()).hexdigest()[:24]
    assert filed["drawer_id"] == f"drawer_café_a b_{digest}"
    before = host.bank.changes()
    again = file(ask, "é", "café", "a b")
    assert (again["drawer_id"], again["reason"]) == (filed["drawer_id"], "already_exists")
    assert host.bank.changes() == before
    assert file(ask, "é", "café", "other")["drawer_id"] != filed["drawer_id"]
    first = file(ask)["drawer_id"]
    ask("mempalace_delete_drawer", drawer_id=first)
    second = file(ask)
    assert (second["drawer_id"], "reason" in second) == (f"{first}_2", False)
    ask("mempalace_update_drawer", drawer_id=second["drawer_id"], content="We chose cookies.")
    third = file(ask)["drawer_id"]
    assert third == f"{first}_3"
    assert file(ask)["drawer_id"] == third
    assert file(ask, "We chose cookies.")["drawer_id"] == second["drawer_id"]


@requirement("drawer.verbatim")
def test_drawer_is_whole_however_long(ask: Ask) -> None:
    content = "  A line.\n\n\tAnother é 東京 👋🏽 line.\n" * 2_500
    filed = file(ask, content)
    assert ask("mempalace_get_drawer", drawer_id=filed["drawer_id"])["content"] == content
    [row] = ask("mempalace_list_drawers")["drawers"]
    assert row["length"] == len(content)
    begin = row["content_preview"].removesuffix("...")
    assert 100 < len(begin) <= 200
    assert content.startswith(begin)
    assert content[len(begin)].isspace(), "cut within a word"
    assert filed["chunks"] == 1


@requirement("drawer.names", "schema.validated")
def test_names_and_texts_that_cannot_be_kept_are_refused(refused: Refused, ask: Ask) -> None:
    wrong = ["a/b", "a\\b", "..", "-a", "a-", "", " ", "*", "x" * 129, "a..b", "a\nb", "a\0b", "a\ud800b", "a\u2028b"]
    for name in wrong:
        told = refused("mempalace_add_drawer", wing=name, room=name, content="x")
        assert (told["success"], told["error_class"]) == (False, "invalid_input")
        assert [one["parameter"] for one in told["violations"]] == ["wing", "room"], name
    for content in (" ", "a\0b", "a \ud800 b"):
        for tool, more in (("add_drawer", {"wing": "w", "room": "r"}), ("check_duplicate", {})):
            told = refused(f"mempalace_{tool}", content=content, **more)
            assert (told["error_class"], told["violations"][0]["parameter"]) == ("invalid_input", "content")
    told = refused("mempalace_create_tunnel", source_wing="a", source_room="b/", target_wing=".", target_room="c")
    assert [one["parameter"] for one in told["violations"]] == ["source_room"]
    told = refused("mempalace_search", query=5, limit=500, wnig="x")
    assert {one["parameter"] for one in told["violations"]} == {"query", "wnig"}
    assert (told["results"], type(told["error"]), "success" in told) == ([], str, False)
    wrong_source = refused("mempalace_delete_by_source", source_file=5)
    assert wrong_source["error"] == "source_file: expected a non-empty text, got 5"
    assert ask("mempalace_status")["total_drawers"] == 0


@requirement("drawer.list")
def test_pages_hold_each_drawer_once(ask: Ask, clock: HandClock) -> None:
    for number in range(4):
        file(ask, f"Drawer {number}.", room="odd" if number % 2 else "even")
        clock.move(minutes=1)
    widest = ask("mempalace_list_drawers", limit=500, offset="-5")
    assert (widest["limit"], widest["offset"], widest["count"]) == (100, 0, 4)
    assert widest["warnings"] == [
        "limit: 500 is out of range, 100 was taken.",
        "offset: -5 is out of range, 0 was taken.",
    ]
    pages = [ask("mempalace_list_drawers", limit=3, offset=offset) for offset in (0, 3, 6)]
    shown = [row["content_preview"] for page in pages for row in page["drawers"]]
    assert shown == [f"Drawer {number}." for number in (3, 2, 1, 0)]
    assert [(page["total"], page["count"], page["offset"]) for page in pages] == [(4, 3, 0), (4, 1, 3), (4, 0, 6)]
    assert ask("mempalace_list_drawers", room="odd", wing="")["total"] == 2
    assert ask("mempalace_list_drawers", since=pages[0]["drawers"][1]["metadata"]["filed_at"])["total"] == 2


@requirement("drawer.list", "search.filters")
def test_before_a_day_means_before_it_begins(ask: Ask, host: Host) -> None:
    for day in (19, 20):
        host.bank.remember(f"Noon of the {day}th.", kind="drawer", place="w/r", at=f"2026-03-{day}T12:00:00Z")
    for before, days in (
        ("2026-03-20", [19]), ("2026-03-20T12:00:00Z", [19]), ("2026-03-20T14:00:01+02:00", [20, 19]),
        ("2026-03-21", [20, 19]), ("2026-03-19", []), ("", [20, 19]),
    ):  # fmt: skip
        told = [f"Noon of the {day}th." for day in days]
        listed = ask("mempalace_list_drawers", before=before)["drawers"]
        assert [row["content_preview"] for row in listed] == told, before
        hits = ask("mempalace_search", query="noon", before=before)["results"]
        assert {hit["text"] for hit in hits} == set(told), before


@requirement("schema.validated", "drawer.list")
def test_invalid_times_are_named_as_given(refused: Refused) -> None:
    for tool, more in (("mempalace_list_drawers", {}), ("mempalace_search", {"query": "x"})):
        told = refused(tool, since="soon", before="2026-02-30", **more)
        received = {one["parameter"]: one["received"] for one in told["violations"]}
        assert received == {"since": "'soon'", "before": "'2026-02-30'"}
        told = refused(tool, since="2026-01-31", before="2026-01-31", **more)
        assert (told["violations"][0]["received"], "give the next day" in told["hint"]) == ("'2026-01-31'", True)


@requirement("drawer.update", "complaint.stale")
def test_correction_keeps_the_id_and_the_old_text(ask: Ask, refused: Refused, host: Host) -> None:
    id = file(ask, source_file="/home/maya/notes.md", added_by=None, hall=None)["drawer_id"]
    told = ask("mempalace_update_drawer", drawer_id=id, content="We chose cookies.", room="rulings")
    assert (told["drawer_id"], told["updated_fields"], told["version"]) == (id, ["content", "room"], 2)
    held = ask("mempalace_get_drawer", drawer_id=id)
    assert (held["content"], held["room"]) == ("We chose cookies.", "rulings")
    assert (held["metadata"]["source_file"], held["metadata"]["added_by"]) == ("notes.md", "mcp")
    assert ask("mempalace_get_drawer", drawer_id=f"{id}@1")["content"] == JWT
    for tool, more in (("update_drawer", {"content": "x"}), ("delete_drawer", {})):
        told = refused(f"mempalace_{tool}", drawer_id=f"{id}@1", **more)
        assert (told["error_class"], id in told["hint"]) == ("not_found", True)
    assert ask("mempalace_search", query="JWT")["results"] == []
    assert ask("mempalace_check_duplicate", content=JWT, threshold=1)["matches"] == []
    before = host.bank.changes()
    for nothing in ({}, {"content": "We chose cookies.", "wing": "api"}):
        assert ask("mempalace_update_drawer", drawer_id=id, **nothing)["noop"] is True
    assert host.bank.changes() == before


@requirement("drawer.names")
def test_names_of_any_script_are_kept(ask: Ask) -> None:
    names = ("R&D: lab #1", "Müller's", "e\u0301te\u0301", "日記", "हिन्दी", "ภาษาไทย้", "می\u200cخواهم", "a b")
    for name in names:
        file(ask, JWT, name, name)
    assert ask("mempalace_get_taxonomy")["taxonomy"] == {name: {name: 1} for name in names}


@requirement("drawer.update", "drawer.delete", "drawer.batch")
def test_unknown_drawer_is_an_error(ask: Ask, refused: Refused) -> None:
    for tool, more in (("update_drawer", {"content": "x"}), ("delete_drawer", {}), ("get_drawer", {})):
        told = refused(f"mempalace_{tool}", drawer_id="nowhere", **more)
        assert (told["error_class"], told.get("success", False)) == ("not_found", False)
    there = file(ask, "Kept.", wing="a-project-of-many-words", room="decisions-of-architecture")["drawer_id"]
    gone = f"{there[:-1]}x"
    told = ask("mempalace_delete_drawers", drawer_ids=[gone])
    assert (told["results"][0]["error"], told["errors"]) == (f"drawer '{gone}' not found", 1)
    assert told["deleted"] == 0
    refused("mempalace_delete_drawers", drawer_ids=[])
    refused("mempalace_get_drawers", drawer_ids=["x"] * 501)
    others = [file(ask, f"Drawer {number}.")["drawer_id"] for number in range(2)]
    told = ask("mempalace_get_drawers", drawer_ids=[there, *others, "nowhere", there])
    assert [one["drawer_id"] for one in told["results"]] == [there, *others, "nowhere"]
    assert (told["count"], told["errors"], told["missing"]) == (4, 1, ["nowhere"])
    assert told["results"][0] == ask("mempalace_get_drawer", drawer_id=there)
    told = ask("mempalace_delete_drawers", drawer_ids=[*others, gone])
    assert [one.get("deleted_ids") for one in told["results"]] == [[others[0]], [others[1]], None]
    assert (told["count"], told["deleted"], told["errors"]) == (3, 2, 1)
    assert ask("mempalace_status")["total_drawers"] == 1


@requirement("drawer.delete", "drawer.names")
def test_facts_and_private_parts_go(ask: Ask, refused: Refused) -> None:
    id = file(ask)["drawer_id"]
    fact = {"subject": "API", "predicate": "uses", "object": "JWT"}
    ask("mempalace_kg_add", **fact, source_drawer_id=id)
    told = ask("mempalace_delete_drawer", drawer_id=id)
    assert (told["deleted_ids"], told["facts_deleted"]) == ([id], 1)
    assert ask("mempalace_kg_query", entity="API")["count"] == 0
    assert ask("mempalace_status")["total_drawers"] == 0
    assert refused("mempalace_get_drawer", drawer_id=id)["error_class"] == "not_found"
    content = "The door code <private>4711</private> was changed."
    first, again = file(ask, content), file(ask, content)
    assert first["flags"] == ["private:cut"]
    assert again["reason"] == "already_exists"
    assert "4711" not in ask("mempalace_get_drawer", drawer_id=first["drawer_id"])["content"]


@requirement("drawer.source")
def test_drawers_of_a_source_are_shown_and_then_erased(ask: Ask, refused: Refused, host: Host) -> None:
    for number in range(3):
        file(ask, f"Drawer {number}.", source_file="/home/maya/notes.md")
    file(ask, "Mine.", source_file="/home/maya/other.md")
    shown = ask("mempalace_delete_by_source", source_file="/home/maya/notes.md")
    assert (shown["dry_run"], shown["match_count"]) == (True, 3)
    assert shown["sample"] == [{"wing": "api", "room": "decisions"}] * 3
    assert ask("mempalace_status")["total_drawers"] == 4
    assert "/home/maya" not in str(ask("mempalace_list_drawers"))
    assert ask("mempalace_delete_by_source", source_file="notes.md")["match_count"] == 3
    file(ask, "Theirs.", source_file="/home/omar/notes.md")
    told = refused("mempalace_delete_by_source", source_file="notes.md", dry_run=False)
    assert told["hint"] == "Give more of the path: maya/notes.md or omar/notes.md."
    told = ask("mempalace_delete_by_source", source_file="/x/note.md", dry_run=False)
    assert (told["match_count"], told["deleted"], "Did you mean notes.md" in told["hint"]) == (0, 0, True)
    assert ask("mempalace_delete_by_source", source_file="maya/notes.md", dry_run=False)["deleted"] == 3
    assert ask("mempalace_status")["total_drawers"] == 2
    id = file(ask, source_file="/home/maya/adr.md")["drawer_id"]
    host.bank.remove(id)
    [row] = ask("mempalace_delete_by_source", source_file="adr.md")["drawers"]
    assert (row["drawer_id"], row["metadata"]["status"]) == (id, "removed")
    assert ask("mempalace_delete_by_source", source_file="adr.md", dry_run=False)["deleted_ids"] == [id]
    assert host.bank.get(id, include_removed=True) is None
    file(ask, "From a broken terminal.", source_file="na\udcefve.md")
    told = ask("mempalace_delete_by_source", source_file="na\udcefve.md", dry_run=False)
    assert (told["source_file"], told["deleted"]) == ("nave.md", 1)


@requirement("overview.counts", "drawer.list")
def test_counts_follow_changes_of_every_session(ask: Ask, host: Host) -> None:
    other = host.having(session="tuesday")
    id = file(ask)["drawer_id"]
    assert wings(ask, other) == {"api": 1}
    ask("mempalace_update_drawer", at=other, drawer_id=id, wing="web")
    assert wings(ask, host) == {"web": 1}
    host.bank.remember("From Python.")
    assert ask("mempalace_get_taxonomy")["taxonomy"] == {"notes": {"note": 1}, "web": {"decisions": 1}}
    assert ask("mempalace_list_rooms", wing="web") == {"wing": "web", "rooms": {"decisions": 1}}
    assert ask("mempalace_list_rooms") == {"wing": "all", "rooms": {"decisions": 1, "note": 1}}
    assert ask("mempalace_list_rooms", wing="none")["rooms"] == {}
    ask("mempalace_delete_drawer", drawer_id=id)
    assert wings(ask, other) == {"notes": 1}


@requirement("overview.status", "overview.counts", "complaint.counts")
def test_status_is_short_and_hides_no_wing(ask: Ask, host: Host) -> None:
    host.bank.remember_many({"text": f"Text {n}.", "place": f"wing-{n % 130}/room-{n % 170}"} for n in range(400))
    told = ask("mempalace_status")
    assert (told["total_drawers"], len(told["wings"]), sum(told["wings"].values())) == (400, 130, 400)
    assert (len(told["rooms"]), told["rooms_left_out"]) == (100, 70)
    assert len((told["protocol"] + told["aaak_dialect"]).split()) < 300
