-- Every statement of the SQLite store but the visibility predicate (filter.sql) and the schema (migrations/).
-- `c.*` and `s.*` end with their sums. A column that a newer version adds makes them unreadable here, and is told.

-- name: head
SELECT name, value FROM counter

-- name: there
SELECT
    EXISTS (SELECT 1 FROM link), EXISTS (SELECT 1 FROM fact), EXISTS (SELECT 1 FROM label WHERE what = 'standing'),
    EXISTS (SELECT 1 FROM label WHERE what = 'entity')

-- name: set_counter
UPDATE counter SET value = :value WHERE name = :name

-- name: select
-- {where}, {after} and {order} come from the compiled filter and the table of orders.
-- Only the keys are sorted: otherwise whole rows would be read and held for it.
SELECT c.*, s.*
FROM (SELECT s.row, s.known_from FROM state s WHERE {where} {after} ORDER BY {order} LIMIT :limit) k
CROSS JOIN state s ON s.row = k.row AND s.known_from = k.known_from CROSS JOIN content c ON c.row = s.row

-- name: order.newest
s.at DESC, s.row DESC

-- name: order.oldest
s.at, s.row

-- name: order.changed
s.known_from DESC, s.row DESC

-- name: order.important
s.importance DESC, s.row DESC

-- name: after.newest
AND (s.at, s.row) < (:after_value, :after_row)

-- name: after.oldest
AND (s.at, s.row) > (:after_value, :after_row)

-- name: after.changed
AND (s.known_from, s.row) < (:after_value, :after_row)

-- name: after.important
AND (s.importance, s.row) < (:after_value, :after_row)

-- name: count
SELECT {column} AS value, count(*) FROM state s WHERE {where} GROUP BY 1 ORDER BY 2 DESC, 1

-- name: tally
-- What `row <> 0` is for is said where the index is made.
SELECT ended, kind, status, tier, scope, count(*) FROM state INDEXED BY state_tally
WHERE known_until = 9223372036854775807 AND row <> 0
GROUP BY ended, kind, status, tier, scope
ORDER BY ended, kind, status, tier, scope

-- name: sessions
SELECT s.session, min(s.at) AS first, max(s.at), count(*) FILTER (WHERE s.ended = '') AS standing
FROM state s WHERE {where}
GROUP BY s.session HAVING standing > 0 {after} ORDER BY first DESC, coalesce(s.session, '') DESC LIMIT :limit

-- name: sessions.after
AND (first, coalesce(s.session, '')) < (:after_first, :after_session)

-- name: total
SELECT 'total', count(*) FROM state s WHERE {where}

-- name: count_labels
SELECT min(l.spelt), count(*)
FROM state s CROSS JOIN label l ON l.row = s.row AND l.what = :what
WHERE {where}
GROUP BY l.value ORDER BY 2 DESC, 1

-- name: by_row
SELECT c.*, s.*
FROM json_each(:rows) j CROSS JOIN state s ON s.row = j.value CROSS JOIN content c ON c.row = s.row
WHERE {where}

-- name: contents
SELECT c.* FROM json_each(:rows) j CROSS JOIN content c ON c.row = j.value

-- name: outlines
SELECT
    s.row, s.id, s.kind, s.at, s.author, s.author_type, s.session, s.channel, s.scope, s.importance, s.strength,
    s.trust, s.valid_from, s.pinned,
    CASE WHEN s.author IS NULL THEN (SELECT substr(c.text, 1, 48) FROM content c WHERE c.row = s.row) END
FROM json_each(:rows) j CROSS JOIN state s ON s.row = j.value
WHERE {where}

-- name: candidates
SELECT
    s.row, s.id, s.kind, s.at, s.author, s.author_type, s.session, s.channel, s.scope, s.importance, s.strength,
    s.valid_from, u.*
FROM json_each(:rows) j CROSS JOIN state s ON s.row = j.value LEFT JOIN usage u ON u.id = s.id
WHERE {where}

-- name: wordings
-- Of a long text so many of its terms are counted: more than a question needs to find it.
SELECT
    c.row, coalesce(t.length, 0), coalesce(substr(t.terms, 1, 262144), ''), substr(c.text, 1, :begin),
    substr(c.text, -:end), length(c.text)
FROM json_each(:rows) j CROSS JOIN content c ON c.row = j.value LEFT JOIN terms t ON t.row = c.row

-- name: spots
SELECT s.row, s.id, s.kind, s.at, s.known_from
FROM json_each(:rows) j CROSS JOIN state s ON s.row = j.value
WHERE {where}

-- name: written
SELECT
    c.row, (SELECT min(s.known_from) FROM state s WHERE s.row = c.row), c.version,
    (SELECT json_group_array(l.value) FROM label l WHERE l.row = c.row AND l.what = 'tag')
FROM json_each(:rows) j CROSS JOIN content c ON c.row = j.value

-- name: rows
SELECT s.row FROM state s WHERE {where} ORDER BY {order} LIMIT :limit

-- name: rows_each.label
-- NULL where more than a few bear the value, whatever became of them. A limit keeps the order.
SELECT
    j.value,
    CASE WHEN (
        SELECT count(*) FROM (SELECT 1 FROM label WHERE what = :label AND value = j.value LIMIT :few + 1)
    ) <= :few THEN (
        SELECT coalesce(group_concat(row), '') FROM (
            SELECT s.row FROM label l CROSS JOIN state s ON s.row = l.row
            WHERE l.what = :label AND l.value = j.value AND {where} ORDER BY {order} LIMIT :limit
        )
    ) END
FROM json_each(:values) j

-- name: rows_each.place
SELECT
    j.value,
    CASE WHEN (
        SELECT count(*) FROM (SELECT 1 FROM state WHERE place = j.value LIMIT :few + 1)
    ) <= :few THEN (
        SELECT coalesce(group_concat(row), '') FROM (
            SELECT s.row FROM state s INDEXED BY state_by_place
            WHERE s.place = j.value AND {where} ORDER BY {order} LIMIT :limit
        )
    ) END
FROM json_each(:values) j

-- name: placed
SELECT s.id, s.place, coalesce(s.type, s.kind), s.at, s.valid_from, s.valid_until, c.entities
FROM state s CROSS JOIN content c ON c.row = s.row
WHERE {where} ORDER BY s.row

-- name: terms_of
SELECT t.row, t.length, t.terms FROM json_each(:rows) j CROSS JOIN terms t ON t.row = j.value

-- name: states
SELECT s.@state FROM json_each(:ids) j CROSS JOIN state s ON s.id = j.value WHERE {where}

-- name: standing
SELECT s.@state FROM state s NOT INDEXED WHERE {where} AND s.row > :after ORDER BY s.row LIMIT :limit

-- name: aged
SELECT
    s.row, s.id, s.importance, s.at, s.kind, s.strength, s.version,
    (SELECT min(f.known_from) FROM state f WHERE f.row = s.row), u.*
FROM state s NOT INDEXED LEFT JOIN usage u ON u.id = s.id
WHERE {where} AND s.row > :after ORDER BY s.row LIMIT :limit

-- name: history
SELECT c.*, s.* FROM state s CROSS JOIN content c ON c.row = s.row WHERE s.id = :id ORDER BY s.known_from

-- name: newest_version
SELECT coalesce(max(version), 0) FROM state WHERE id = ?

-- name: version
SELECT c.*, s.*
FROM state s CROSS JOIN content c ON c.row = s.row
WHERE s.id = :id AND s.version = :version
ORDER BY s.known_from

-- name: frequencies
SELECT t.term, t.doc, t.cnt FROM json_each(:terms) j CROSS JOIN text_term t ON t.term = j.value

-- name: postings
-- One string instead of a row a posting: handing rows over costs more than finding them.
SELECT j.value, (SELECT group_concat(doc) FROM text_instance WHERE term = j.value) FROM json_each(:terms) j

-- name: rows_holding
-- Each row once: of a term that texts repeat without end, the instances would be as many as there are words.
SELECT j.value, (SELECT group_concat(rowid) FROM text_index WHERE text_index MATCH '"' || j.value || '"')
FROM json_each(:terms) j

-- name: newest_postings
SELECT group_concat(rowid)
FROM (SELECT rowid FROM text_index WHERE text_index MATCH :match ORDER BY rowid DESC LIMIT :limit)

-- name: probe_rows
SELECT s.row
FROM json_each(:rows) j CROSS JOIN state s ON s.row = j.value
WHERE {where}

-- name: rows_since
-- Of the states that a change opened, or touched, after the one of that number.
SELECT s.row FROM journal g CROSS JOIN json_each(g.ids) j CROSS JOIN state s ON s.id = j.value
WHERE g.seq > :seq AND {where}

-- name: count_to
SELECT count(*) FROM (SELECT 1 FROM state s WHERE {where} LIMIT :limit)

-- name: sieve
SELECT s.row FROM state s WHERE {where} LIMIT :limit

-- name: twins
SELECT c.*, s.*
FROM json_each(:rows) j CROSS JOIN content c ON c.row = j.value AND c.text = :text CROSS JOIN state s ON s.row = c.row
WHERE {where}
ORDER BY s.row

-- name: namesakes
SELECT c.*, s.*
FROM json_each(:rows) j CROSS JOIN content c ON c.row = j.value AND length(c.text) <= :most
    CROSS JOIN state s ON s.row = c.row
WHERE {where}
ORDER BY s.row

-- name: twins_without_terms
-- A text of marks alone is in no index: every text is compared.
SELECT c.*, s.*
FROM content c CROSS JOIN state s ON s.row = c.row
WHERE c.text = :text AND {where}
ORDER BY s.row

-- name: links
SELECT @link FROM link WHERE {where} ORDER BY entry

-- name: ties
SELECT source, relation, target FROM link
WHERE source_is = 'memory' AND target_is = 'memory' AND ended = '' AND known_until = 9223372036854775807

-- name: tied
-- By the newest links first; a limit keeps their order apart from the join.
SELECT
    j.value,
    (SELECT group_concat(row) FROM (
        SELECT s.row FROM (
            SELECT target AS id FROM link INDEXED BY link_from
            WHERE source = j.value AND source_is = 'memory' AND target_is = 'memory' AND {known} AND ended = ''
            ORDER BY entry DESC LIMIT -1
        ) l CROSS JOIN state s ON s.id = l.id
        WHERE {where} LIMIT :newest
    )),
    (SELECT group_concat(row) FROM (
        SELECT s.row FROM (
            SELECT source AS id FROM link INDEXED BY link_to
            WHERE target = j.value AND source_is = 'memory' AND target_is = 'memory' AND {known} AND ended = ''
            ORDER BY entry DESC LIMIT -1
        ) l CROSS JOIN state s ON s.id = l.id
        WHERE {where} LIMIT :newest
    ))
FROM json_each(:ends) j

-- name: ties_of
SELECT j.value, l.relation, l.entry, s.row, s.id, s.kind, s.at, s.known_from
FROM json_each(:ends) j CROSS JOIN link l INDEXED BY link_from ON l.source = j.value CROSS JOIN state s ON s.id = l.target
WHERE l.source_is = 'memory' AND l.target_is = 'memory' AND l.known_until = 9223372036854775807 AND l.ended = ''
  AND {where}
UNION ALL
SELECT j.value, l.relation, l.entry, s.row, s.id, s.kind, s.at, s.known_from
FROM json_each(:ends) j CROSS JOIN link l INDEXED BY link_to ON l.target = j.value CROSS JOIN state s ON s.id = l.source
WHERE l.source_is = 'memory' AND l.target_is = 'memory' AND l.known_until = 9223372036854775807 AND l.ended = ''
  AND {where}
ORDER BY 3, 1

-- name: labelled
SELECT (SELECT group_concat(row) FROM (
    SELECT s.row FROM (
        SELECT row FROM label WHERE what = :label AND value = j.value ORDER BY row DESC LIMIT -1
    ) l CROSS JOIN state s ON s.row = l.row
    WHERE {where} LIMIT :limit
))
FROM json_each(:labels) j

-- name: facts
SELECT {columns} FROM fact f
WHERE {where}
  AND (f.memory IS NULL OR EXISTS (SELECT 1 FROM state s WHERE s.id = f.memory AND {visible}))
ORDER BY f.valid_from, f.entry

-- name: facts_within_memories
-- What is drawn from a memory holds no longer than the memory does, whatever became of that since.
SELECT {columns} FROM (
    SELECT
        entry, id, subject, subject_key, predicate, predicate_key, object, object_key,
        max(coalesce(begins, memory_from), coalesce(memory_from, begins)) AS valid_from,
        min(coalesce(valid_until, memory_until), coalesce(memory_until, valid_until)) AS valid_until,
        confidence, memory, source, ended, reason, known_from, known_until,
        coalesce(begins = valid_until, FALSE) AS is_instant
    FROM (
        SELECT f.*, {begin} AS begins, s.valid_from AS memory_from, s.valid_until AS memory_until
        FROM (SELECT * FROM fact WHERE {where}) f LEFT JOIN state s ON s.id = f.memory AND {visible}
        WHERE f.memory IS NULL OR s.id IS NOT NULL
    )
)
WHERE valid_from IS NULL OR valid_until IS NULL OR valid_from < valid_until OR is_instant AND valid_from = valid_until
ORDER BY valid_from, entry

-- name: sourceless
SELECT @fact FROM fact
WHERE entry > :after AND memory IS NULL AND ended = '' AND known_until = 9223372036854775807
ORDER BY entry LIMIT :limit

-- name: last_fact
SELECT coalesce(max(entry), 0) FROM fact

-- name: columns.fact
@fact

-- name: columns.span
id, subject_key, predicate, predicate_key, object_key, valid_from, valid_until, memory, known_from

-- name: drawn.subject_keys
-- Most of what a question names is in no fact.
SELECT j.value FROM json_each(:keys) j WHERE EXISTS (SELECT 1 FROM fact WHERE subject_key = j.value)

-- name: drawn.object_keys
SELECT j.value FROM json_each(:keys) j WHERE EXISTS (SELECT 1 FROM fact WHERE object_key = j.value)

-- name: drawn.subject
-- A limit keeps the order apart from the join, so that no more memories are asked about than it takes.
SELECT d.entry FROM (
    SELECT entry, memory FROM fact INDEXED BY fact_from WHERE subject_key = :key AND {where} ORDER BY entry DESC LIMIT -1
) d CROSS JOIN state s ON s.id = d.memory
WHERE {seen} LIMIT :newest

-- name: drawn.object
SELECT d.entry FROM (
    SELECT entry, memory FROM fact INDEXED BY fact_to WHERE object_key = :key AND {where} ORDER BY entry DESC LIMIT -1
) d CROSS JOIN state s ON s.id = d.memory
WHERE {seen} LIMIT :newest

-- name: fact_names
WITH seen AS (
    SELECT f.* FROM fact f
    WHERE {where} AND (f.memory IS NULL OR EXISTS (SELECT 1 FROM state s WHERE s.id = f.memory AND {visible}))
)
SELECT key, name, number FROM (
    SELECT key, name, count(*) AS number, min(entry)
    FROM (
        SELECT subject_key AS key, subject AS name, entry FROM seen
        UNION ALL
        SELECT object_key, object, entry FROM seen WHERE object_key <> subject_key
    )
    WHERE key >= :prefix AND key < :prefix || char(1114111)
    GROUP BY key
)
ORDER BY key

-- name: spelling.entity
SELECT coalesce(
    (SELECT subject FROM fact WHERE subject_key = :key ORDER BY entry LIMIT 1),
    (SELECT object FROM fact WHERE object_key = :key ORDER BY entry LIMIT 1)
)

-- name: spelling.predicate
SELECT (SELECT predicate FROM fact WHERE predicate_key = :key ORDER BY entry LIMIT 1)

-- name: usage
SELECT u.* FROM json_each(:ids) j CROSS JOIN usage u ON u.id = j.value

-- name: records
SELECT key, value FROM record WHERE collection = :collection AND key >= :prefix AND key < :prefix || char(1114111)
ORDER BY key

-- name: records_of
SELECT r.key, r.value FROM json_each(:keys) j CROSS JOIN record r ON r.collection = :collection AND r.key = j.value

-- name: purged
SELECT p.id FROM json_each(:ids) j CROSS JOIN purged p ON p.id = j.value

-- name: changes
SELECT @journal FROM journal WHERE seq > :since ORDER BY seq LIMIT :limit

-- name: changes_by_seq
SELECT @journal FROM journal WHERE seq IN (SELECT value FROM json_each(:seqs)) ORDER BY seq

-- Newest first, so that the change that was just made is found at once.
-- name: changes_at
SELECT @journal FROM journal WHERE at IN (SELECT value FROM json_each(:times)) ORDER BY seq DESC LIMIT :limit

-- name: opened_states
SELECT s.@state FROM state s JOIN json_each((SELECT ids FROM journal WHERE seq = :seq)) j ON s.id = j.value
WHERE s.known_from = :known ORDER BY s.row

-- name: opened_links
SELECT @link FROM link WHERE id IN (SELECT j.value FROM journal, json_each(journal.ids) j WHERE seq = :seq)
  AND known_from = :known ORDER BY entry

-- name: opened_facts
SELECT @fact FROM fact WHERE id IN (SELECT j.value FROM journal, json_each(journal.ids) j WHERE seq = :seq)
  AND known_from = :known ORDER BY entry

-- name: insert_content
INSERT INTO content VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: insert_state
INSERT INTO state (
    row, id, version, kind, type, place, scope, session, sequence, channel, author, author_type, source, at,
    valid_from, valid_until, status, tier, importance, confidence, strength, trust, pinned, ended, reason,
    superseded_by, via, known_from, known_until, sum
)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: close_state
UPDATE state SET known_until = ? WHERE id = ? AND known_until = 9223372036854775807

-- name: insert_label
INSERT OR IGNORE INTO label VALUES (?, ?, ?, ?)

-- name: insert_terms
INSERT INTO terms VALUES (?, ?, ?, ?)

-- name: index_terms
INSERT INTO text_index (rowid, terms) VALUES (?, ?)

-- name: unindex_terms
INSERT INTO text_index (text_index, rowid, terms) SELECT 'delete', row, terms FROM terms WHERE row = ?

-- name: check_index
-- Only with a rank of 1 is the index held against what it was made from.
INSERT INTO text_index (text_index, rank) VALUES ('integrity-check', 1)

-- name: every_content
-- With its kind and way in, which decide whether it can state rules.
SELECT c.*, s.kind, s.via
FROM content c
LEFT JOIN state s ON s.row = c.row AND s.known_from = (SELECT min(f.known_from) FROM state f WHERE f.row = c.row)
ORDER BY c.row

-- name: forget_standing
DELETE FROM label WHERE what = 'standing'

-- name: replace_terms
INSERT INTO terms VALUES (?, ?, ?, ?)
ON CONFLICT (row) DO UPDATE SET length = excluded.length, terms = excluded.terms, sum = excluded.sum

-- name: rebuild_index
INSERT INTO text_index (text_index) VALUES ('rebuild')

-- name: close_link
UPDATE link SET known_until = ? WHERE id = ? AND known_until = 9223372036854775807

-- name: insert_link
INSERT INTO link VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: close_fact
UPDATE fact SET known_until = ? WHERE id = ? AND known_until = 9223372036854775807

-- name: insert_fact
INSERT INTO fact VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: add_usage
INSERT INTO usage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET
    accesses = accesses + excluded.accesses,
    last_access = max(coalesce(last_access, excluded.last_access), coalesce(excluded.last_access, last_access)),
    reviews = reviews + excluded.reviews,
    last_review = max(coalesce(last_review, excluded.last_review), coalesce(excluded.last_review, last_review)),
    crossings = crossings + excluded.crossings,
    rewards = rewards + excluded.rewards,
    rewarded = rewarded + excluded.rewarded,
    spaced = spaced + excluded.spaced

-- name: put_record
INSERT INTO record VALUES (?, ?, ?, ?)
ON CONFLICT (collection, key) DO UPDATE SET value = excluded.value, sum = excluded.sum

-- name: drop_record
DELETE FROM record WHERE collection = ? AND key = ?

-- name: put_quarantined
INSERT OR IGNORE INTO quarantine (what, held, seq) VALUES (?, ?, ?)

-- name: drop_quarantined
DELETE FROM quarantine WHERE seq = ?

-- name: erase_id.quarantine
DELETE FROM quarantine WHERE what = 'memory' AND held = ?

-- name: erase_fact.quarantine
DELETE FROM quarantine WHERE what = 'fact' AND held = ?

-- name: count_quarantined
-- A quarantine that holds nothing any more still takes in what comes.
INSERT INTO counter (name, value)
SELECT 'quarantined', (SELECT count(*) FROM quarantine) + (SELECT count(*) FROM record WHERE collection = 'quarantine')
WHERE true ON CONFLICT (name) DO UPDATE SET value = excluded.value

-- name: quarantines_of
SELECT q.held, q.seq FROM json_each(:ids) j CROSS JOIN quarantine q ON q.held = j.value
WHERE q.what = :what ORDER BY q.held, q.seq

-- name: add_told
INSERT INTO told (id, session, times, first, last) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (id, session) DO UPDATE SET
    times = told.times + excluded.times, first = min(told.first, excluded.first), last = max(told.last, excluded.last)

-- name: bound_told
DELETE FROM told WHERE last <= (
    SELECT last FROM told ORDER BY last DESC LIMIT 1 OFFSET :most
)

-- name: told
SELECT t.id, t.session, t.times, t.first, t.last FROM json_each(:ids) j CROSS JOIN told t ON t.id = j.value
ORDER BY t.last DESC, t.id, t.session LIMIT :limit

-- name: insert_journal
INSERT INTO journal VALUES (?, ?, ?, ?, ?, ?)

-- name: remember_purged
INSERT OR IGNORE INTO purged VALUES (?, ?)

-- name: any_purged
SELECT EXISTS (SELECT 1 FROM purged)

-- name: forget_purged
DELETE FROM purged WHERE id = ?

-- name: rows_of
SELECT c.row, t.length FROM content c JOIN terms t ON t.row = c.row WHERE c.row IN (SELECT row FROM state WHERE id = ?)

-- name: erase_row.terms
DELETE FROM terms WHERE row = ?

-- name: erase_row.label
DELETE FROM label WHERE row = ?

-- name: erase_row.content
DELETE FROM content WHERE row = ?

-- name: cut_body
UPDATE content SET body = ?, sum = ? WHERE row = ?

-- name: erase_id.state
DELETE FROM state WHERE id = ?

-- name: erase_id.usage
DELETE FROM usage WHERE id = ?

-- name: erase_id.told
DELETE FROM told WHERE id = ?

-- name: erase_id.fact
DELETE FROM fact WHERE memory = ?

-- name: erase_fact
DELETE FROM fact WHERE id = ?

-- name: erase_id.link_source
DELETE FROM link WHERE source = ? AND source_is = 'memory'

-- name: erase_id.link_target
DELETE FROM link WHERE target = ? AND target_is = 'memory'

-- name: dump.content
SELECT c.@content, t.terms, c.sum FROM content c JOIN terms t ON t.row = c.row ORDER BY c.row

-- name: dump.state
-- Only the keys are sorted: whole rows would be held in memory for it.
SELECT s.*
FROM (SELECT known_from, row FROM state ORDER BY known_from, row LIMIT -1) k
CROSS JOIN state s ON s.row = k.row AND s.known_from = k.known_from

-- name: dump.link
SELECT * FROM link ORDER BY entry

-- name: dump.fact
SELECT * FROM fact ORDER BY entry

-- name: dump.usage
SELECT * FROM usage ORDER BY id

-- name: dump.record
SELECT * FROM record ORDER BY collection, key

-- name: dump.journal
SELECT * FROM journal ORDER BY seq

-- name: dump.purged
SELECT * FROM purged ORDER BY id

-- name: check.rows
SELECT count(*) FROM content c WHERE NOT EXISTS (SELECT 1 FROM state s WHERE s.row = c.row)

-- name: check.states
SELECT count(*) FROM state s WHERE NOT EXISTS (SELECT 1 FROM content c WHERE c.row = s.row)

-- name: check.open
SELECT count(*) FROM (
    SELECT id FROM state GROUP BY id HAVING sum(known_until = 9223372036854775807) <> 1
)

-- name: check.gaps
SELECT count(*) FROM state s
WHERE s.known_until <> 9223372036854775807
  AND NOT EXISTS (SELECT 1 FROM state n WHERE n.id = s.id AND n.known_from = s.known_until)

-- name: check.terms
SELECT abs((SELECT count(*) FROM content) - (SELECT count(*) FROM terms))
     + abs((SELECT count(*) FROM content) - (SELECT value FROM counter WHERE name = 'documents'))
     + abs((SELECT coalesce(sum(length), 0) FROM terms) - (SELECT value FROM counter WHERE name = 'terms'))

-- name: finish_purge
UPDATE counter SET value = 0 WHERE name = 'unscrubbed' AND value <> 0

-- name: check.journal
SELECT count(*) FROM journal j JOIN journal n ON n.seq = (SELECT min(seq) FROM journal WHERE seq > j.seq)
WHERE n.at <= j.at

-- name: totals
SELECT 'versions', count(*) FROM content
UNION ALL SELECT 'links', count(*) FROM link WHERE known_until = 9223372036854775807 AND ended = ''
UNION ALL SELECT 'facts', count(*) FROM fact WHERE known_until = 9223372036854775807 AND ended = ''
UNION ALL SELECT 'changes', count(*) FROM journal
UNION ALL SELECT 'purged', count(*) FROM purged
UNION ALL SELECT 'quarantined', count(DISTINCT held) FROM quarantine WHERE what = 'memory'
