"""A schema one step ahead of this Pieria, as a later version leaves it while this version still runs."""

from pieria.store.postgres import driver, migrate
from pieria.store.postgres.migrate import Migration, migrations

OF_TOMORROW = """
CREATE TABLE mood (
    bank integer NOT NULL,
    id   text COLLATE "C" NOT NULL,
    mood text COLLATE "C" NOT NULL,
    PRIMARY KEY (bank, id)
);
ALTER TABLE state ADD COLUMN mood text COLLATE "C";
ALTER TABLE content ADD COLUMN tongue text COLLATE "C" DEFAULT 'en';
ALTER TABLE job ADD COLUMN cost double precision;
ALTER TABLE journal ADD COLUMN place text COLLATE "C";
CREATE INDEX state_by_mood ON state (bank, mood);
INSERT INTO counter (bank, name, value) SELECT number, 'moods', 0 FROM bank;
"""
"""Additions that a later version might make."""


def further(sql: str, phase: migrate.Phase = "pre") -> Migration:
    return Migration(len(migrations()) + 1, phase, "of_tomorrow", sql)


def take(url: str, *steps: Migration) -> None:
    connection = driver.connected(url)
    try:
        migrate.migrate(connection, "here", (*migrations(), *steps))
    finally:
        connection.close()
