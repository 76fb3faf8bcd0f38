"""Addresses of servers: what may be shown of them, and which mean the same server."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pieria.record.address import Address, is_server
from pieria.record.banks import check_bank_name

SHOWN = {
    "postgresql://anna:hunter2@db.example:5432/memory": "postgresql://anna@db.example:5432/memory",
    "postgres://anna@db/memory?sslmode=require&password=hunter2": "postgresql://anna@db/memory",
    "POSTGRESQL://db": "postgresql://db",
    "postgresql:///memory?host=/run/pg&user=anna&port=1": "postgresql:///memory?host=/run/pg&user=anna&port=1",
    "postgresql://one:1,two:2/memory": "postgresql://one:1,two:2/memory",
    "postgresql://anna:hunter2@[::1]:5432/memory": "postgresql://anna@[::1]:5432/memory",
    "postgresql://anna:hun@ter2@db/memory": "postgresql://anna@db/memory",
    "postgresql://anna:hun/ter2@db/memory": "postgresql://…",
    "postgresql://anna:hun?ter2@db/memory": "postgresql://…",
    "postgresql://anna:hunter2/memory": "postgresql://…",
}


@pytest.mark.parametrize("url", SHOWN)
def test_an_address_is_shown_without_its_password(url: str) -> None:
    address = Address(url)
    assert str(address) == SHOWN[url]
    assert repr(address) == f"Address({SHOWN[url]!r})"
    assert address.url == url.replace("POSTGRESQL:", "postgresql:")
    assert address.is_sound == ("…" not in SHOWN[url])
    assert check_bank_name(address.stem) == address.stem


@given(
    st.text(st.characters(codec="utf-8"), min_size=3).filter(lambda text: text not in "postgresql://anna@db:1/memory")
)
def test_whatever_the_password_is(password: str) -> None:
    for url in (f"postgresql://anna:#{password}#@db:1/memory", f"postgresql://db/memory?password=#{password}#"):
        assert f"#{password}#" not in str(Address(url))


def test_who_comes_and_with_what_password_makes_no_other_server() -> None:
    stems = {Address(f"postgresql://{who}db/memory").stem for who in ("", "anna@", "anna:one@", "jun:two@")}
    assert len(stems) == 1
    assert Address("postgresql://db/other").stem not in stems
    assert Address("postgresql://db/m") == Address("postgresql://db/m") != Address("postgresql://db/n")
    assert len({Address("postgresql://db/m"), Address("postgresql://db/m")}) == 1


def test_what_is_a_server_and_what_a_folder() -> None:
    assert all(map(is_server, ("postgresql://", "postgres://db", "PostgreSQL://db")))
    assert not any(map(is_server, ("postgresql:/db", "mysql://db", "~/postgresql", "", "postgresqlx://db")))


def test_two_services_are_two_servers() -> None:
    one, two = (Address(f"postgresql:///?service={name}") for name in ("one", "two"))
    assert one.stem != two.stem
    assert str(one) == "postgresql:///?service=one"
