"""A key in a keyring. The tests use a keyring in memory, never the machine's."""

from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend
from tests.durability.sealing import opened

import pieria
from pieria.errors import SealedError


class Remembering(KeyringBackend):
    priority = 1

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.held: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.held.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.held[service, username] = password


@pytest.fixture
def ring() -> Iterator[Remembering]:
    before, ours = keyring.get_keyring(), Remembering()
    keyring.set_keyring(ours)
    yield ours
    keyring.set_keyring(before)


def test_a_key_is_made_once_and_lost_for_good(tmp_path: Path, ring: Remembering) -> None:
    opened(tmp_path, None).close()
    with pytest.raises(SealedError, match="no key was found"):
        opened(tmp_path, "keyring:", "other")
    report = pieria.seal("notes", data=tmp_path, settings={"seal_key": "keyring:"})
    assert report.key_made
    assert report.key == "keyring:default"
    assert list(ring.held) == [("pieria", "default")]
    opened(tmp_path, "keyring:").close()
    ring.held.clear()
    with pytest.raises(SealedError, match="no key was found"):
        opened(tmp_path, "keyring:")
