"""Statements that look alike but differ."""

import pytest

from pieria.language.particulars import are_apart, particulars

APART = {
    "name": ("Anna prefers tea.", "Bea prefers tea."),
    "name that is a word as well": ("Will prefers tea.", "May prefers tea."),
    "name within": ("The key is with Anna.", "The key is with Bea."),
    "who of two": ("Anna taught Bea to sail.", "Bea taught Anna to sail."),
    "name of two words": ("She moved to New York.", "She moved to New Orleans."),
    "name more": ("Anna and Bea prefer tea.", "Anna prefers tea."),
    "weekday": ("The shop is closed on Monday.", "The shop is closed on Tuesday."),
    "number": ("The server listens on port 8000.", "The server listens on port 8001."),
    "number in words": ("The ferry leaves from pier nine.", "The ferry leaves from pier four."),
    "path": ("The settings are in /etc/app/main.toml.", "The settings are in /etc/app/test.toml."),
    "relative path": ("The key is read in src/keys.py.", "The key is read in src/locks.py."),
    "identifier": ("Set `read_timeout` in the settings.", "Set `write_timeout` in the settings."),
    "version": ("It needs Python v3.11.", "It needs Python v3.12."),
    "denial": ("The build needs a network.", "The build does not need a network."),
    "denial, contracted": ("Anna drinks coffee.", "Anna doesn't drink coffee."),
    "denial, never": ("The report is never sent on Fridays.", "The report is always sent on Fridays."),
    "without": ("It runs without a key.", "It runs with a key."),
    "side": ("Take the pill before breakfast.", "Take the pill after breakfast."),
}  # fmt: skip
ONE = {
    "the same": ("Anna prefers tea.", "Anna prefers tea."),
    "number said elsewhere": ("The server b3 listens on port 8000.", "Port 8000 is where the server B3 listens."),
    "other words": ("The ferry leaves from pier nine.", "Pier nine is where the ferry departs from."),
    "capital of an opening": ("Our ferry leaves from pier nine.", "The ferry leaves from pier nine."),
    "two sentences": ("It rained. The ferry was late.", "The ferry was late since it rained."),
    "denial put otherwise": ("The build does not need a network.", "The build doesn't need a network."),
    "time said elsewhere": ("Tokyo is busy in March.", "In March Tokyo is busy."),
    "owner": ("Anna's tea is green.", "The tea of Anna is green."),
    "short form": ("We hope Anna'll drink tea.", "We hope Anna will drink tea."),
}  # fmt: skip


@pytest.mark.parametrize("pair", APART.values(), ids=APART)
def test_what_differs_in_a_name_a_number_a_path_or_a_denial_is_two_statements(pair: tuple[str, str]) -> None:
    one, other = map(particulars, pair)
    assert are_apart(one, other) and are_apart(other, one)


@pytest.mark.parametrize("pair", ONE.values(), ids=ONE)
def test_what_says_the_same_in_other_words_is_not_told_apart(pair: tuple[str, str]) -> None:
    one, other = map(particulars, pair)
    assert not are_apart(one, other) and not are_apart(other, one)


def test_a_name_that_stands_with_its_capital_elsewhere_is_one_without_it() -> None:
    known = particulars("The tea was for Anna, and Will got none.").sure | particulars("Ask Bea. NOT NOW").sure
    assert known == {"anna", "bea"}
    anna, bea = particulars("anna prefers tea"), particulars("bea prefers tea")
    assert are_apart(anna, bea, known) and not are_apart(anna, bea)
    assert are_apart(particulars("anna taught bea to sail"), particulars("bea taught anna to sail"), known)
    assert not are_apart(particulars("Anna prefers tea."), particulars("tea is what anna prefers"), known)
