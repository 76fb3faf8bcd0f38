"""Small answers and dates in the words of work: which option is meant, which day is due, and what is done."""

from __future__ import annotations

from datetime import UTC, date, datetime

from pieria.language.note_words import affirms, is_same_matter, says_done, takes
from pieria.learning.distilling.due import due_date
from pieria.models.minds.rules.choices import named_choice

SAID = datetime(2026, 3, 10, 9, tzinfo=UTC)  # a Tuesday
LISTED = "Two ways:\n1. Redis streams (no new server)\n2. RabbitMQ\nWhich one?"
INLINE = "I see (a) a timeout of 5 s, or (b) the watchdog. Which?"
CHOICES = {
    ("2, because we know it", LISTED): "RabbitMQ, because we know it",
    ("the second. it is proven", LISTED): "RabbitMQ. it is proven",
    ("ok let's go with option 1", LISTED): "Redis streams (no new server)",
    ("a. but 4 seconds at least", INLINE): "a timeout of 5 s, but 4 seconds at least",
    ("die zweite, die kennen wir", "Redis oder RabbitMQ?"): "RabbitMQ, die kennen wir",
    ("le premier", "SQLite ou Postgres ?"): "SQLite",
    ("2871 rejoins in an hour", LISTED): "2871 rejoins in an hour",
    ("a table would be nice", INLINE): "a table would be nice",
    ("2 more things", LISTED): "2 more things",
    ("option b it is", INLINE): "the watchdog, it is",
}
DUE = {
    "it must be gone before 15 April": date(2026, 4, 14),
    "by Friday please": date(2026, 3, 13),
    "in two weeks": date(2026, 3, 29),
    "within 3 days": date(2026, 3, 13),
    "by the end of the month": date(2026, 3, 31),
    "the key expires on 2026-06-30": date(2026, 6, 30),
    "it fell over last Friday": None,
    "we did it on 3 March": None,
    "some day": None,
    "it broke in April because of the new tariff": None,
    "the oldest invoice of April is for print": None,
    "dropped in April, to be cleaned up by May": date(2026, 5, 31),
    "noch vor dem 1. Dezember": date(2026, 11, 30),
    "bis 1.12. bitte": date(2026, 12, 1),
    "bis Ende des Monats": date(2026, 3, 31),
    "avant le 1er décembre": date(2026, 11, 30),
    "d'ici vendredi": date(2026, 3, 13),
    "antes del viernes": date(2026, 3, 12),
    "hasta el 3 de mayo": date(2026, 5, 3),
    "antes de 1 de dezembro": date(2026, 11, 30),
    "até sexta": date(2026, 3, 13),
    "12月1日までに再発行": date(2026, 12, 1),
    "金曜日までに": date(2026, 3, 13),
    "在12月1日之前重新开具": date(2026, 11, 30),
    "周五之前": date(2026, 3, 12),
    "im April war das anders": None,
}
DONE = {
    "FF_PARCEL is removed from the checkout.": True,
    "Der Schlüssel ist erneuert, erledigt.": True,
    "forget about the flag": True,
    "The flag must be removed.": False,
    "The flag isn't removed.": False,
    "Is the flag removed?": False,
    "I'll have it removed tomorrow.": False,
}
MATTERS = {
    ("FF_PARCEL must leave the checkout", "FF_PARCEL is removed from the checkout."): True,
    ("FF_PARCEL must leave the checkout", "The old banner is removed."): False,
    ("Rotate the deploy key", "Rotate the deploy key"): True,
    ("The login has to be fixed", "Fixed."): False,
    ("Renew the certificate", "new"): False,
    ("Look at the latest build", "Test"): False,
    ("Look at the latest build", "."): False,
}
AFFIRMED = {
    ("We go back to STAR + featureCounts.", "STAR + featureCounts"): True,
    ("We use salmon, not STAR.", "STAR"): False,
    ("Anything but that.", "STAR"): False,
    ("Postgres stays out of this project.", "Postgres"): False,
    ("SQLite, since Postgres was far too heavy.", "Postgres"): False,
}
TAKEN = {
    ("we take Celery after all, its monitoring is better", "Celery"): True,
    ("Celery it is", "Celery"): True,
    ("dann doch Celery, das Monitoring ist besser", "Celery"): True,
    ("on passe à Celery au lieu d'arq", "Celery"): True,
    ("al final usamos Celery en vez de arq", "Celery"): True,
    ("Celery: has a monitor. Chosen by the user.", "Celery"): True,
    ("We ruled out Celery because it needs a broker", "Celery"): False,
    ("Celery needs a broker, so we won't take it", "Celery"): False,
    ("we don't use Celery, arq is enough", "Celery"): False,
    ("good that we left Celery, arq runs by now", "Celery"): False,
}


def test_short_answer_names_the_option_it_means() -> None:
    assert {case: named_choice(*case) for case in CHOICES} == CHOICES


def test_due_date_counts_from_the_day_of_the_words() -> None:
    assert {text: due_date(text, SAID) for text in DUE} == DUE


def test_words_of_completion_close_what_they_are_about() -> None:
    assert {text: says_done(text) for text in DONE} == DONE
    assert {case: is_same_matter(*case) for case in MATTERS} == MATTERS
    assert {case: affirms(*case) for case in AFFIRMED} == AFFIRMED


def test_only_a_clause_that_takes_an_option_reverses_a_choice() -> None:
    assert {case: takes(*case) for case in TAKEN} == TAKEN
