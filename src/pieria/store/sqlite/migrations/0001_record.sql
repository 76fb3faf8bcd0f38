-- The record: evidence, states, links, facts, usage, the bank's own records, the journal, and the text index.

CREATE TABLE counter (
    name  TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) WITHOUT ROWID;

INSERT INTO counter (name, value)
VALUES ('seq', 0), ('known', 0), ('row', 0), ('entry', 0), ('documents', 0), ('terms', 0), ('analyser', 0), ('unscrubbed', 0);

CREATE TABLE content (
    row      INTEGER PRIMARY KEY,
    id       TEXT    NOT NULL,
    version  INTEGER NOT NULL,
    title    TEXT,
    text     TEXT    NOT NULL,
    body     TEXT,
    tags     TEXT,
    entities TEXT,
    files    TEXT,
    flags    TEXT,
    context  TEXT,
    meta     TEXT
);

CREATE TABLE state (
    row           INTEGER NOT NULL,
    known_from    INTEGER NOT NULL,
    known_until   INTEGER NOT NULL,
    id            TEXT    NOT NULL,
    version       INTEGER NOT NULL,
    kind          TEXT    NOT NULL,
    type          TEXT,
    place         TEXT    NOT NULL,
    scope         TEXT    NOT NULL,
    session       TEXT,
    sequence      INTEGER,
    channel       TEXT,
    author        TEXT,
    author_type   TEXT,
    source        TEXT,
    at            INTEGER NOT NULL,
    valid_from    INTEGER,
    valid_until   INTEGER,
    status        TEXT    NOT NULL,
    tier          TEXT    NOT NULL,
    importance    REAL    NOT NULL,
    confidence    REAL,
    strength      REAL    NOT NULL,
    trust         REAL    NOT NULL,
    pinned        INTEGER NOT NULL,
    ended         TEXT    NOT NULL,
    reason        TEXT,
    superseded_by TEXT,
    PRIMARY KEY (row, known_from)
) WITHOUT ROWID;

-- One open state an id (known_until is FOREVER in it), and the way from an id to its whole history.
CREATE UNIQUE INDEX state_by_id ON state (id, known_until);
CREATE INDEX state_by_at ON state (at);
CREATE INDEX state_by_session ON state (session, at) WHERE session IS NOT NULL;
CREATE INDEX state_by_place ON state (place, known_until);
CREATE INDEX state_by_kind ON state (kind, known_until);
CREATE INDEX state_by_type ON state (type, known_until) WHERE type IS NOT NULL;
CREATE INDEX state_by_author ON state (author, known_until) WHERE author IS NOT NULL;
CREATE INDEX state_by_source ON state (source, known_until) WHERE source IS NOT NULL;

CREATE TABLE label (
    what  TEXT    NOT NULL,
    value TEXT    NOT NULL,
    row   INTEGER NOT NULL,
    spelt TEXT    NOT NULL,
    PRIMARY KEY (what, value, row)
) WITHOUT ROWID;

CREATE INDEX label_by_row ON label (row);

CREATE TABLE link (
    entry       INTEGER PRIMARY KEY,
    id          TEXT    NOT NULL,
    source_is   TEXT    NOT NULL,
    source      TEXT    NOT NULL,
    relation    TEXT    NOT NULL,
    target_is   TEXT    NOT NULL,
    target      TEXT    NOT NULL,
    weight      REAL    NOT NULL,
    label       TEXT,
    meta        TEXT,
    ended       TEXT    NOT NULL,
    known_from  INTEGER NOT NULL,
    known_until INTEGER NOT NULL
);

CREATE UNIQUE INDEX link_by_id ON link (id, known_until);
CREATE INDEX link_by_source ON link (source, target, source_is);
CREATE INDEX link_by_target ON link (target, target_is, relation);

CREATE TABLE fact (
    entry         INTEGER PRIMARY KEY,
    id            TEXT    NOT NULL,
    subject       TEXT    NOT NULL,
    subject_key   TEXT    NOT NULL,
    predicate     TEXT    NOT NULL,
    predicate_key TEXT    NOT NULL,
    object        TEXT    NOT NULL,
    object_key    TEXT    NOT NULL,
    valid_from    INTEGER,
    valid_until   INTEGER,
    confidence    REAL,
    memory        TEXT,
    source        TEXT,
    ended         TEXT    NOT NULL,
    reason        TEXT,
    known_from    INTEGER NOT NULL,
    known_until   INTEGER NOT NULL
);

CREATE UNIQUE INDEX fact_by_id ON fact (id, known_until);
CREATE INDEX fact_by_subject ON fact (subject_key, predicate_key);
CREATE INDEX fact_by_object ON fact (object_key, predicate_key);
CREATE INDEX fact_by_predicate ON fact (predicate_key);
CREATE INDEX fact_by_memory ON fact (memory) WHERE memory IS NOT NULL;

CREATE TABLE usage (
    id          TEXT PRIMARY KEY,
    accesses    INTEGER NOT NULL,
    last_access INTEGER,
    reviews     INTEGER NOT NULL,
    last_review INTEGER,
    crossings   INTEGER NOT NULL,
    rewards     REAL    NOT NULL,
    rewarded    INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE record (
    collection TEXT NOT NULL,
    key        TEXT NOT NULL,
    value      TEXT NOT NULL,
    PRIMARY KEY (collection, key)
) WITHOUT ROWID;

CREATE TABLE journal (
    seq  INTEGER PRIMARY KEY,
    at   INTEGER NOT NULL UNIQUE,
    who  TEXT    NOT NULL,
    what TEXT    NOT NULL,
    ids  TEXT    NOT NULL
);

CREATE TABLE purged (
    id TEXT PRIMARY KEY,
    at INTEGER NOT NULL
) WITHOUT ROWID;

-- The terms of every version as the analyser gave them: what the text index is built from and rebuilt from.
CREATE TABLE terms (
    row    INTEGER PRIMARY KEY,
    length INTEGER NOT NULL,
    terms  TEXT    NOT NULL
);

-- `ascii` splits at white space alone here: the analyser has done everything else, and the index must not do it again.
CREATE VIRTUAL TABLE text_index USING fts5 (
    terms,
    content = 'terms',
    content_rowid = 'row',
    columnsize = 0,
    tokenize = "ascii tokenchars '!#$%&()*+,-./:;<=>?@[\]^_`{|}~'"
);

CREATE VIRTUAL TABLE text_instance USING fts5vocab (text_index, instance);
CREATE VIRTUAL TABLE text_term USING fts5vocab (text_index, row);
