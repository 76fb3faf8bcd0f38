PRAGMA application_id = 1346979154;
PRAGMA user_version = 1;
CREATE TABLE migration (
    number     INTEGER PRIMARY KEY,
    name       TEXT NOT NULL,
    checksum   TEXT NOT NULL,
    applied_at TEXT NOT NULL
);
INSERT INTO migration VALUES (1, 'record', 'd0d3f4cd57eabb03aacaeef13f1516a0535663070043fee4d956c34f0bb9644d', '2026-01-10T10:00:00Z');
CREATE TABLE counter (
    name  TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO counter VALUES ('analyser', 1);
INSERT INTO counter VALUES ('documents', 8);
INSERT INTO counter VALUES ('entry', 8);
INSERT INTO counter VALUES ('known', 1768305600000000);
INSERT INTO counter VALUES ('row', 9);
INSERT INTO counter VALUES ('seq', 25);
INSERT INTO counter VALUES ('terms', 66);
INSERT INTO counter VALUES ('unscrubbed', 0);
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
INSERT INTO content VALUES (1, 'jwt', 1, 'Tokens', 'We chose JWT for all new APIs.', NULL, '["Auth"]', NULL, NULL, NULL, NULL, '{"n":1}');
INSERT INTO content VALUES (2, 'street', 1, NULL, 'Die Straße zum Büro ist gesperrt. 道が閉鎖されています。', NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO content VALUES (3, 'whisper', 1, NULL, 'Only this session knows.', NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO content VALUES (4, 'builds', 1, NULL, 'Builds take ten minutes.', NULL, NULL, NULL, '["Makefile"]', NULL, NULL, NULL);
INSERT INTO content VALUES (5, 'login', 1, NULL, 'Fixed the login.', '{"facts":["a","b"],"type":"bugfix"}', NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO content VALUES (7, 'jwt', 2, 'Tokens', 'We chose JWT, rotated daily.', NULL, '["Auth"]', NULL, NULL, NULL, NULL, '{"n":1}');
INSERT INTO content VALUES (8, '1m7wzz6z2g75c145', 1, NULL, 'Fixed the login for good.', '{"facts":["a","b"],"type":"bugfix"}', NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO content VALUES (9, 'summary', 1, NULL, 'A summary.', NULL, NULL, NULL, NULL, NULL, NULL, NULL);
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
INSERT INTO state VALUES (1, 1768046400000000, 1768093200000000, 'jwt', 1, 'note', NULL, 'frozen/note', 'bank', 's1', NULL, NULL, 'Maya', 'human', NULL, 1767916800000000, NULL, NULL, 'active', 'working', 0.8, NULL, 1.0, 0.9, 0, '', NULL, NULL);
INSERT INTO state VALUES (2, 1768053600000000, 1768179600000000, 'street', 1, 'diary', NULL, 'home/ways', 'bank', 's1', NULL, NULL, NULL, NULL, NULL, 1768050000000000, NULL, NULL, 'active', 'working', 0.5, NULL, 1.0, 0.5, 0, '', NULL, NULL);
INSERT INTO state VALUES (2, 1768179600000000, 1768190400000000, 'street', 1, 'diary', NULL, 'home/ways', 'bank', 's1', NULL, NULL, NULL, NULL, NULL, 1768050000000000, NULL, NULL, 'active', 'working', 0.5, NULL, 1.0, 0.5, 0, 'removed', 'moved', NULL);
INSERT INTO state VALUES (2, 1768190400000000, 9223372036854775807, 'street', 1, 'diary', NULL, 'home/ways', 'bank', 's1', NULL, NULL, NULL, NULL, NULL, 1768050000000000, NULL, NULL, 'active', 'working', 0.5, NULL, 1.0, 0.5, 0, '', NULL, NULL);
INSERT INTO state VALUES (3, 1768060800000000, 9223372036854775807, 'whisper', 1, 'note', NULL, 'frozen/note', 'session', 's1', NULL, NULL, NULL, NULL, NULL, 1768057200000000, NULL, NULL, 'active', 'working', 0.5, NULL, 1.0, 0.5, 0, '', NULL, NULL);
INSERT INTO state VALUES (4, 1768068000000000, 1768104000000000, 'builds', 1, 'note', NULL, 'frozen/note', 'bank', 's1', NULL, NULL, NULL, NULL, NULL, 1768064400000000, NULL, 1769990400000000, 'active', 'working', 0.5, NULL, 1.0, 0.5, 0, '', NULL, NULL);
INSERT INTO state VALUES (4, 1768104000000000, 9223372036854775807, 'builds', 1, 'note', NULL, 'frozen/note', 'bank', 's1', NULL, NULL, NULL, NULL, NULL, 1768064400000000, NULL, 1769990400000000, 'promoted', 'working', 0.1, NULL, 1.0, 0.5, 0, '', NULL, NULL);
INSERT INTO state VALUES (5, 1768075200000000, 1768125600000000, 'login', 1, 'observation', 'bugfix', 'frozen/observation', 'bank', 's1', NULL, NULL, NULL, NULL, NULL, 1768071600000000, NULL, NULL, 'active', 'working', 0.5, NULL, 1.0, 0.5, 0, '', NULL, NULL);
INSERT INTO state VALUES (5, 1768125600000000, 9223372036854775807, 'login', 1, 'observation', 'bugfix', 'frozen/observation', 'bank', 's1', NULL, NULL, NULL, NULL, NULL, 1768071600000000, NULL, NULL, 'active', 'working', 0.5, NULL, 1.0, 0.5, 0, 'revised', NULL, '1m7wzz6z2g75c145');
INSERT INTO state VALUES (7, 1768093200000000, 9223372036854775807, 'jwt', 2, 'note', NULL, 'frozen/note', 'bank', 's1', NULL, NULL, 'Maya', 'human', NULL, 1767916800000000, NULL, NULL, 'active', 'working', 0.8, NULL, 1.0, 0.9, 0, '', 'security review', NULL);
INSERT INTO state VALUES (8, 1768125600000000, 1768212000000000, '1m7wzz6z2g75c145', 1, 'observation', 'bugfix', 'frozen/observation', 'bank', 's1', NULL, NULL, NULL, NULL, NULL, 1768122000000000, NULL, NULL, 'active', 'working', 0.5, NULL, 1.0, 0.5, 0, '', NULL, NULL);
INSERT INTO state VALUES (8, 1768212000000000, 9223372036854775807, '1m7wzz6z2g75c145', 1, 'observation', 'bugfix', 'frozen/observation', 'bank', 's1', NULL, NULL, NULL, NULL, NULL, 1768122000000000, NULL, NULL, 'active', 'working', 0.5, NULL, 1.0, 0.5, 1, '', NULL, NULL);
INSERT INTO state VALUES (9, 1768136400000000, 1768201200000000, 'summary', 1, 'summary', NULL, 'frozen/summary', 'bank', 's1', NULL, NULL, NULL, NULL, NULL, 1768132800000000, NULL, NULL, 'active', 'working', 0.5, NULL, 1.0, 0.5, 0, '', NULL, NULL);
INSERT INTO state VALUES (9, 1768201200000000, 9223372036854775807, 'summary', 1, 'summary', NULL, 'frozen/summary', 'bank', 's1', NULL, NULL, NULL, NULL, NULL, 1768132800000000, NULL, NULL, 'active', 'working', 0.5, NULL, 1.0, 0.5, 0, 'removed', NULL, NULL);
CREATE TABLE label (
    what  TEXT    NOT NULL,
    value TEXT    NOT NULL,
    row   INTEGER NOT NULL,
    spelt TEXT    NOT NULL,
    PRIMARY KEY (what, value, row)
) WITHOUT ROWID;
INSERT INTO label VALUES ('file', 'Makefile', 4, 'Makefile');
INSERT INTO label VALUES ('tag', 'auth', 1, 'Auth');
INSERT INTO label VALUES ('tag', 'auth', 7, 'Auth');
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
INSERT INTO link VALUES (1, '1m7wzz6z2re5c145', 'memory', '1m7wzz6z2g75c145', 'revises', 'memory', 'login', 1.0, NULL, NULL, '', 1768125600000000, 9223372036854775807);
INSERT INTO link VALUES (2, '1m7wzz6z3cc5c145', 'memory', 'summary', 'provenance', 'memory', 'jwt', 1.0, NULL, NULL, '', 1768154400000000, 9223372036854775807);
INSERT INTO link VALUES (3, '1m7wzz6z3zs5c145', 'memory', 'jwt', 'related', 'memory', 'street', 0.5, 'by chance', NULL, '', 1768165200000000, 9223372036854775807);
INSERT INTO link VALUES (4, '1m7wzz6z4da5c145', 'memory', 'jwt', 'related', 'place', 'office/security', 1.0, NULL, NULL, '', 1768172400000000, 9223372036854775807);
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
INSERT INTO fact VALUES (5, '1m7wzz6z7e95c145', 'Maya', 'maya', 'works_on', 'works on', 'billing', 'billing', 1768003200000000, NULL, NULL, 'jwt', NULL, '', NULL, 1768258800000000, 1768266000000000);
INSERT INTO fact VALUES (6, '1m7wzz6z7e95c145', 'Maya', 'maya', 'works_on', 'works on', 'billing', 'billing', 1768003200000000, 1768867200000000, NULL, 'jwt', NULL, '', NULL, 1768266000000000, 9223372036854775807);
INSERT INTO fact VALUES (7, '1m7wzz6z7xp5c145', 'Maya', 'maya', 'works_on', 'works on', 'search', 'search', 1768867200000000, NULL, NULL, NULL, NULL, '', NULL, 1768266000000000, 9223372036854775807);
INSERT INTO fact VALUES (8, '1m7wzz6z8cb5c145', 'Ola', 'ola', 'knows', 'knows', 'Maya', 'maya', NULL, NULL, NULL, NULL, NULL, '', NULL, 1768273200000000, 9223372036854775807);
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
INSERT INTO usage VALUES ('builds', 1, 1768226400000000, 1, 1768226400000000, 0, 0.5, 1);
INSERT INTO usage VALUES ('jwt', 1, 1768226400000000, 1, 1768226400000000, 0, 0.5, 1);
CREATE TABLE record (
    collection TEXT NOT NULL,
    key        TEXT NOT NULL,
    value      TEXT NOT NULL,
    PRIMARY KEY (collection, key)
) WITHOUT ROWID;
INSERT INTO record VALUES ('aliases', '4a7n4t8069pw51qhyhcn0z560k', '{"name":"M. Lindqvist","of":"Maya"}');
INSERT INTO record VALUES ('aliases', 'vq1f1fwadp8wthav1b2sfsjtvm', '{"name":"Maya","also":["M. Lindqvist"]}');
INSERT INTO record VALUES ('predicates', 'n9jb3qwyyfr1bsdppxqgf4gkqs', '{"name":"works_on","known":1768237200000000}');
INSERT INTO record VALUES ('scratchpad', '2:s1:1m7wzz6z9345c145', '{"id":"1m7wzz6z9345c145","content":"a note to itself","created_at":"2026-01-13T06:00:00Z","updated_at":"2026-01-13T06:00:00Z"}');
CREATE TABLE journal (
    seq  INTEGER PRIMARY KEY,
    at   INTEGER NOT NULL UNIQUE,
    who  TEXT    NOT NULL,
    what TEXT    NOT NULL,
    ids  TEXT    NOT NULL
);
INSERT INTO journal VALUES (1, 1768046400000000, 'python', 'remember', '["jwt"]');
INSERT INTO journal VALUES (2, 1768053600000000, 'python', 'remember', '["street"]');
INSERT INTO journal VALUES (3, 1768060800000000, 'python', 'remember', '["whisper"]');
INSERT INTO journal VALUES (4, 1768068000000000, 'python', 'remember', '["builds"]');
INSERT INTO journal VALUES (5, 1768075200000000, 'python', 'remember', '["login"]');
INSERT INTO journal VALUES (6, 1768082400000000, 'python', 'remember', '["erased"]');
INSERT INTO journal VALUES (7, 1768093200000000, 'python', 'update', '["jwt"]');
INSERT INTO journal VALUES (8, 1768104000000000, 'python', 'update', '["builds"]');
INSERT INTO journal VALUES (9, 1768125600000000, 'python', 'revise', '["login","1m7wzz6z2g75c145","1m7wzz6z2re5c145"]');
INSERT INTO journal VALUES (10, 1768136400000000, 'python', 'remember', '["summary"]');
INSERT INTO journal VALUES (11, 1768154400000000, 'python', 'link', '["1m7wzz6z3cc5c145"]');
INSERT INTO journal VALUES (12, 1768165200000000, 'python', 'link', '["1m7wzz6z3zs5c145"]');
INSERT INTO journal VALUES (13, 1768172400000000, 'python', 'link', '["1m7wzz6z4da5c145"]');
INSERT INTO journal VALUES (14, 1768179600000000, 'python', 'remove', '["street"]');
INSERT INTO journal VALUES (15, 1768190400000000, 'python', 'restore', '["street"]');
INSERT INTO journal VALUES (16, 1768201200000000, 'python', 'remove', '["summary"]');
INSERT INTO journal VALUES (17, 1768212000000000, 'python', 'pin', '["1m7wzz6z2g75c145"]');
INSERT INTO journal VALUES (18, 1768237200000000, 'python', 'touch', '["jwt","builds"]');
INSERT INTO journal VALUES (19, 1768248000000000, 'python', 'facts declare', '["predicates:n9jb3qwyyfr1bsdppxqgf4gkqs"]');
INSERT INTO journal VALUES (20, 1768258800000000, 'python', 'facts add', '["1m7wzz6z7e95c145"]');
INSERT INTO journal VALUES (21, 1768266000000000, 'python', 'facts supersede', '["1m7wzz6z7e95c145","1m7wzz6z7xp5c145"]');
INSERT INTO journal VALUES (22, 1768273200000000, 'python', 'facts add', '["1m7wzz6z8cb5c145"]');
INSERT INTO journal VALUES (23, 1768276800000000, 'python', 'facts alias', '["aliases:vq1f1fwadp8wthav1b2sfsjtvm","aliases:4a7n4t8069pw51qhyhcn0z560k"]');
INSERT INTO journal VALUES (24, 1768287600000000, 'python', 'scratchpad write', '["scratchpad:2:s1:1m7wzz6z9345c145"]');
INSERT INTO journal VALUES (25, 1768305600000000, 'python', 'purge', '["erased"]');
CREATE TABLE purged (
    id TEXT PRIMARY KEY,
    at INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO purged VALUES ('erased', 1768305600000000);
CREATE TABLE terms (
    row    INTEGER PRIMARY KEY,
    length INTEGER NOT NULL,
    terms  TEXT    NOT NULL
);
INSERT INTO terms VALUES (1, 9, 'we choos jwt for all new api token auth');
INSERT INTO terms VALUES (2, 25, 'die strass zum buro ist gesperrt 道 道が が が閉 閉 閉鎖 鎖 鎖さ さ され れ れて て てい い いま ま ます す');
INSERT INTO terms VALUES (3, 4, 'only this session know');
INSERT INTO terms VALUES (4, 5, 'build take ten minut makefil');
INSERT INTO terms VALUES (5, 6, 'fix the login a b bugfix');
INSERT INTO terms VALUES (7, 7, 'we choos jwt rotat daily token auth');
INSERT INTO terms VALUES (8, 8, 'fix the login for good a b bugfix');
INSERT INTO terms VALUES (9, 2, 'a summary');
CREATE VIRTUAL TABLE text_index USING fts5 (
    terms,
    content = 'terms',
    content_rowid = 'row',
    columnsize = 0,
    tokenize = "ascii tokenchars '!#$%&()*+,-./:;<=>?@[\]^_`{|}~'"
);
CREATE VIRTUAL TABLE text_instance USING fts5vocab (text_index, instance);
CREATE VIRTUAL TABLE text_term USING fts5vocab (text_index, row);
DELETE FROM text_index_config;
INSERT INTO text_index_config VALUES ('version', 4);
DELETE FROM text_index_data;
INSERT INTO text_index_data VALUES (1, X'0842');
INSERT INTO text_index_data VALUES (10, X'0000000002010a000000010b0101');
INSERT INTO text_index_data VALUES (1511828488193, X'000001da02306105020503020701020202026c6c01020602027069010208020375746801020a060208010162050206030208020575676669780502070302090303696c640402020302726f020205010563686f6f7301020306020301056461696c7907020602026965020202010366697805020203020202026f720102050702050108676573706572727402020702036f6f64080206010369737402020601036a777401020406020401046b6e6f7703020501056c6f67696e05020403020401076d616b6566696c0402060204696e757404020501036e657701020701046f6e6c790302020105726f746174070205010773657373696f6e030204020574726173730202030206756d6d617279090203010474616b650402030202656e040204020268650502030302030302697303020302046f6b656e0102090602070102776501020206020201037a756d0202040103e381840202160403e381be02021703018c02020a0403e9968902020b0301950202100403e3828c02021103019902021a0301a60202140403e381840202150301be0202180403e381990202190202828c0202120403e381a60202130103e981930202080403e3818c02020902028e9602020e0403e3819502020f0202968902020c0403e98e9602020d040c07070b090d08070d0a070b0a0d08080b090d0c0908090a0c0a0b09070a070c0a08080806080608060608060807080808070807');
DELETE FROM text_index_idx;
INSERT INTO text_index_idx VALUES (11, X'', 2);
CREATE UNIQUE INDEX state_by_id ON state (id, known_until);
CREATE INDEX state_by_at ON state (at);
CREATE INDEX state_by_session ON state (session, at) WHERE session IS NOT NULL;
CREATE INDEX state_by_place ON state (place, known_until);
CREATE INDEX state_by_kind ON state (kind, known_until);
CREATE INDEX state_by_type ON state (type, known_until) WHERE type IS NOT NULL;
CREATE INDEX state_by_author ON state (author, known_until) WHERE author IS NOT NULL;
CREATE INDEX state_by_source ON state (source, known_until) WHERE source IS NOT NULL;
CREATE INDEX label_by_row ON label (row);
CREATE UNIQUE INDEX link_by_id ON link (id, known_until);
CREATE INDEX link_by_source ON link (source, target, source_is);
CREATE INDEX link_by_target ON link (target, target_is, relation);
CREATE UNIQUE INDEX fact_by_id ON fact (id, known_until);
CREATE INDEX fact_by_subject ON fact (subject_key, predicate_key);
CREATE INDEX fact_by_object ON fact (object_key, predicate_key);
CREATE INDEX fact_by_predicate ON fact (predicate_key);
CREATE INDEX fact_by_memory ON fact (memory) WHERE memory IS NOT NULL;
