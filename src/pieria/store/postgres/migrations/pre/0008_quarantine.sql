-- What is in quarantine, by its id: a row for each change that put it there. The ids and the reasons are in records of
-- the bank (collection `quarantine`); this table follows them.

CREATE TABLE quarantine (
    bank integer NOT NULL,
    what text COLLATE "C" NOT NULL,
    held text COLLATE "C" NOT NULL,
    seq  bigint NOT NULL,
    PRIMARY KEY (bank, what, held, seq)
);

CREATE INDEX quarantine_by_seq ON quarantine (bank, seq);

-- Which session was told which memory, how often, and when first and last.
CREATE TABLE told (
    bank    integer NOT NULL,
    id      text COLLATE "C" NOT NULL,
    session text COLLATE "C" NOT NULL,
    times   bigint NOT NULL,
    first   bigint NOT NULL,
    last    bigint NOT NULL,
    PRIMARY KEY (bank, id, session)
);

CREATE INDEX told_by_last ON told (bank, last);
