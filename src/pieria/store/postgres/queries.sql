-- Every statement of the PostgreSQL store but the visibility predicate (filter.sql), what is about vectors (vectors.sql)
-- and the schema (migrations/). `@content` and its like stand for the columns of a table but the bank.

-- name: head
SELECT name, value FROM counter WHERE bank = %(bank)s

-- name: there
SELECT
    EXISTS (SELECT 1 FROM link WHERE bank = %(bank)s), EXISTS (SELECT 1 FROM fact WHERE bank = %(bank)s),
    EXISTS (SELECT 1 FROM label WHERE bank = %(bank)s AND what = 'standing'),
    EXISTS (SELECT 1 FROM label WHERE bank = %(bank)s AND what = 'entity')

-- name: set_counter
UPDATE counter SET value = %(value)s WHERE bank = %(bank)s AND name = %(name)s

-- name: select
-- {where}, {after} and {order} come from the compiled filter and the table of orders.
-- Only the keys are sorted: otherwise whole rows would be read and held for it.
SELECT c.@content, NULL, s.@state, NULL
FROM (
    SELECT s.row, s.known_from FROM state s
    WHERE s.bank = %(bank)s AND {where} {after} ORDER BY {order} LIMIT %(limit)s
) k
JOIN state s ON s.bank = %(bank)s AND s.row = k.row AND s.known_from = k.known_from
JOIN content c ON c.bank = %(bank)s AND c.row = s.row
ORDER BY {order}

-- name: order.newest
s.at DESC, s.row DESC

-- name: order.oldest
s.at, s.row

-- name: order.changed
s.known_from DESC, s.row DESC

-- name: order.important
s.importance DESC, s.row DESC

-- name: after.newest
AND (s.at, s.row) < (%(after_value)s, %(after_row)s)

-- name: after.oldest
AND (s.at, s.row) > (%(after_value)s, %(after_row)s)

-- name: after.changed
AND (s.known_from, s.row) < (%(after_value)s, %(after_row)s)

-- name: after.important
AND (s.importance, s.row) < (%(after_value)s, %(after_row)s)

-- name: count
SELECT {column} AS value, count(*) FROM state s WHERE s.bank = %(bank)s AND {where} GROUP BY 1 ORDER BY 2 DESC, 1

-- name: tally
SELECT ended, kind, status, tier, scope, count(*) FROM state
WHERE bank = %(bank)s AND known_until = 9223372036854775807
GROUP BY ended, kind, status, tier, scope
ORDER BY ended, kind, status, tier, scope

-- name: sessions
SELECT s.session, min(s.at), max(s.at), count(*) FILTER (WHERE s.ended = '') FROM state s WHERE s.bank = %(bank)s AND {where}
GROUP BY s.session HAVING count(*) FILTER (WHERE s.ended = '') > 0 {after}
ORDER BY min(s.at) DESC, coalesce(s.session, '') DESC LIMIT %(limit)s

-- name: sessions.after
AND (min(s.at), coalesce(s.session, '')) < (%(after_first)s, %(after_session)s)

-- name: total
SELECT 'total', count(*) FROM state s WHERE s.bank = %(bank)s AND {where}

-- name: count_labels
SELECT min(l.spelt), count(*)
FROM state s JOIN label l ON l.bank = %(bank)s AND l.row = s.row AND l.what = %(what)s
WHERE s.bank = %(bank)s AND {where}
GROUP BY l.value ORDER BY 2 DESC, 1

-- name: by_row
SELECT c.@content, NULL, s.@state, NULL
FROM unnest(%(rows)s::bigint[]) WITH ORDINALITY j (value, place)
JOIN state s ON s.bank = %(bank)s AND s.row = j.value
JOIN content c ON c.bank = %(bank)s AND c.row = s.row
WHERE {where} ORDER BY j.place

-- name: contents
SELECT c.@content, NULL
FROM unnest(%(rows)s::bigint[]) WITH ORDINALITY j (value, place) JOIN content c ON c.bank = %(bank)s AND c.row = j.value
ORDER BY j.place

-- name: outlines
SELECT
    s.row, s.id, s.kind, s.at, s.author, s.author_type, s.session, s.channel, s.scope, s.importance, s.strength,
    s.trust, s.valid_from, s.pinned,
    CASE WHEN s.author IS NULL THEN (SELECT left(c.text, 48) FROM content c WHERE c.bank = s.bank AND c.row = s.row) END
FROM unnest(%(rows)s::bigint[]) WITH ORDINALITY j (value, place) JOIN state s ON s.bank = %(bank)s AND s.row = j.value
WHERE {where} ORDER BY j.place

-- name: candidates
SELECT
    s.row, s.id, s.kind, s.at, s.author, s.author_type, s.session, s.channel, s.scope, s.importance, s.strength,
    s.valid_from, u.@usage
FROM unnest(%(rows)s::bigint[]) WITH ORDINALITY j (value, place) JOIN state s ON s.bank = %(bank)s AND s.row = j.value
    LEFT JOIN usage u ON u.bank = s.bank AND u.id = s.id
WHERE {where} ORDER BY j.place

-- name: wordings
-- Of a long text so many of its terms are counted: more than a question needs to find it.
SELECT
    c.row, coalesce(t.length, 0), coalesce(left(t.terms, 262144), ''), left(c.text, %(begin)s::integer),
    right(c.text, %(end)s::integer), length(c.text)
FROM unnest(%(rows)s::bigint[]) WITH ORDINALITY j (value, place)
    JOIN content c ON c.bank = %(bank)s AND c.row = j.value LEFT JOIN terms t ON t.bank = c.bank AND t.row = c.row
ORDER BY j.place

-- name: spots
SELECT s.row, s.id, s.kind, s.at, s.known_from
FROM unnest(%(rows)s::bigint[]) WITH ORDINALITY j (value, place) JOIN state s ON s.bank = %(bank)s AND s.row = j.value
WHERE {where} ORDER BY j.place

-- name: written
SELECT
    c.row, (SELECT min(s.known_from) FROM state s WHERE s.bank = %(bank)s AND s.row = c.row), c.version,
    (SELECT json_agg(l.value)::text FROM label l WHERE l.bank = %(bank)s AND l.row = c.row AND l.what = 'tag')
FROM unnest(%(rows)s::bigint[]) WITH ORDINALITY j (value, place) JOIN content c ON c.bank = %(bank)s AND c.row = j.value
ORDER BY j.place

-- name: rows
SELECT s.row FROM state s WHERE s.bank = %(bank)s AND {where} ORDER BY {order} LIMIT %(limit)s

-- name: rows_each.label
-- NULL where more than a few bear the value, whatever became of them. Those few are found by it, and then sorted: else
-- they might be looked for in the order of all.
SELECT
    j.value,
    CASE WHEN (
        SELECT count(*) FROM (
            SELECT 1 FROM label WHERE bank = %(bank)s AND what = %(label)s AND value = j.value LIMIT %(few)s + 1
        ) n
    ) <= %(few)s THEN (
        SELECT coalesce(string_agg(s.row::text, ',' ORDER BY {order}), '') FROM (
            SELECT s.* FROM (
                SELECT s.row, s.at, s.known_from, s.importance
                FROM label l JOIN state s ON s.bank = %(bank)s AND s.row = l.row
                WHERE l.bank = %(bank)s AND l.what = %(label)s AND l.value = j.value AND {where} OFFSET 0
            ) s ORDER BY {order} LIMIT %(limit)s
        ) s
    ) END
FROM unnest(%(values)s::text[]) j (value)

-- name: rows_each.place
SELECT
    j.value,
    CASE WHEN (
        SELECT count(*) FROM (
            SELECT 1 FROM state WHERE bank = %(bank)s AND place = j.value LIMIT %(few)s + 1
        ) n
    ) <= %(few)s THEN (
        SELECT coalesce(string_agg(s.row::text, ',' ORDER BY {order}), '') FROM (
            SELECT s.* FROM (
                SELECT s.row, s.at, s.known_from, s.importance FROM state s
                WHERE s.bank = %(bank)s AND s.place = j.value AND {where} OFFSET 0
            ) s ORDER BY {order} LIMIT %(limit)s
        ) s
    ) END
FROM unnest(%(values)s::text[]) j (value)

-- name: placed
SELECT s.id, s.place, coalesce(s.type, s.kind), s.at, s.valid_from, s.valid_until, c.entities
FROM state s JOIN content c ON c.bank = %(bank)s AND c.row = s.row
WHERE s.bank = %(bank)s AND {where} ORDER BY s.row

-- name: terms_of
SELECT t.row, t.length, t.terms
FROM unnest(%(rows)s::bigint[]) WITH ORDINALITY j (value, place) JOIN terms t ON t.bank = %(bank)s AND t.row = j.value
ORDER BY j.place

-- name: states
SELECT s.@state
FROM unnest(%(ids)s::text[]) WITH ORDINALITY j (value, place) JOIN state s ON s.bank = %(bank)s AND s.id = j.value
WHERE {where} ORDER BY j.place

-- name: standing
SELECT s.@state FROM state s
WHERE s.bank = %(bank)s AND {where} AND s.row > %(after)s ORDER BY s.row LIMIT %(limit)s

-- name: aged
SELECT
    s.row, s.id, s.importance, s.at, s.kind, s.strength, s.version,
    (SELECT min(f.known_from) FROM state f WHERE f.bank = %(bank)s AND f.row = s.row), u.@usage
FROM state s LEFT JOIN usage u ON u.bank = %(bank)s AND u.id = s.id
WHERE s.bank = %(bank)s AND {where} AND s.row > %(after)s ORDER BY s.row LIMIT %(limit)s

-- name: history
SELECT c.@content, NULL, s.@state, NULL
FROM state s JOIN content c ON c.bank = %(bank)s AND c.row = s.row
WHERE s.bank = %(bank)s AND s.id = %(id)s ORDER BY s.known_from

-- name: newest_version
SELECT coalesce(max(version), 0) FROM state WHERE bank = %(bank)s AND id = %(1)s

-- name: version
SELECT c.@content, NULL, s.@state, NULL
FROM state s JOIN content c ON c.bank = %(bank)s AND c.row = s.row
WHERE s.bank = %(bank)s AND s.id = %(id)s AND s.version = %(version)s
ORDER BY s.known_from

-- name: frequencies
SELECT j.value, p.frequency, p.occurrences
FROM unnest(%(terms)s::text[]) j (value) CROSS JOIN LATERAL (
    SELECT count(*) AS frequency, coalesce(sum(number), 0) AS occurrences
    FROM posting WHERE bank = %(bank)s AND term = j.value
) p

-- name: postings
-- One string instead of a row a posting: handing rows over costs more than finding them.
SELECT j.value, (
    SELECT string_agg(
        CASE p.number WHEN 1 THEN p.row::text ELSE rtrim(repeat(p.row || ',', p.number), ',') END, ',' ORDER BY p.row
    )
    FROM posting p WHERE p.bank = %(bank)s AND p.term = j.value
)
FROM unnest(%(terms)s::text[]) j (value)

-- name: rows_holding
-- Each row once: of a term that texts repeat without end, the instances would be as many as there are words.
SELECT j.value, (SELECT string_agg(p.row::text, ',' ORDER BY p.row) FROM posting p WHERE p.bank = %(bank)s AND p.term = j.value)
FROM unnest(%(terms)s::text[]) j (value)

-- name: newest_postings
SELECT string_agg(p.row::text, ',' ORDER BY p.row DESC)
FROM (SELECT row FROM posting WHERE bank = %(bank)s AND term = %(term)s ORDER BY row DESC LIMIT %(limit)s) p

-- name: probe_rows
SELECT s.row
FROM unnest(%(rows)s::bigint[]) WITH ORDINALITY j (value, place)
JOIN state s ON s.bank = %(bank)s AND s.row = j.value
WHERE {where} ORDER BY j.place

-- name: rows_since
-- Of the states that a change opened, or touched, after the one of that number.
SELECT s.row
FROM journal g CROSS JOIN LATERAL jsonb_array_elements_text(g.ids::jsonb) j
JOIN state s ON s.bank = %(bank)s AND s.id = j.value
WHERE g.bank = %(bank)s AND g.seq > %(seq)s AND {where}

-- name: count_to
SELECT count(*) FROM (SELECT 1 FROM state s WHERE s.bank = %(bank)s AND {where} LIMIT %(limit)s) n

-- name: sieve
SELECT s.row FROM state s WHERE s.bank = %(bank)s AND {where} LIMIT %(limit)s

-- name: twins
SELECT c.@content, NULL, s.@state, NULL
FROM content c JOIN state s ON s.bank = %(bank)s AND s.row = c.row
WHERE c.bank = %(bank)s AND c.row = ANY(%(rows)s::bigint[]) AND c.text = %(text)s AND {where}
ORDER BY s.row

-- name: namesakes
SELECT c.@content, NULL, s.@state, NULL
FROM content c JOIN state s ON s.bank = %(bank)s AND s.row = c.row
WHERE c.bank = %(bank)s AND c.row = ANY(%(rows)s::bigint[]) AND length(c.text) <= %(most)s AND {where}
ORDER BY s.row

-- name: twins_without_terms
-- A text of marks alone is in no index: every text is compared.
SELECT c.@content, NULL, s.@state, NULL
FROM content c JOIN state s ON s.bank = %(bank)s AND s.row = c.row
WHERE c.bank = %(bank)s AND c.text = %(text)s AND {where}
ORDER BY s.row

-- name: links
SELECT @link FROM link WHERE bank = %(bank)s AND {where} ORDER BY entry

-- name: ties
SELECT source, relation, target FROM link
WHERE bank = %(bank)s AND source_is = 'memory' AND target_is = 'memory' AND ended = ''
    AND known_until = 9223372036854775807

-- name: tied
-- By the newest links first, so that no more memories are asked about than it takes.
SELECT
    j.value,
    (SELECT string_agg(f.row::text, ',' ORDER BY f.entry DESC, f.row) FROM (
        SELECT s.row, l.entry FROM (
            SELECT target AS id, entry FROM link
            WHERE bank = %(bank)s AND source = j.value AND source_is = 'memory' AND target_is = 'memory' AND {known}
              AND ended = ''
            ORDER BY entry DESC OFFSET 0
        ) l JOIN state s ON s.bank = %(bank)s AND s.id = l.id
        WHERE {where} ORDER BY l.entry DESC LIMIT %(newest)s
    ) f),
    (SELECT string_agg(f.row::text, ',' ORDER BY f.entry DESC, f.row) FROM (
        SELECT s.row, l.entry FROM (
            SELECT source AS id, entry FROM link
            WHERE bank = %(bank)s AND target = j.value AND source_is = 'memory' AND target_is = 'memory' AND {known}
              AND ended = ''
            ORDER BY entry DESC OFFSET 0
        ) l JOIN state s ON s.bank = %(bank)s AND s.id = l.id
        WHERE {where} ORDER BY l.entry DESC LIMIT %(newest)s
    ) f)
FROM unnest(%(ends)s::text[]) j (value)

-- name: ties_of
SELECT l.source, l.relation, l.entry, s.row, s.id, s.kind, s.at, s.known_from
FROM link l JOIN state s ON s.bank = %(bank)s AND s.id = l.target
WHERE l.bank = %(bank)s AND l.source = ANY(%(ends)s::text[]) AND l.source_is = 'memory' AND l.target_is = 'memory'
  AND l.known_until = 9223372036854775807 AND l.ended = '' AND {where}
UNION ALL
SELECT l.target, l.relation, l.entry, s.row, s.id, s.kind, s.at, s.known_from
FROM link l JOIN state s ON s.bank = %(bank)s AND s.id = l.source
WHERE l.bank = %(bank)s AND l.target = ANY(%(ends)s::text[]) AND l.source_is = 'memory' AND l.target_is = 'memory'
  AND l.known_until = 9223372036854775807 AND l.ended = '' AND {where}
ORDER BY 3, 1

-- name: labelled
SELECT (SELECT string_agg(f.row::text, ',') FROM (
    SELECT s.row FROM (
        SELECT row FROM label WHERE bank = %(bank)s AND what = %(label)s AND value = j.value ORDER BY row DESC OFFSET 0
    ) l JOIN state s ON s.bank = %(bank)s AND s.row = l.row
    WHERE {where} ORDER BY l.row DESC LIMIT %(limit)s
) f)
FROM unnest(%(labels)s::text[]) j (value)

-- name: facts
SELECT {columns} FROM fact f
WHERE f.bank = %(bank)s AND {where}
  AND (f.memory IS NULL OR EXISTS (SELECT 1 FROM state s WHERE s.bank = %(bank)s AND s.id = f.memory AND {visible}))
ORDER BY f.valid_from NULLS FIRST, f.entry

-- name: facts_within_memories
-- What is drawn from a memory holds no longer than the memory does, whatever became of that since.
SELECT {columns} FROM (
    SELECT
        f.entry, f.id, f.subject, f.subject_key, f.predicate, f.predicate_key, f.object, f.object_key,
        greatest({begin}, s.valid_from) AS valid_from, least(f.valid_until, s.valid_until) AS valid_until,
        f.confidence, f.memory, f.source, f.ended, f.reason, f.known_from, f.known_until,
        {begin} = f.valid_until AS is_instant
    FROM (SELECT * FROM fact WHERE bank = %(bank)s AND {where}) f
    LEFT JOIN state s ON s.bank = %(bank)s AND s.id = f.memory AND {visible}
    WHERE f.memory IS NULL OR s.id IS NOT NULL
) held
WHERE valid_from IS NULL OR valid_until IS NULL OR valid_from < valid_until OR is_instant AND valid_from = valid_until
ORDER BY valid_from NULLS FIRST, entry

-- name: sourceless
SELECT @fact FROM fact
WHERE bank = %(bank)s AND entry > %(after)s AND memory IS NULL AND ended = '' AND known_until = 9223372036854775807
ORDER BY entry LIMIT %(limit)s

-- name: last_fact
SELECT coalesce(max(entry), 0) FROM fact WHERE bank = %(bank)s

-- name: columns.fact
@fact

-- name: columns.span
id, subject_key, predicate, predicate_key, object_key, valid_from, valid_until, memory, known_from

-- name: drawn.subject_keys
-- Most of what a question names is in no fact.
SELECT j.value FROM unnest(%(keys)s::text[]) j (value)
WHERE EXISTS (SELECT 1 FROM fact WHERE bank = %(bank)s AND subject_key = j.value)

-- name: drawn.object_keys
SELECT j.value FROM unnest(%(keys)s::text[]) j (value)
WHERE EXISTS (SELECT 1 FROM fact WHERE bank = %(bank)s AND object_key = j.value)

-- name: drawn.subject
-- Sorted apart from the join, so that no more memories are asked about than it takes.
SELECT d.entry FROM (
    SELECT entry, memory FROM fact WHERE bank = %(bank)s AND subject_key = %(key)s AND {where} ORDER BY entry DESC OFFSET 0
) d JOIN state s ON s.bank = %(bank)s AND s.id = d.memory
WHERE {seen} ORDER BY d.entry DESC LIMIT %(newest)s

-- name: drawn.object
SELECT d.entry FROM (
    SELECT entry, memory FROM fact WHERE bank = %(bank)s AND object_key = %(key)s AND {where} ORDER BY entry DESC OFFSET 0
) d JOIN state s ON s.bank = %(bank)s AND s.id = d.memory
WHERE {seen} ORDER BY d.entry DESC LIMIT %(newest)s

-- name: fact_names
WITH seen AS (
    SELECT f.* FROM fact f
    WHERE f.bank = %(bank)s AND {where}
      AND (f.memory IS NULL OR EXISTS (SELECT 1 FROM state s WHERE s.bank = %(bank)s AND s.id = f.memory AND {visible}))
)
SELECT key, (array_agg(name ORDER BY entry))[1], count(*)
FROM (
    SELECT subject_key AS key, subject AS name, entry FROM seen
    UNION ALL
    SELECT object_key, object, entry FROM seen WHERE object_key <> subject_key
) named
WHERE key >= %(prefix)s AND key < %(prefix)s || chr(1114111)
GROUP BY key
ORDER BY key

-- name: spelling.entity
SELECT coalesce(
    (SELECT subject FROM fact WHERE bank = %(bank)s AND subject_key = %(key)s ORDER BY entry LIMIT 1),
    (SELECT object FROM fact WHERE bank = %(bank)s AND object_key = %(key)s ORDER BY entry LIMIT 1)
)

-- name: spelling.predicate
SELECT (SELECT predicate FROM fact WHERE bank = %(bank)s AND predicate_key = %(key)s ORDER BY entry LIMIT 1)

-- name: usage
SELECT u.@usage
FROM unnest(%(ids)s::text[]) WITH ORDINALITY j (value, place) JOIN usage u ON u.bank = %(bank)s AND u.id = j.value
ORDER BY j.place

-- name: records
SELECT key, value FROM record
WHERE bank = %(bank)s AND collection = %(collection)s AND key >= %(prefix)s AND key < %(prefix)s || chr(1114111)
ORDER BY key

-- name: records_of
SELECT key, value FROM record
WHERE bank = %(bank)s AND collection = %(collection)s AND key = ANY(%(keys)s::text[])

-- name: purged
SELECT id FROM purged WHERE bank = %(bank)s AND id = ANY(%(ids)s::text[])

-- name: changes
SELECT @journal FROM journal WHERE bank = %(bank)s AND seq > %(since)s ORDER BY seq LIMIT %(limit)s

-- name: changes_by_seq
SELECT @journal FROM journal WHERE bank = %(bank)s AND seq = ANY(%(seqs)s::bigint[]) ORDER BY seq

-- Newest first, so that the change that was just made is found at once.
-- name: changes_at
SELECT @journal FROM journal WHERE bank = %(bank)s AND at = ANY(%(times)s::bigint[]) ORDER BY seq DESC LIMIT %(limit)s

-- name: opened_states
SELECT s.@state FROM state s
WHERE s.bank = %(bank)s AND s.known_from = %(known)s AND s.id IN (
    SELECT jsonb_array_elements_text(ids::jsonb) FROM journal WHERE bank = %(bank)s AND seq = %(seq)s
)
ORDER BY s.row

-- name: opened_links
SELECT @link FROM link
WHERE bank = %(bank)s AND known_from = %(known)s AND id IN (
    SELECT jsonb_array_elements_text(ids::jsonb) FROM journal WHERE bank = %(bank)s AND seq = %(seq)s
)
ORDER BY entry

-- name: opened_facts
SELECT @fact FROM fact
WHERE bank = %(bank)s AND known_from = %(known)s AND id IN (
    SELECT jsonb_array_elements_text(ids::jsonb) FROM journal WHERE bank = %(bank)s AND seq = %(seq)s
)
ORDER BY entry

-- name: insert_content
INSERT INTO content (bank, @content) VALUES (
    %(bank)s, %(1)s, %(2)s, %(3)s, %(4)s, %(5)s, %(6)s, %(7)s, %(8)s, %(9)s, %(10)s, %(11)s, %(12)s
)

-- name: insert_state
INSERT INTO state (
    bank, row, id, version, kind, type, place, scope, session, sequence, channel, author, author_type, source, at,
    valid_from, valid_until, status, tier, importance, confidence, strength, trust, pinned, ended, reason,
    superseded_by, via, known_from, known_until
)
VALUES (
    %(bank)s, %(1)s, %(2)s, %(3)s, %(4)s, %(5)s, %(6)s, %(7)s, %(8)s, %(9)s, %(10)s, %(11)s, %(12)s, %(13)s, %(14)s,
    %(15)s, %(16)s, %(17)s, %(18)s, %(19)s, %(20)s, %(21)s, %(22)s, %(23)s, %(24)s, %(25)s, %(26)s, %(27)s, %(28)s,
    %(29)s
)

-- name: close_state
UPDATE state SET known_until = %(1)s WHERE bank = %(bank)s AND id = %(2)s AND known_until = 9223372036854775807

-- name: insert_label
INSERT INTO label (bank, what, value, row, spelt) VALUES (%(bank)s, %(1)s, %(2)s, %(3)s, %(4)s) ON CONFLICT DO NOTHING

-- name: insert_terms
INSERT INTO terms (bank, row, length, terms) VALUES (%(bank)s, %(1)s, %(2)s, %(3)s)

-- name: index_terms
INSERT INTO posting (bank, term, row, number)
SELECT %(bank)s, w.term, t.row, count(*)
FROM unnest(%(rows)s::bigint[], %(terms)s::text[]) t (row, terms)
CROSS JOIN LATERAL unnest(string_to_array(nullif(t.terms, ''), ' ')) w (term)
GROUP BY w.term, t.row

-- name: unindex_terms
DELETE FROM posting p USING (
    SELECT DISTINCT w.term FROM terms t CROSS JOIN LATERAL unnest(string_to_array(t.terms, ' ')) w (term)
    WHERE t.bank = %(bank)s AND t.row = %(1)s
) held
WHERE p.bank = %(bank)s AND p.term = held.term AND p.row = %(1)s

-- name: check_index
-- Of what is in the index and what should be there, all that is not in both.
SELECT count(*) FROM (
    SELECT w.term COLLATE "C" AS term, t.row, count(*) AS number
    FROM terms t CROSS JOIN LATERAL unnest(string_to_array(nullif(t.terms, ''), ' ')) w (term)
    WHERE t.bank = %(bank)s GROUP BY 1, 2
) made FULL JOIN (SELECT term, row, number FROM posting WHERE bank = %(bank)s) held
ON held.term = made.term AND held.row = made.row AND held.number = made.number
WHERE held.term IS NULL OR made.term IS NULL

-- name: every_content
-- With its kind and way in, which decide whether it can state rules.
SELECT c.@content, NULL, s.kind, s.via
FROM content c
LEFT JOIN state s ON s.bank = %(bank)s AND s.row = c.row AND s.known_from = (
    SELECT min(f.known_from) FROM state f WHERE f.bank = %(bank)s AND f.row = c.row
)
WHERE c.bank = %(bank)s ORDER BY c.row

-- name: forget_standing
DELETE FROM label WHERE bank = %(bank)s AND what = 'standing'

-- name: replace_terms
INSERT INTO terms (bank, row, length, terms) VALUES (%(bank)s, %(1)s, %(2)s, %(3)s)
ON CONFLICT (bank, row) DO UPDATE SET length = excluded.length, terms = excluded.terms

-- name: rebuild_index
INSERT INTO posting (bank, term, row, number)
SELECT %(bank)s, w.term, t.row, count(*)
FROM terms t CROSS JOIN LATERAL unnest(string_to_array(nullif(t.terms, ''), ' ')) w (term)
WHERE t.bank = %(bank)s GROUP BY w.term, t.row

-- name: close_link
UPDATE link SET known_until = %(1)s WHERE bank = %(bank)s AND id = %(2)s AND known_until = 9223372036854775807

-- name: insert_link
INSERT INTO link (bank, @link) VALUES (
    %(bank)s, %(1)s, %(2)s, %(3)s, %(4)s, %(5)s, %(6)s, %(7)s, %(8)s, %(9)s, %(10)s, %(11)s, %(12)s, %(13)s
)

-- name: close_fact
UPDATE fact SET known_until = %(1)s WHERE bank = %(bank)s AND id = %(2)s AND known_until = 9223372036854775807

-- name: insert_fact
INSERT INTO fact (bank, @fact) VALUES (
    %(bank)s, %(1)s, %(2)s, %(3)s, %(4)s, %(5)s, %(6)s, %(7)s, %(8)s, %(9)s, %(10)s, %(11)s, %(12)s, %(13)s, %(14)s,
    %(15)s, %(16)s, %(17)s
)

-- name: add_usage
INSERT INTO usage (bank, @usage)
VALUES (%(bank)s, %(1)s, %(2)s, %(3)s, %(4)s, %(5)s, %(6)s, %(7)s, %(8)s, %(9)s)
ON CONFLICT (bank, id) DO UPDATE SET
    accesses = usage.accesses + excluded.accesses,
    last_access = greatest(usage.last_access, excluded.last_access),
    reviews = usage.reviews + excluded.reviews,
    last_review = greatest(usage.last_review, excluded.last_review),
    crossings = usage.crossings + excluded.crossings,
    rewards = usage.rewards + excluded.rewards,
    rewarded = usage.rewarded + excluded.rewarded,
    spaced = usage.spaced + excluded.spaced

-- name: put_record
INSERT INTO record (bank, collection, key, value) VALUES (%(bank)s, %(1)s, %(2)s, %(3)s)
ON CONFLICT (bank, collection, key) DO UPDATE SET value = excluded.value

-- name: drop_record
DELETE FROM record WHERE bank = %(bank)s AND collection = %(1)s AND key = %(2)s

-- name: put_quarantined
INSERT INTO quarantine (bank, what, held, seq) VALUES (%(bank)s, %(1)s, %(2)s, %(3)s) ON CONFLICT DO NOTHING

-- name: drop_quarantined
DELETE FROM quarantine WHERE bank = %(bank)s AND seq = %(1)s

-- name: erase_id.quarantine
DELETE FROM quarantine WHERE bank = %(bank)s AND what = 'memory' AND held = %(1)s

-- name: erase_fact.quarantine
DELETE FROM quarantine WHERE bank = %(bank)s AND what = 'fact' AND held = %(1)s

-- name: count_quarantined
-- A quarantine that holds nothing any more still takes in what comes.
INSERT INTO counter (bank, name, value)
SELECT %(bank)s, 'quarantined', (SELECT count(*) FROM quarantine WHERE bank = %(bank)s)
    + (SELECT count(*) FROM record WHERE bank = %(bank)s AND collection = 'quarantine')
ON CONFLICT (bank, name) DO UPDATE SET value = excluded.value

-- name: quarantines_of
SELECT q.held, q.seq FROM quarantine q
WHERE q.bank = %(bank)s AND q.held = ANY(%(ids)s::text[]) AND q.what = %(what)s ORDER BY q.held, q.seq

-- name: add_told
INSERT INTO told (bank, id, session, times, first, last) VALUES (%(bank)s, %(1)s, %(2)s, %(3)s, %(4)s, %(5)s)
ON CONFLICT (bank, id, session) DO UPDATE SET
    times = told.times + excluded.times, first = least(told.first, excluded.first), last = greatest(told.last, excluded.last)

-- name: bound_told
DELETE FROM told WHERE bank = %(bank)s AND last <= (
    SELECT last FROM told WHERE bank = %(bank)s ORDER BY last DESC LIMIT 1 OFFSET %(most)s
)

-- name: told
SELECT t.id, t.session, t.times, t.first, t.last FROM told t
WHERE t.bank = %(bank)s AND t.id = ANY(%(ids)s::text[])
ORDER BY t.last DESC, t.id, t.session LIMIT %(limit)s

-- name: insert_journal
INSERT INTO journal (bank, @journal) VALUES (%(bank)s, %(1)s, %(2)s, %(3)s, %(4)s, %(5)s)

-- name: remember_purged
INSERT INTO purged (bank, id, at) VALUES (%(bank)s, %(1)s, %(2)s) ON CONFLICT DO NOTHING

-- name: any_purged
SELECT EXISTS (SELECT 1 FROM purged WHERE bank = %(bank)s)

-- name: forget_purged
DELETE FROM purged WHERE bank = %(bank)s AND id = %(1)s

-- name: rows_of
SELECT c.row, t.length FROM content c JOIN terms t ON t.bank = %(bank)s AND t.row = c.row
WHERE c.bank = %(bank)s AND c.row IN (SELECT row FROM state WHERE bank = %(bank)s AND id = %(1)s)

-- name: erase_row.terms
DELETE FROM terms WHERE bank = %(bank)s AND row = %(1)s

-- name: erase_row.label
DELETE FROM label WHERE bank = %(bank)s AND row = %(1)s

-- name: erase_row.content
DELETE FROM content WHERE bank = %(bank)s AND row = %(1)s

-- name: cut_body
UPDATE content SET body = %(1)s WHERE bank = %(bank)s AND row = %(2)s

-- name: erase_id.state
DELETE FROM state WHERE bank = %(bank)s AND id = %(1)s

-- name: erase_id.usage
DELETE FROM usage WHERE bank = %(bank)s AND id = %(1)s

-- name: erase_id.told
DELETE FROM told WHERE bank = %(bank)s AND id = %(1)s

-- name: erase_id.fact
DELETE FROM fact WHERE bank = %(bank)s AND memory = %(1)s

-- name: erase_fact
DELETE FROM fact WHERE bank = %(bank)s AND id = %(1)s

-- name: erase_id.link_source
DELETE FROM link WHERE bank = %(bank)s AND source = %(1)s AND source_is = 'memory'

-- name: erase_id.link_target
DELETE FROM link WHERE bank = %(bank)s AND target = %(1)s AND target_is = 'memory'

-- name: dump.content
SELECT c.@content, t.terms FROM content c JOIN terms t ON t.bank = %(bank)s AND t.row = c.row
WHERE c.bank = %(bank)s ORDER BY c.row

-- name: dump.state
SELECT s.@state FROM state s WHERE s.bank = %(bank)s ORDER BY s.known_from, s.row

-- name: dump.link
SELECT @link FROM link WHERE bank = %(bank)s ORDER BY entry

-- name: dump.fact
SELECT @fact FROM fact WHERE bank = %(bank)s ORDER BY entry

-- name: dump.usage
SELECT @usage FROM usage WHERE bank = %(bank)s ORDER BY id

-- name: dump.record
SELECT collection, key, value FROM record WHERE bank = %(bank)s ORDER BY collection, key

-- name: dump.journal
SELECT @journal FROM journal WHERE bank = %(bank)s ORDER BY seq

-- name: dump.purged
SELECT id, at FROM purged WHERE bank = %(bank)s ORDER BY id

-- name: check.rows
SELECT count(*) FROM content c
WHERE c.bank = %(bank)s AND NOT EXISTS (SELECT 1 FROM state s WHERE s.bank = %(bank)s AND s.row = c.row)

-- name: check.states
SELECT count(*) FROM state s
WHERE s.bank = %(bank)s AND NOT EXISTS (SELECT 1 FROM content c WHERE c.bank = %(bank)s AND c.row = s.row)

-- name: check.open
SELECT count(*) FROM (
    SELECT id FROM state WHERE bank = %(bank)s GROUP BY id HAVING count(*) FILTER (WHERE known_until = 9223372036854775807) <> 1
) several

-- name: check.gaps
SELECT count(*) FROM state s
WHERE s.bank = %(bank)s AND s.known_until <> 9223372036854775807
  AND NOT EXISTS (SELECT 1 FROM state n WHERE n.bank = %(bank)s AND n.id = s.id AND n.known_from = s.known_until)

-- name: check.terms
SELECT abs(contents - termed) + abs(contents - documents) + abs(written - counted) FROM (
    SELECT
        (SELECT count(*) FROM content WHERE bank = %(bank)s) AS contents,
        (SELECT count(*) FROM terms WHERE bank = %(bank)s) AS termed,
        (SELECT coalesce(sum(length), 0)::bigint FROM terms WHERE bank = %(bank)s) AS written,
        (SELECT value FROM counter WHERE bank = %(bank)s AND name = 'documents') AS documents,
        (SELECT value FROM counter WHERE bank = %(bank)s AND name = 'terms') AS counted
) held

-- name: finish_purge
-- Unless more was erased since.
UPDATE counter SET value = 0 WHERE bank = %(bank)s AND name = 'unscrubbed' AND value = %(erased)s

-- name: check.journal
SELECT count(*) FROM (SELECT at, lag(at) OVER (ORDER BY seq) AS before FROM journal WHERE bank = %(bank)s) told
WHERE at <= before

-- name: totals
SELECT 'versions', count(*) FROM content WHERE bank = %(bank)s
UNION ALL SELECT 'links', count(*) FROM link WHERE bank = %(bank)s AND known_until = 9223372036854775807 AND ended = ''
UNION ALL SELECT 'facts', count(*) FROM fact WHERE bank = %(bank)s AND known_until = 9223372036854775807 AND ended = ''
UNION ALL SELECT 'changes', count(*) FROM journal WHERE bank = %(bank)s
UNION ALL SELECT 'purged', count(*) FROM purged WHERE bank = %(bank)s
UNION ALL SELECT 'quarantined', count(DISTINCT held) FROM quarantine WHERE bank = %(bank)s AND what = 'memory'
