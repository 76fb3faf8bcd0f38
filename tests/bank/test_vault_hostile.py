"""Up to six hundred notes with every kind of fault: each is reported, and none is lost or changed."""

import os
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from pieria import Bank, Memory

FEW, MANY = 70, 600
Note = Callable[[str], str | bytes]


def fronted(front: str) -> Note:
    return lambda word: f"---\n{front}\n---\n{word} stands here. #seen\n"


def told_of(text: str) -> Note:
    return lambda word: text.replace("WORD", word)


FILED = tomllib.loads(Path(__file__).with_name("hostile_notes.toml").read_text())
WELL: dict[str, Note] = {
    **{kind: told_of(text) for kind, text in FILED["well"].items()},
    "links": lambda word: f"{word} [[plain 0]] ![[{'x' * 200}#y]] [[[[ ]]]] [a](../../../etc/passwd.md) #seen",
    "line ends of others": lambda word: f"---\r\ntitle: x\r\n---\r\n{word} #seen\r\n".encode(),
    "a mark at the beginning": lambda word: b"\xef\xbb\xbf" + f"---\ntitle: x\n---\n{word} #seen".encode(),
    "sixteen bits": lambda word: f"---\ntitle: x\n---\n{word} #seen".encode("utf-16"),
    "long": lambda word: f"{word} #seen\n" + "filler " * 20_000,
}
BAD: dict[str, Note] = {
    **{kind: told_of(text) for kind, text in FILED["bad"].items()},
    "nested": fronted("a: " + "[" * 3_000),
    "very long": fronted("\n".join(f"k{number}: {'v' * 60}" for number in range(1_200))),
    "another encoding": lambda word: f"{word} f\xfcr #seen".encode("latin-1"),
    "a tag without end": fronted(f"tags: [{'t' * 600}]"),
}
LOST: dict[str, Note] = {
    "bytes": lambda word: b"\x89PNG\r\n\0" + word.encode(),
    "half of sixteen bits": lambda word: b"\xff\xfe\x00\xd8" + word.encode(),
    "noise": lambda word: bytes(range(1, 256)) * 2,
}
EMPTY: dict[str, Note] = {
    "nothing": lambda word: "",
    "blank": lambda word: "\n \n\t\n",
    "no front": lambda word: "---\n---\n",
}


def word_of(number: int) -> str:
    return f"quagga{number}"


@pytest.fixture(params=[FEW, pytest.param(MANY, marks=pytest.mark.slow)])
def vault(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    root = tmp_path / "vault"
    kinds = {**WELL, **BAD, **LOST, **EMPTY}
    for number in range(request.param):
        kind = list(kinds)[number % len(kinds)]
        folder = root / ("", "deep/er", "日本語", "a b", ".hidden")[number % 5 if number % 7 else 0]
        folder.mkdir(parents=True, exist_ok=True)
        made = kinds[kind](word_of(number))
        (folder / f"{kind} {number}.md").write_bytes(made.encode() if isinstance(made, str) else made)
    megabytes = request.param // 200
    (root / "large.md").write_text("Large\n\n" + "A paragraph of a very long note.\n\n" * 30_000 * megabytes)
    (root / "turned.md").symlink_to(root / "deep")
    (root / "round").symlink_to(root)
    (tmp_path / "outside.md").write_text("secretword")
    (root / "leak.md").symlink_to(tmp_path / "outside.md")
    (root / "folder.md").mkdir()
    os.mkfifo(root / "pipe.md")
    with open(os.fsencode(root) + b"/\xff\xfe.md", "wb") as file:
        file.write(b"no name")
    (root / "two\nlines.md").write_text("No name that could be kept.")
    return root


def visible(vault: Path, kinds: dict[str, Note]) -> dict[str, int]:
    """Return the numbers of these notes by path, without hidden ones."""
    found = {}
    for path in vault.rglob("*.md"):
        shown = path.relative_to(vault).as_posix()
        kind, _, number = path.stem.rpartition(" ")
        if kind in kinds and not shown.startswith("."):
            found[shown] = int(number)
    return found


def bytes_of(vault: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in vault.rglob("*") if path.is_file() and not path.is_symlink()}


def test_hostile_notes_are_reported_and_neither_lost_nor_changed(opened: Callable[..., Bank], vault: Path) -> None:
    before = bytes_of(vault)
    bank = opened(vault=str(vault))
    synced = bank.vault.sync()
    told = {problem.path: problem for problem in synced.problems}
    well, bad, lost, empty = (visible(vault, kinds) for kinds in (WELL, BAD, LOST, EMPTY))
    assert all((well, bad, lost, empty))
    assert told.keys() == {*bad, *lost, "??.md", "two\nlines.md"}
    assert {path for path, problem in told.items() if problem.taken} == {*bad}
    assert synced.left == {"empty": len(empty), "links": 3}
    held = {str(memory.source): memory for memory in everything(bank)}
    assert held.keys() == {*well, *bad, "large.md"}
    for path, number in {**well, **bad}.items():
        assert word_of(number) in held[path].text
        if "without end" not in path:
            assert held[path].tags[-1:] == ("seen",), path
    assert synced.notes == {"new": len(held), "refused": 1}
    assert list(bank.recall("secretword")) == []
    again = bank.vault.sync()
    assert (again.notes, again.events) == ({"unchanged": len(held), "refused": 1}, [])
    assert {problem.path for problem in again.problems} == told.keys()
    assert bank.vault.status().notes >= len(held)
    assert bytes_of(vault) == before


def everything(bank: Bank) -> list[Memory]:
    return list(bank.list(kinds="drawer", limit=10_000))
