-- What is in quarantine, by its id: a row for each change that put it there. The ids and the reasons are in records of
-- the bank (collection `quarantine`); this table follows them.

CREATE TABLE quarantine (
    what TEXT NOT NULL,
    held TEXT NOT NULL,
    seq  INTEGER NOT NULL,
    PRIMARY KEY (what, held, seq)
) WITHOUT ROWID;

CREATE INDEX quarantine_by_seq ON quarantine (seq);

-- Which session was told which memory, how often, and when first and last.
CREATE TABLE told (
    id      TEXT NOT NULL,
    session TEXT NOT NULL,
    times   INTEGER NOT NULL,
    first   INTEGER NOT NULL,
    last    INTEGER NOT NULL,
    PRIMARY KEY (id, session)
) WITHOUT ROWID;

CREATE INDEX told_by_last ON told (last);
