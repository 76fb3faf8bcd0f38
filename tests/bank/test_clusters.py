"""Clusters of memories with the same meaning, of any number: found, merged without loss, linked and undone."""

from typing import Any

import numpy as np
import pytest
from tests.bank.kept import Kept

from pieria.bank import Bank
from pieria.errors import ConflictError, InputError, NotFoundError
from pieria.record.link import DRAWN_FROM
from pieria.record.memory import Memory
from pieria.upkeep.clusters import cluster_id, clustered

FRIDAY = "The deploy runs every Friday at noon"
DEPLOYS = [f"{FRIDAY}.", f"{FRIDAY}!", "Deploys run Fridays, noon."]


def said(bank: Bank, *texts: str, **more: Any) -> list[str]:
    return [bank.remember(text, **more).id for text in texts]


def held(bank: Bank, id: str) -> Memory:
    memory = bank.get(id)
    assert memory is not None
    return memory


def test_cluster_keeps_its_id_and_members(bank: Bank) -> None:
    ids = said(bank, *DEPLOYS[:2], "Maya prefers tea.")
    [cluster] = bank.upkeep.clusters()
    assert [memory.id for memory in cluster.memories] == ids[:2]
    assert (cluster.cohesion, cluster.id) == (1.0, cluster_id(reversed(ids[:2])))
    assert bank.upkeep.members(cluster.id) == tuple(ids[:2])
    before = len(bank.changes())
    assert [bank.upkeep.clusters(keep=True).found[0].id for _ in range(2)] == [cluster.id] * 2
    assert len(bank.changes()) == before + 1, "what is known is not written again"
    said(bank, DEPLOYS[0])
    assert bank.upkeep.members(cluster.id) == tuple(ids[:2])
    with pytest.raises(NotFoundError):
        bank.upkeep.members("cluster-nobody-found")


def test_labels_make_clusters_as_well(bank: Bank) -> None:
    tagged = said(bank, "Use JWT.", "Rotate keys.", tags=["Auth", "api"])
    said(bank, "Prefer tea.", tags=["auth", "kitchen", "tea"])
    named = said(bank, "She leads search.", "Her birthday is in May.", entities=["Maya"])
    for by, ids in (("tags", tagged), ("entities", named)):
        [cluster] = bank.upkeep.clusters(by=by)
        assert [memory.id for memory in cluster.memories] == ids


def test_large_cluster_is_split_without_loss(bank: Bank) -> None:
    ids = said(bank, *["The heron nests by the mill."] * 7)
    assert [len(one.memories) for one in bank.upkeep.clusters(most=3)] == [3, 3]
    assert bank.upkeep.clusters(limit=4).left == 3
    assert {memory.id for one in bank.upkeep.clusters(most=7) for memory in one.memories} == set(ids)


def test_duplicates_are_pairs_the_most_alike_first(bank: Bank) -> None:
    one, other, third = said(bank, *DEPLOYS, kind="drawer")
    found = bank.upkeep.duplicates(least=0.5)
    first, second, *_ = found.found
    assert ({first.one.id, first.other.id}, first.similarity, found.whole) == ({one, other}, 1.0, 3)
    assert third in {second.one.id, second.other.id}
    assert len(bank.upkeep.duplicates(least=0.5, most=1)) == 1
    assert len(bank.upkeep.clusters()) == 0, "evidence is only found if its kind is named"
    assert len(bank.upkeep.clusters(kinds="drawer")) == 1


def test_merge_keeps_what_all_say_and_is_undone(kept: Kept) -> None:
    with kept.opened("clusters") as bank:
        [first] = said(bank, "The deploy runs on Friday.", tags=["Deploy", "ops"], source="Maya", meta={"a": 1})
        more: dict[str, Any] = {"tags": ["deploy"], "source": "Omar", "strength": 1.5, "meta": {"b": 2}}
        second, build = said(bank, "The deploy needs a green build.", **more)[0], said(bank, "Builds take long.")[0]
        bank.touch(first, accesses=3)
        bank.touch(second, accesses=2, reviews=1)
        bank.facts.add("deploy", "runs_on", "Friday", memory=first)
        bank.link(second, build, "causes", weight=0.5)
        shown = bank.upkeep.merge([first, second], dry_run=True)
        assert (shown.change, held(bank, first).status) == (None, "active")
        made = held(bank, bank.upkeep.merge([first, second]).id)
        assert made.text == shown.text == "The deploy runs on Friday. The deploy needs a green build."
        assert (made.tags, made.source, dict(made.meta)) == (("Deploy", "ops"), "Maya; Omar", {"a": 1, "b": 2})
        assert 1.5 < made.strength <= 2.0
        used = bank.usage(made.id)[made.id]
        assert (used.accesses, used.reviews) == (5, 1)
        assert {held(bank, id).status for id in (first, second)} == {"archived"}
        assert not any(near.memory for near in bank.neighbors(made.id, relation=DRAWN_FROM))
        assert {link.target.name for link in bank.links(made.id, relation=DRAWN_FROM)} == {first, second}
        [tie] = bank.links(made.id, relation="causes")
        assert (tie.target.name, tie.weight) == (build, 0.5)
        bank.remove(first)
        assert [fact.memory for fact in bank.facts.query("deploy")] == [made.id]
        assert bank.recall("when does the deploy run?", k=5).hits[0].memory.id == made.id
        ids = said(bank, *DEPLOYS)
        worded = bank.upkeep.merge(ids, text="Deploys run Fridays at noon.")
        assert held(bank, worded.id).text == "Deploys run Fridays at noon."
        assert worded.change is not None
        bank.undo(worded.change)
        assert bank.get(worded.id) is None
        assert {held(bank, id).status for id in ids} == {"active"}
        assert [link for id in ids for link in bank.links(id)] == []


def test_refused_undo_names_the_change_in_its_way(bank: Bank) -> None:
    [id] = said(bank, DEPLOYS[0])
    bank.update(id, text="Deploys run on Mondays.")
    edit = bank.changes()[-1].seq
    bank.pin(id)
    with pytest.raises(ConflictError, match="later changes depend") as problem:
        bank.undo(edit)
    assert f"first: {bank.changes()[-1].seq}." in str(problem.value.hint)
    bank.undo(bank.changes()[-1].seq)
    with pytest.raises(ConflictError, match="later changes depend") as problem:
        bank.undo(edit)
    assert "does not reach behind what was undone" in str(problem.value.hint)
    bank.update(id, text="Deploys run on Tuesdays.")
    again = bank.changes()[-1].seq
    undone = bank.undo(again).seq
    with pytest.raises(ConflictError, match=f"change {again} was undone already, by change {undone}"):
        bank.undo(again)


def test_pinned_evidence_archived_and_single_are_not_merged(bank: Bank) -> None:
    note, archived = said(bank, *DEPLOYS[:2])
    bank.update(archived, status="archived")
    others = {"pinned": said(bank, FRIDAY, pinned=True), "evidence": said(bank, FRIDAY, kind="drawer")}
    for why, other in (others | {"archived": [archived]}).items():
        with pytest.raises(ConflictError, match=why):
            bank.upkeep.merge([note, *other])
    with pytest.raises(InputError, match="2 to 100"):
        bank.upkeep.merge([note])
    with pytest.raises(InputError, match="text"):
        bank.upkeep.merge(said(bank, *DEPLOYS), text=3)  # type: ignore[arg-type]


def test_memories_of_different_readers_stay_apart(folder: Kept) -> None:
    with folder.opened("apart", session="monday") as bank:
        [shared] = said(bank, DEPLOYS[0])
        [own] = said(bank, DEPLOYS[0], scope="session")
        assert len(bank.upkeep.clusters()) == 0
        with pytest.raises(ConflictError, match="different readers"):
            bank.upkeep.merge([shared, own])
    with folder.opened("apart", session="tuesday") as bank:
        assert bank.upkeep.clusters().examined == 1
        with pytest.raises(NotFoundError):
            bank.upkeep.merge([shared, own])


def test_relating_links_each_pair_once(bank: Bank) -> None:
    ids = said(bank, *DEPLOYS)
    bank.link(ids[1], ids[0], "related")
    assert bank.upkeep.relate(ids, dry_run=True).ties == 2
    told = bank.upkeep.relate(ids)
    assert (told.ties, len(bank.links(ids[0], relation="related"))) == (2, 2)
    assert bank.upkeep.relate(ids).ties == 0
    assert told.change is not None
    bank.undo(told.change)
    assert bank.upkeep.relate(ids, dry_run=True).ties == 2


def test_vectors_and_words_are_measured_alike(bank: Bank) -> None:
    """A memory without a vector ranks neither behind nor before those with one."""
    said(bank, "The deploy runs every Friday.", "The deploy runs every Friday!", "Tea is green.")
    memories = list(bank.list(order="oldest"))
    near = np.array([1.0, 0.0], np.float32)
    vectors = {memories[0].row: near, memories[2].row: near}
    found = clustered(memories, vectors, "similarity", 0.83, 12)
    assert [memory.id for memory in found[0].memories] == [memory.id for memory in memories]
    assert found[0].cohesion == pytest.approx(2 / 3)
