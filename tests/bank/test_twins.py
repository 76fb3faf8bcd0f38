"""Finding memories with exactly the same text."""

from pathlib import Path

import pytest

import pieria
from pieria.errors import InputError

SETTINGS = {"durability": "off"}


def test_those_that_say_exactly_this_are_found_the_first_kept_first(tmp_path: Path) -> None:
    with pieria.open("b", data=tmp_path, settings=SETTINGS) as bank:
        first = bank.remember("Dogs travel free.", at="2026-01-02")
        second = bank.remember("Dogs travel free.", at="2026-01-01")
        bank.remember("Dogs travel free")
        bank.remember("Free dogs travel.")
        assert [twin.id for twin in bank.identical("Dogs travel free.")] == [first.id, second.id]
        assert bank.identical("Cats travel free.") == ()


def test_a_filter_narrows_them(tmp_path: Path) -> None:
    with pieria.open("b", data=tmp_path, session="s", settings=SETTINGS) as bank:
        note = bank.remember("One.")
        turn = bank.remember("One.", kind="turn", scope="session")
        assert [twin.id for twin in bank.identical("One.", kinds="turn")] == [turn.id]
        assert [twin.id for twin in bank.identical("One.", scope="bank")] == [note.id]
    with pieria.open("b", data=tmp_path, settings=SETTINGS) as other:
        assert [twin.id for twin in other.identical("One.")] == [note.id]


def test_the_user_s_own_are_asked_for_by_their_scope(tmp_path: Path) -> None:
    with pieria.open("b", data=tmp_path, settings=SETTINGS) as bank:
        mine = bank.remember("One.", scope="user")
        assert bank.identical("One.") == ()
        assert [twin.id for twin in bank.identical("One.", scope="user")] == [mine.id]
        with pytest.raises(InputError, match="use two calls"):
            bank.identical("One.", scope=["bank", "user"])


def test_what_would_be_cut_is_cut_before_it_is_compared(tmp_path: Path) -> None:
    with pieria.open("b", data=tmp_path, settings={**SETTINGS, "secrets": "redact"}) as bank:
        kept = bank.remember("Call me. <private>555</private> password: tern-9Wq!fjord")
        same = bank.identical("Call me. <private>777</private> password: tern-9Wq!fjord")
        assert [twin.id for twin in same] == [kept.id]


def test_what_no_longer_holds_is_no_twin(tmp_path: Path) -> None:
    with pieria.open("b", data=tmp_path, settings=SETTINGS) as bank:
        bank.invalidate(bank.remember("One.").id)
        assert bank.identical("One.") == ()


@pytest.mark.parametrize("text", ["", " ", 5, None])
def test_what_is_no_text_is_refused(tmp_path: Path, text: object) -> None:
    with pieria.open("b", data=tmp_path, settings=SETTINGS) as bank, pytest.raises(InputError, match="text"):
        bank.identical(text)  # type: ignore[arg-type]
