-- The record: evidence, states, links, facts, usage, the bank's own records, the journal, and the text index.
-- The bank leads every key and every index, so that banks can be kept on different machines.

CREATE TABLE bank (
    number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name   text COLLATE "C" NOT NULL UNIQUE
);

-- Room beside each line: it is written with every change.
CREATE TABLE counter (
    bank  integer NOT NULL,
    name  text COLLATE "C" NOT NULL,
    value bigint NOT NULL,
    PRIMARY KEY (bank, name)
) WITH (fillfactor = 50);

CREATE TABLE content (
    bank     integer NOT NULL,
    row      bigint NOT NULL,
    id       text COLLATE "C" NOT NULL,
    version  bigint NOT NULL,
    title    text COLLATE "C",
    text     text COLLATE "C" NOT NULL,
    body     text COLLATE "C",
    tags     text COLLATE "C",
    entities text COLLATE "C",
    files    text COLLATE "C",
    flags    text COLLATE "C",
    context  text COLLATE "C",
    meta     text COLLATE "C",
    PRIMARY KEY (bank, row)
);

CREATE TABLE state (
    bank          integer NOT NULL,
    row           bigint NOT NULL,
    known_from    bigint NOT NULL,
    known_until   bigint NOT NULL,
    id            text COLLATE "C" NOT NULL,
    version       bigint NOT NULL,
    kind          text COLLATE "C" NOT NULL,
    type          text COLLATE "C",
    place         text COLLATE "C" NOT NULL,
    scope         text COLLATE "C" NOT NULL,
    session       text COLLATE "C",
    sequence      bigint,
    channel       text COLLATE "C",
    author        text COLLATE "C",
    author_type   text COLLATE "C",
    source        text COLLATE "C",
    at            bigint NOT NULL,
    valid_from    bigint,
    valid_until   bigint,
    status        text COLLATE "C" NOT NULL,
    tier          text COLLATE "C" NOT NULL,
    importance    double precision NOT NULL,
    confidence    double precision,
    strength      double precision NOT NULL,
    trust         double precision NOT NULL,
    pinned        bigint NOT NULL,
    ended         text COLLATE "C" NOT NULL,
    reason        text COLLATE "C",
    superseded_by text COLLATE "C",
    PRIMARY KEY (bank, row, known_from)
);

-- One open state an id (known_until is FOREVER in it), and the way from an id to its whole history.
CREATE UNIQUE INDEX state_by_id ON state (bank, id, known_until);
CREATE INDEX state_by_at ON state (bank, at);
CREATE INDEX state_by_session ON state (bank, session, at) WHERE session IS NOT NULL;
CREATE INDEX state_by_place ON state (bank, place, known_until);
CREATE INDEX state_by_kind ON state (bank, kind, known_until);
CREATE INDEX state_by_type ON state (bank, type, known_until) WHERE type IS NOT NULL;
CREATE INDEX state_by_author ON state (bank, author, known_until) WHERE author IS NOT NULL;
CREATE INDEX state_by_source ON state (bank, source, known_until) WHERE source IS NOT NULL;

CREATE TABLE label (
    bank  integer NOT NULL,
    what  text COLLATE "C" NOT NULL,
    value text COLLATE "C" NOT NULL,
    row   bigint NOT NULL,
    spelt text COLLATE "C" NOT NULL,
    PRIMARY KEY (bank, what, value, row)
);

CREATE INDEX label_by_row ON label (bank, row);

CREATE TABLE link (
    bank        integer NOT NULL,
    entry       bigint NOT NULL,
    id          text COLLATE "C" NOT NULL,
    source_is   text COLLATE "C" NOT NULL,
    source      text COLLATE "C" NOT NULL,
    relation    text COLLATE "C" NOT NULL,
    target_is   text COLLATE "C" NOT NULL,
    target      text COLLATE "C" NOT NULL,
    weight      double precision NOT NULL,
    label       text COLLATE "C",
    meta        text COLLATE "C",
    ended       text COLLATE "C" NOT NULL,
    known_from  bigint NOT NULL,
    known_until bigint NOT NULL,
    PRIMARY KEY (bank, entry)
);

CREATE UNIQUE INDEX link_by_id ON link (bank, id, known_until);
-- An entry of an index holds no two names as long as they may be: only the beginning of the second one is in it.
CREATE INDEX link_by_ends ON link (bank, source, left(target, 100));

CREATE TABLE fact (
    bank          integer NOT NULL,
    entry         bigint NOT NULL,
    id            text COLLATE "C" NOT NULL,
    subject       text COLLATE "C" NOT NULL,
    subject_key   text COLLATE "C" NOT NULL,
    predicate     text COLLATE "C" NOT NULL,
    predicate_key text COLLATE "C" NOT NULL,
    object        text COLLATE "C" NOT NULL,
    object_key    text COLLATE "C" NOT NULL,
    valid_from    bigint,
    valid_until   bigint,
    confidence    double precision,
    memory        text COLLATE "C",
    source        text COLLATE "C",
    ended         text COLLATE "C" NOT NULL,
    reason        text COLLATE "C",
    known_from    bigint NOT NULL,
    known_until   bigint NOT NULL,
    PRIMARY KEY (bank, entry)
);

CREATE UNIQUE INDEX fact_by_id ON fact (bank, id, known_until);
CREATE INDEX fact_by_subject ON fact (bank, subject_key, left(predicate_key, 100));
CREATE INDEX fact_by_object ON fact (bank, object_key, left(predicate_key, 100));
CREATE INDEX fact_by_predicate ON fact (bank, predicate_key);
CREATE INDEX fact_by_memory ON fact (bank, memory) WHERE memory IS NOT NULL;

CREATE TABLE usage (
    bank        integer NOT NULL,
    id          text COLLATE "C" NOT NULL,
    accesses    bigint NOT NULL,
    last_access bigint,
    reviews     bigint NOT NULL,
    last_review bigint,
    crossings   bigint NOT NULL,
    rewards     double precision NOT NULL,
    rewarded    bigint NOT NULL,
    PRIMARY KEY (bank, id)
);

CREATE TABLE record (
    bank       integer NOT NULL,
    collection text COLLATE "C" NOT NULL,
    key        text COLLATE "C" NOT NULL,
    value      text COLLATE "C" NOT NULL,
    PRIMARY KEY (bank, collection, key)
);

CREATE TABLE journal (
    bank integer NOT NULL,
    seq  bigint NOT NULL,
    at   bigint NOT NULL,
    who  text COLLATE "C" NOT NULL,
    what text COLLATE "C" NOT NULL,
    ids  text COLLATE "C" NOT NULL,
    PRIMARY KEY (bank, seq),
    UNIQUE (bank, at)
);

CREATE TABLE purged (
    bank integer NOT NULL,
    id   text COLLATE "C" NOT NULL,
    at   bigint NOT NULL,
    PRIMARY KEY (bank, id)
);

-- The terms of every version as the analyser gave them: what the text index is built from and rebuilt from.
CREATE TABLE terms (
    bank   integer NOT NULL,
    row    bigint NOT NULL,
    length bigint NOT NULL,
    terms  text COLLATE "C" NOT NULL,
    PRIMARY KEY (bank, row)
);

-- Which versions hold a term, and how often each: the rows of a term stand together, in their order.
CREATE TABLE posting (
    bank   integer NOT NULL,
    term   text COLLATE "C" NOT NULL,
    row    bigint NOT NULL,
    number integer NOT NULL,
    PRIMARY KEY (bank, term, row) INCLUDE (number)
);

CREATE INDEX link_from ON link (bank, source, entry);
CREATE INDEX link_to ON link (bank, target, entry);
CREATE INDEX fact_from ON fact (bank, subject_key, entry);
CREATE INDEX fact_to ON fact (bank, object_key, entry);
CREATE INDEX state_by_known ON state (bank, known_from, row);

-- Instants are microseconds. `attempts` counts those that were begun.
CREATE TABLE job (
    bank      integer NOT NULL,
    entry     bigint NOT NULL,
    id        text COLLATE "C" NOT NULL,
    kind      text COLLATE "C" NOT NULL,
    key       text COLLATE "C" NOT NULL,
    payload   text COLLATE "C" NOT NULL,
    memory    text COLLATE "C",
    version   bigint,
    digest    text COLLATE "C",
    priority  bigint NOT NULL,
    state     text COLLATE "C" NOT NULL,
    due       bigint NOT NULL,
    attempts  bigint NOT NULL,
    tries     bigint NOT NULL,
    takeovers bigint NOT NULL,
    lease     text COLLATE "C",
    until     bigint,
    worker    text COLLATE "C",
    made      bigint NOT NULL,
    begun     bigint,
    ended     bigint,
    done      bigint,
    whole     bigint,
    what      text COLLATE "C",
    code      text COLLATE "C",
    message   text COLLATE "C",
    PRIMARY KEY (bank, entry),
    UNIQUE (bank, id)
);

CREATE UNIQUE INDEX job_queued ON job (bank, kind, key) WHERE state IN ('waiting', 'later');
CREATE UNIQUE INDEX job_running ON job (bank, kind, key) WHERE state = 'running';
CREATE INDEX job_waiting ON job (bank, priority DESC, entry) WHERE state = 'waiting';
CREATE INDEX job_later ON job (bank, due) WHERE state = 'later';
CREATE INDEX job_leased ON job (bank, until) WHERE state = 'running';
CREATE INDEX job_ended ON job (bank, ended) WHERE state IN ('done', 'stale', 'cancelled');
CREATE INDEX job_by_memory ON job (bank, memory) WHERE memory IS NOT NULL;

CREATE TABLE ledger (
    bank          integer NOT NULL,
    day           text COLLATE "C" NOT NULL,
    step          text COLLATE "C" NOT NULL,
    model         text COLLATE "C" NOT NULL,
    calls         bigint NOT NULL,
    failures      bigint NOT NULL,
    input_tokens  bigint NOT NULL,
    output_tokens bigint NOT NULL,
    seconds       double precision NOT NULL,
    PRIMARY KEY (bank, day, step, model)
);
