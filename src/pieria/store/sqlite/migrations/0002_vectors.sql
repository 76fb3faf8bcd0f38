-- Vectors: who embeds, what was embedded, what is still to be, and the codes by which processes search them.

INSERT INTO counter (name, value) VALUES ('vector_entry', 0), ('vector_gone', 0);

-- Entries of a space begin at `first_entry`, the first of a block, so that no block holds two spaces.
CREATE TABLE space (
    number      INTEGER PRIMARY KEY,
    name        TEXT    NOT NULL,
    dimension   INTEGER NOT NULL,
    first_entry INTEGER NOT NULL,
    current     INTEGER NOT NULL,
    known_from  INTEGER NOT NULL
);

CREATE UNIQUE INDEX space_current ON space (current) WHERE current = 1;

-- `start` and `stop` are characters of the embedded text; the vector is of float16, of length one.
-- `known_from` is when the last-known member of a window was known.
CREATE TABLE vector (
    entry      INTEGER PRIMARY KEY,
    row        INTEGER NOT NULL,
    what       TEXT    NOT NULL,
    number     INTEGER NOT NULL,
    space      INTEGER NOT NULL,
    start      INTEGER NOT NULL,
    stop       INTEGER NOT NULL,
    known_from INTEGER,
    vector     BLOB    NOT NULL
);

CREATE UNIQUE INDEX vector_by_row ON vector (row, what, number, space);

-- Whose texts besides its own row's went into a window.
CREATE TABLE member (
    entry INTEGER NOT NULL,
    row   INTEGER NOT NULL,
    PRIMARY KEY (entry, row)
) WITHOUT ROWID;

CREATE INDEX member_by_row ON member (row);

-- Whole blocks of 1,024 consecutive entries: 1,024 rows, 1,024 kinds (0: no longer there), 1,024 codes.
CREATE TABLE codes (
    block INTEGER PRIMARY KEY,
    codes BLOB    NOT NULL
);

-- The latest entries that were taken away, in that order: how a process that has loaded them learns of it.
CREATE TABLE vector_gone (
    number INTEGER PRIMARY KEY,
    entry  INTEGER NOT NULL
);

-- What is still to be embedded, and the number of the change that made it so.
CREATE TABLE pending (
    row  INTEGER NOT NULL,
    what TEXT    NOT NULL,
    seq  INTEGER NOT NULL,
    PRIMARY KEY (row, what)
) WITHOUT ROWID;

INSERT INTO pending (row, what, seq) SELECT row, 'passage', 0 FROM content;

INSERT INTO pending (row, what, seq)
SELECT row, 'window', 0 FROM state
WHERE session IS NOT NULL AND known_until = 9223372036854775807 AND ended = '';
