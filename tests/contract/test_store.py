"""What a store reports about itself, and the copies it makes."""

from pathlib import Path

from tests.contract.conftest import Opens, sqlite_sealed
from tests.contract.making import ALL, HandClock, apply, everything, memory, next_version, tie

from pieria.store.protocol import Store


def test_checks_of_a_healthy_bank_pass_and_change_nothing(store: Store) -> None:
    assert [finding.check for finding in store.check() if not finding.well] == []
    first = memory("heron", "m")
    apply(store, first, memory("stork", "n"), links=[tie("l", "m", "n")])
    apply(store, next_version(first, "heron again"))
    before = everything(store)
    findings = store.check()
    assert len(findings) >= 5
    assert [finding.check for finding in findings if not finding.well] == []
    assert all(finding.detail and finding.remedy is None for finding in findings)
    assert everything(store) == before


def test_description_of_a_store_shows_no_content(store: Store) -> None:
    apply(store, memory("heron", "m", title="stork", tags=["crane"]), memory("gone", "n", state={"ended": "removed"}))
    described = store.describe()
    assert described["engine"]
    assert described["bytes"] > 0
    with store.reading() as reader:
        assert reader.totals() == {"versions": 2, "links": 0, "facts": 0, "changes": 1, "purged": 0, "quarantined": 0}
    assert not any(word in repr(described) for word in ("heron", "stork", "crane"))


def test_copy_of_an_open_bank_is_the_bank_of_that_moment(opens: Opens, tmp_path: Path) -> None:
    """The copy is a file for every kind of store."""
    store, other = opens(), opens()
    first = memory("heron", "m")
    apply(store, first, memory("stork", "n"))
    apply(other, next_version(first, "heron again"))
    before = everything(store)
    seen: list[tuple[int, int]] = []
    copied = tmp_path / "copies" / "copy.db"
    opens(name="empty").backup(copied)
    # It replaces an earlier copy.
    with store.reading() as reader:
        reader.head()
        store.backup(copied, lambda done, whole: seen.append((done, whole)))
    apply(other, memory("later", "later"))
    assert [path.name for path in copied.parent.iterdir()] == ["copy.db"]
    assert seen
    assert seen[-1][0] == seen[-1][1]
    copy = sqlite_sealed(copied.parent, "copy", HandClock())
    try:
        assert everything(copy) == before
        assert all(finding.well for finding in copy.check())
        with copy.reading() as reader:
            assert len(reader.text(["heron"], ALL, 10, 10).candidates) == 1
        apply(copy, memory("goes its own way", "copy"))
    finally:
        copy.close()
    assert "copy" not in [row["id"] for row in everything(store)["state"]]
