"""Related rooms, and tunnels that live as long as their ends."""

import json
from typing import Any

import pytest
from tests.toolsets.conftest import Ask, HandClock, Refused, requirement

from pieria.record.link import Place
from pieria.toolsets import Access, Host

ENDS = {"source_wing": "api", "source_room": "auth", "target_wing": "web", "target_room": "login"}


def file(ask: Ask, wing: str, room: str, content: str) -> str:
    return str(ask("mempalace_add_drawer", wing=wing, room=room, content=content)["drawer_id"])


@pytest.fixture
def palace(ask: Ask) -> dict[str, str]:
    """File drawers: auth and login share a name, login and styles another; cellar shares only a wing."""
    return {
        "auth": file(ask, "api", "auth", "Maya keeps the tokens."),
        "login": file(ask, "web", "login", "Maya met Omar."),
        "styles": file(ask, "web", "styles", "Omar likes blue."),
        "cellar": file(ask, "api", "cellar", "It is dark in here."),
    }


def names(rows: list[dict[str, Any]]) -> list[str]:
    return [row["room"] for row in rows]


@requirement("graph.real", "graph.bridges")
def test_long_walk_is_cut_and_common_names_connect_nothing(ask: Ask, host: Host) -> None:
    places = [f"{wing}/room {number}" for number in range(51) for wing in ("one", "two", "three")]
    host.bank.remember_many({"text": f"Maya was in {place}.", "place": place, "entities": ["Maya"]} for place in places)
    assert names(ask("mempalace_traverse", start_room="room 3")) == ["room 3"]
    bridges = ask("mempalace_find_tunnels")
    assert (len(bridges), [row for row in bridges if "truncated" in row]) == (50, [bridges[-1]])
    stats = ask("mempalace_graph_stats")
    assert (stats["passive_tunnel_rooms"], stats["total_edges"]) == (51, 153), "a room of three wings ties each to each"
    for number in range(51):
        host.bank.link(Place("one/room 0"), Place(f"two/room {number}"), "tunnel")
    rows = ask("mempalace_traverse", start_room="room 0", max_hops=1)
    assert (len(rows), rows[-1].get("truncated")) == (50, True)


@requirement("graph.real", "tunnel.lives")
def test_rooms_are_reached_by_names_and_tunnels_or_refused(refused: Refused, ask: Ask, palace: dict[str, str]) -> None:
    for room in ("logins", "web/login"):
        assert refused("mempalace_traverse", start_room=room)["hint"] == "Did you mean login?"
    assert "web/login" in refused("mempalace_follow_tunnels", wing="web", room="logn")["hint"]
    assert refused("mempalace_create_tunnel", **{**ENDS, "target_room": "nowhere"})["error_class"] == "not_found"
    refused("mempalace_create_tunnel", **{**ENDS, "target_wing": "api", "target_room": "auth"})
    told = refused("mempalace_create_tunnel", **ENDS, source_drawer_id=palace["styles"])
    assert told["violations"][0]["parameter"] == "source_drawer_id"
    assert ask("mempalace_list_tunnels")["count"] == 0
    rows = ask("mempalace_traverse", start_room="auth", max_hops=5)
    assert [(row["room"], row["hop"]) for row in rows] == [("auth", 0), ("login", 1), ("styles", 2)]
    assert rows[1]["connected_via"] == ["both name: Maya"]
    assert names(ask("mempalace_traverse", start_room="auth", max_hops=1)) == ["auth", "login"]
    assert names(ask("mempalace_traverse", start_room="cellar")) == ["cellar"]
    ends = {"source_wing": "web", "source_room": "styles", "target_wing": "api", "target_room": "cellar"}
    ask("mempalace_create_tunnel", **ends, label="colours")
    assert ask("mempalace_traverse", start_room="cellar", max_hops=1)[1]["connected_via"] == ["tunnel: colours"]
    ask("mempalace_delete_drawer", drawer_id=palace["styles"])
    assert names(ask("mempalace_traverse", start_room="cellar")) == ["cellar"]


@requirement("graph.bridges")
def test_bridges_are_rooms_of_several_wings(ask: Ask, palace: dict[str, str]) -> None:
    assert ask("mempalace_find_tunnels") == []
    file(ask, "My-App", "auth", "Tokens, too.")
    [row] = ask("mempalace_find_tunnels", wing_a="my app")
    assert (row["room"], row["wings"], row["count"], row["recent"]) == ("auth", ["My-App", "api"], 2, "2026-03-01")
    assert ask("mempalace_find_tunnels", wing_a="my_app", wing_b="web") == []
    ask("mempalace_create_tunnel", **ENDS)
    assert names(ask("mempalace_find_tunnels", wing_a="api", wing_b="WEB")) == ["auth", "login"]
    stats = ask("mempalace_graph_stats")
    assert (stats["total_rooms"], stats["total_room_instances"]) == (4, 5)
    assert (stats["tunnel_rooms"], stats["passive_tunnel_rooms"], stats["explicit_tunnels"]) == (2, 1, 1)
    assert (stats["shared_names"], stats["total_edges"], stats["total_connections"]) == (2, 2, 4)
    assert stats["rooms_per_wing"] == {"api": 2, "web": 2, "My-App": 1}
    assert stats["top_tunnels"][0] == {"room": "auth", "wings": ["My-App", "api", "web"], "count": 2}


@requirement("tunnel.lives")
def test_pair_of_rooms_has_one_tunnel(ask: Ask, palace: dict[str, str], clock: HandClock) -> None:
    made = ask("mempalace_create_tunnel", **ENDS, label="tokens")
    assert (made["success"], made["kind"], made["label"]) == (True, "explicit", "tokens")
    assert made["source"] == {"wing": "api", "room": "auth"}
    clock.move(hours=1)
    back = {"source_wing": "web", "source_room": "login", "target_wing": "api", "target_room": "auth"}
    again = ask("mempalace_create_tunnel", **back, source_drawer_id=palace["login"])
    assert (again["tunnel_id"], again["label"]) == (made["tunnel_id"], "tokens")
    assert again["created_at"] == made["created_at"] < again["updated_at"]
    assert again["target"] == {"wing": "web", "room": "login", "drawer_id": palace["login"]}
    listed = ask("mempalace_list_tunnels", wing="WEB")
    assert (listed["count"], listed["tunnels"][0]["id"]) == (1, made["id"])
    [row] = ask("mempalace_follow_tunnels", wing="api", room="auth")
    assert (row["direction"], row["wing"], row["room"], row["label"]) == ("outgoing", "web", "login", "tokens")
    assert (row["drawer_id"], row["drawer_preview"]) == (palace["login"], "Maya met Omar.")
    [row] = ask("mempalace_follow_tunnels", wing="web", room="login")
    assert (row["direction"], row["previews"][0]["preview"]) == ("incoming", "Maya keeps the tokens.")


@requirement("tunnel.lives")
def test_tunnel_follows_its_room_under_its_id(ask: Ask, refused: Refused, host: Host, palace: dict[str, str]) -> None:
    old = host.bank.remember("Wrong tokens.", kind="drawer", place="api/auth").id
    host.bank.remove(old)
    id = ask("mempalace_create_tunnel", **ENDS)["tunnel_id"]
    ask("mempalace_update_drawer", drawer_id=palace["auth"], wing="core", room="identity")
    ask("mempalace_rename_room", wing="web", room="login", new_room="entrance")
    [tunnel] = ask("mempalace_list_tunnels")["tunnels"]
    assert (tunnel["id"], tunnel["source"]) == (id, {"wing": "core", "room": "identity"})
    assert tunnel["target"]["room"] == "entrance"
    assert host.bank.restore(old).place == "api/auth", "the last drawer alone was moved"
    file(ask, "web", "login", "A new room of the old name.")
    new = ask("mempalace_create_tunnel", **ENDS)["tunnel_id"]
    assert new == f"{id}_2"
    assert ask("mempalace_create_tunnel", **ENDS, label="again")["tunnel_id"] == new
    assert ask("mempalace_delete_tunnel", tunnel_id=id)["deleted"] == id
    assert [tunnel["source"]["room"] for tunnel in ask("mempalace_list_tunnels")["tunnels"]] == ["auth"]
    assert refused("mempalace_delete_tunnel", tunnel_id=id)["error_class"] == "not_found"


@requirement("tunnel.lives")
def test_emptied_room_takes_its_tunnels_along(ask: Ask, host: Host, palace: dict[str, str]) -> None:
    """Removing a drawer also removes derived memories, which may be all that another room holds."""
    drawn = host.bank.remember("Maya, in short.", kind="summary", place="api/summaries")
    host.bank.link(drawn.id, palace["auth"], "provenance")
    ask("mempalace_create_tunnel", **ENDS)
    ask("mempalace_create_tunnel", **{**ENDS, "source_room": "summaries"})
    ask("mempalace_delete_drawer", drawer_id=palace["auth"])
    for room in ("auth", "summaries"):
        file(ask, "api", room, "Quite another room of this name.")
    assert ask("mempalace_list_tunnels")["count"] == 0


@requirement("tunnel.lives")
def test_rooms_of_other_sessions_keep_their_tunnels(ask: Ask, host: Host, palace: dict[str, str]) -> None:
    tuesday = host.having(session="tuesday")
    theirs = ask("mnemosyne_remember", at=tuesday, content="Hm.", scope="session")["memory_id"]
    ask("mempalace_update_drawer", at=tuesday, drawer_id=theirs, wing="api", room="auth")
    ask("mempalace_create_tunnel", **ENDS)
    ask("mempalace_delete_drawer", drawer_id=palace["auth"])
    assert (ask("mempalace_list_tunnels")["count"], ask("mempalace_list_tunnels", at=tuesday)["count"]) == (0, 1)


@requirement("tunnel.lives")
def test_tunnel_shows_its_drawer_while_it_is_there(ask: Ask, refused: Refused, palace: dict[str, str]) -> None:
    file(ask, "api", "auth", "More tokens.")
    ask("mempalace_update_drawer", drawer_id=palace["auth"], content="Maya kept the tokens.")
    told = refused("mempalace_create_tunnel", **ENDS, source_drawer_id=f"{palace['auth']}@1")
    assert told["violations"][0]["parameter"] == "source_drawer_id"
    ask("mempalace_create_tunnel", **ENDS, source_drawer_id=palace["auth"], target_drawer_id="")
    new = ask("mem-revise", id=palace["auth"], narrative="Omar keeps the tokens.", reason="she left")["data"]["newId"]
    [row] = ask("mempalace_follow_tunnels", wing="web", room="login")
    assert (row["drawer_id"], row["drawer_preview"]) == (new, "Omar keeps the tokens.")
    ask("mempalace_update_drawer", drawer_id=new, room="cellar")
    assert ask("mempalace_list_tunnels")["tunnels"][0]["source"] == {"wing": "api", "room": "auth"}
    [row] = ask("mempalace_follow_tunnels", wing="web", room="login")
    assert (row["drawer_id"], [one["preview"] for one in row["previews"]]) == (None, ["More tokens."])
    ask("mempalace_update_drawer", drawer_id=new, room="auth")
    assert ask("mempalace_list_tunnels")["tunnels"][0]["source"]["drawer_id"] == new


@requirement("tunnel.reading")
def test_reading_tools_write_nothing(ask: Ask, host: Host, palace: dict[str, str]) -> None:
    ask("mempalace_create_tunnel", **ENDS)
    reader = host.having(access=Access.read)
    before = host.bank.changes()
    calls: list[tuple[str, dict[str, Any]]] = [
        ("status", {}), ("list_wings", {}), ("list_rooms", {}), ("get_taxonomy", {}),
        ("traverse", {"start_room": "auth"}),
        ("find_tunnels", {}), ("graph_stats", {}), ("list_tunnels", {}), ("kg_stats", {}), ("kg_timeline", {}),
        ("follow_tunnels", {"wing": "api", "room": "auth"}), ("get_drawer", {"drawer_id": palace["auth"]}),
        ("list_drawers", {}), ("check_duplicate", {"content": "Maya met Omar."}), ("kg_query", {"entity": "Maya"}),
        ("diary_read", {"agent_name": "helper"}), ("memories_filed_away", {}), ("reconnect", {}),
    ]  # fmt: skip
    for tool, arguments in calls:
        once = ask(f"mempalace_{tool}", at=reader, **arguments)
        assert json.dumps(ask(f"mempalace_{tool}", at=reader, **arguments)) == json.dumps(once)
    host.bank.sync()
    assert host.bank.changes() == before


@requirement("complaint.decoration")
def test_every_filed_text_feeds_the_graph(ask: Ask, host: Host) -> None:
    file(ask, "api", "auth", "Maya keeps the tokens.")
    ask("mempalace_diary_write", agent_name="Tester", entry="Maya reviewed the login.")
    host.bank.remember("Maya met Omar.", kind="turn", place="talks/monday", entities=["Maya", "Omar"])
    rows = ask("mempalace_traverse", start_room="auth")
    reasons = {row["room"]: row["connected_via"] for row in rows[1:]}
    assert reasons == {room: ["both name: Maya"] for room in ("monday", "diary")}
    assert all(row["halls"] for row in rows)
