-- Jobs, and what models cost. Neither is part of the record: the journal does not tell of them.

-- Instants are microseconds. `attempts` counts those that were begun.
CREATE TABLE job (
    entry     INTEGER PRIMARY KEY,
    id        TEXT    NOT NULL UNIQUE,
    kind      TEXT    NOT NULL,
    key       TEXT    NOT NULL,
    payload   TEXT    NOT NULL,
    memory    TEXT,
    version   INTEGER,
    digest    TEXT,
    priority  INTEGER NOT NULL,
    state     TEXT    NOT NULL,
    due       INTEGER NOT NULL,
    attempts  INTEGER NOT NULL,
    tries     INTEGER NOT NULL,
    takeovers INTEGER NOT NULL,
    lease     TEXT,
    until     INTEGER,
    worker    TEXT,
    made      INTEGER NOT NULL,
    begun     INTEGER,
    ended     INTEGER,
    done      INTEGER,
    whole     INTEGER,
    what      TEXT,
    code      TEXT,
    message   TEXT
);

CREATE UNIQUE INDEX job_queued ON job (kind, key) WHERE state IN ('waiting', 'later');
CREATE UNIQUE INDEX job_running ON job (kind, key) WHERE state = 'running';
CREATE INDEX job_waiting ON job (priority DESC, entry) WHERE state = 'waiting';
CREATE INDEX job_later ON job (due) WHERE state = 'later';
CREATE INDEX job_leased ON job (until) WHERE state = 'running';
CREATE INDEX job_ended ON job (ended) WHERE state IN ('done', 'stale', 'cancelled');
CREATE INDEX job_by_memory ON job (memory) WHERE memory IS NOT NULL;

CREATE TABLE ledger (
    day           TEXT    NOT NULL,
    step          TEXT    NOT NULL,
    model         TEXT    NOT NULL,
    calls         INTEGER NOT NULL,
    failures      INTEGER NOT NULL,
    input_tokens  INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    seconds       REAL    NOT NULL,
    PRIMARY KEY (day, step, model)
) WITHOUT ROWID;
