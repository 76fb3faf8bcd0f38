-- Every statement about vectors and what is still to be embedded.

-- name: space
-- The last column: whether any text has a lead. Most banks hold none so long, and are not searched for any.
SELECT
    number, name, dimension, first_entry, NOT EXISTS (SELECT 1 FROM pending WHERE bank = %(bank)s),
    EXISTS (SELECT 1 FROM embedded e WHERE e.bank = %(bank)s AND e.space = space.number AND e.what = 'lead')
FROM space WHERE bank = %(bank)s AND current = 1

-- name: leave_space
UPDATE space SET current = 0 WHERE bank = %(bank)s AND current = 1

-- name: enter_space
INSERT INTO space (bank, number, name, dimension, first_entry, current, known_from)
SELECT %(bank)s, coalesce(max(number), 0) + 1, %(name)s, %(dimension)s, %(first_entry)s, 1, %(known_from)s
FROM space WHERE bank = %(bank)s

-- name: everything_pending
INSERT INTO pending (bank, row, what, seq)
SELECT %(bank)s, row, 'passage', %(seq)s FROM content WHERE bank = %(bank)s
UNION ALL
SELECT %(bank)s, row, 'window', %(seq)s FROM state
WHERE bank = %(bank)s AND session IS NOT NULL AND known_until = 9223372036854775807 AND ended = ''
ON CONFLICT (bank, row, what) DO UPDATE SET seq = excluded.seq

-- name: pending
-- What was written last comes first: it is asked for first.
SELECT row, what FROM pending WHERE bank = %(bank)s AND what = %(1)s ORDER BY row DESC LIMIT %(2)s

-- name: pending_among
SELECT row FROM pending WHERE bank = %(bank)s AND row = ANY(%(1)s::bigint[]) AND what = %(2)s

-- name: pending_count
SELECT count(*) FROM pending WHERE bank = %(bank)s

-- name: add_pending
INSERT INTO pending (bank, row, what, seq) VALUES (%(bank)s, %(1)s, %(2)s, %(3)s)
ON CONFLICT (bank, row, what) DO UPDATE SET seq = excluded.seq

-- name: drop_pending
-- What was noted again since it was read stays.
DELETE FROM pending WHERE bank = %(bank)s AND row = %(1)s AND what = %(2)s AND seq <= %(3)s

-- name: drop_every_pending
DELETE FROM pending WHERE bank = %(bank)s AND row = %(1)s

-- name: beside_before
-- Of the states next to a place of a session: whether a window of the one may hold the other, and whether at any time.
SELECT s.row,
    s.ended = '' AND s.status = %(status)s AND s.channel IS NOT DISTINCT FROM %(channel)s,
    s.valid_from IS NULL AND s.valid_until IS NULL
FROM state s
WHERE s.bank = %(bank)s AND s.session = %(session)s AND (s.at, s.row) < (%(at)s, %(row)s)
  AND s.known_until = 9223372036854775807 AND s.scope = %(scope)s
ORDER BY s.at DESC, s.row DESC LIMIT %(seen)s

-- name: beside_after
SELECT s.row,
    s.ended = '' AND s.status = %(status)s AND s.channel IS NOT DISTINCT FROM %(channel)s,
    s.valid_from IS NULL AND s.valid_until IS NULL
FROM state s
WHERE s.bank = %(bank)s AND s.session = %(session)s AND (s.at, s.row) > (%(at)s, %(row)s)
  AND s.known_until = 9223372036854775807 AND s.scope = %(scope)s
ORDER BY s.at, s.row LIMIT %(seen)s

-- name: company
-- Whoever sees the turn `o`, at whatever time, sees the turn `s` of its session as well.
s.scope = o.scope AND s.ended = '' AND s.status = o.status
AND s.channel IS NOT DISTINCT FROM o.channel
AND (s.valid_from IS NULL OR s.valid_from <= o.valid_from)
AND (s.valid_until IS NULL OR s.valid_until >= o.valid_until)

-- name: company.free
-- Besides, while something is in quarantine: it is in windows of what is there itself, and in no others.
(NOT EXISTS (SELECT 1 FROM quarantine q WHERE q.bank = %(bank)s AND q.what = 'memory' AND q.held = s.id)
  OR EXISTS (
    SELECT 1 FROM state h JOIN quarantine q ON q.bank = %(bank)s AND q.what = 'memory' AND q.held = h.id
    WHERE h.bank = %(bank)s AND h.row = o.row))

-- name: windows_of_held
-- Windows of free turns that hold what the quarantine of this number holds.
SELECT DISTINCT v.entry, v.row
FROM quarantine q JOIN state s ON s.bank = %(bank)s AND s.id = q.held
    JOIN member m ON m.bank = %(bank)s AND m.row = s.row JOIN embedded v ON v.bank = %(bank)s AND v.entry = m.entry
WHERE q.bank = %(bank)s AND q.what = 'memory' AND q.seq = %(seq)s AND NOT EXISTS (
    SELECT 1 FROM state h JOIN quarantine f ON f.bank = %(bank)s AND f.what = 'memory' AND f.held = h.id
    WHERE h.bank = %(bank)s AND h.row = v.row)

-- name: turns_of_held
-- The turns that the quarantine of this number holds, of sessions of which it does not hold everything.
SELECT s.row, s.session, s.scope, s.at, s.author, s.channel, s.status, s.valid_from, s.valid_until, s.ended
FROM quarantine q JOIN state s ON s.bank = %(bank)s AND s.id = q.held AND s.known_until = 9223372036854775807
WHERE q.bank = %(bank)s AND q.what = 'memory' AND q.seq = %(seq)s AND s.ended = '' AND s.session IN (
    SELECT o.session FROM state o
    WHERE o.bank = %(bank)s AND o.known_until = 9223372036854775807 AND o.ended = ''
      AND o.session IN (
        SELECT h.session FROM quarantine f JOIN state h ON h.bank = %(bank)s AND h.id = f.held AND h.known_until = 9223372036854775807
        WHERE f.bank = %(bank)s AND f.what = 'memory' AND f.seq = %(seq)s AND h.session IS NOT NULL)
      AND NOT EXISTS (
        SELECT 1 FROM quarantine f WHERE f.bank = %(bank)s AND f.what = 'memory' AND f.held = o.id AND f.seq = %(seq)s))

-- name: in_other_company
-- Of (row, member) the rows that have a member which is no company of theirs, or not any more.
SELECT DISTINCT (j.value ->> 0)::bigint FROM jsonb_array_elements(%(pairs)s::jsonb) j
WHERE NOT EXISTS (
    SELECT 1 FROM state o CROSS JOIN state s
    WHERE o.bank = %(bank)s AND o.row = (j.value ->> 0)::bigint AND o.known_until = 9223372036854775807
      AND s.bank = %(bank)s AND s.row = (j.value ->> 1)::bigint AND s.known_until = 9223372036854775807
      AND s.session = o.session AND {company}
)

-- name: turns_of
SELECT id, row, session, scope, at, author, channel, status, valid_from, valid_until, ended FROM state
WHERE bank = %(bank)s AND id = ANY(%(1)s::text[]) AND known_until = 9223372036854775807 AND session IS NOT NULL

-- name: turn_of_row
SELECT row FROM state
WHERE bank = %(bank)s AND row = %(1)s AND known_until = 9223372036854775807 AND ended = '' AND session IS NOT NULL

-- name: rows_there
SELECT row FROM content WHERE bank = %(bank)s AND row = ANY(%(rows)s::bigint[])

-- name: entries_of
SELECT entry FROM embedded WHERE bank = %(bank)s AND row = %(1)s AND what = %(2)s AND space = %(3)s

-- name: entries_of_rows
SELECT entry FROM embedded WHERE bank = %(bank)s AND row = ANY(%(1)s::bigint[]) AND what = %(2)s AND space = %(3)s

-- name: entries_of_row
SELECT entry FROM embedded WHERE bank = %(bank)s AND row = %(1)s

-- name: windows_with
SELECT v.entry, v.row FROM member m JOIN embedded v ON v.bank = m.bank AND v.entry = m.entry
WHERE m.bank = %(bank)s AND m.row = %(1)s

-- name: insert_vector
INSERT INTO embedded (bank, entry, row, what, number, space, start, stop, known_from, vector)
VALUES (%(bank)s, %(1)s, %(2)s, %(3)s, %(4)s, %(5)s, %(6)s, %(7)s, %(8)s, %(9)s)

-- name: insert_member
INSERT INTO member (bank, entry, row) VALUES (%(bank)s, %(1)s, %(2)s) ON CONFLICT DO NOTHING

-- name: erase_vector
DELETE FROM embedded WHERE bank = %(bank)s AND entry = %(1)s

-- name: erase_members
DELETE FROM member WHERE bank = %(bank)s AND entry = %(1)s

-- name: old_entries
SELECT v.entry FROM embedded v JOIN space p ON p.bank = v.bank AND p.current = 1 AND v.entry < p.first_entry
WHERE v.bank = %(bank)s ORDER BY v.entry LIMIT %(1)s

-- name: drop_old_spaces
DELETE FROM space WHERE bank = %(bank)s AND current = 0

-- name: by_row
SELECT v.row, v.number, v.start, v.stop, halfvec_send(v.vector) FROM embedded v
WHERE v.bank = %(bank)s AND v.row = ANY(%(rows)s::bigint[]) AND v.what = %(what)s AND v.space = %(space)s
ORDER BY v.row, v.number

-- name: by_rows
SELECT v.row, v.what, halfvec_send(v.vector) FROM embedded v
WHERE v.bank = %(bank)s AND v.row = ANY(%(rows)s::bigint[]) AND v.what = ANY(%(kinds)s::text[]) AND v.space = %(space)s

-- name: around
-- `seen` bounds how much of a session is looked through for neighbours that may be seen. They are put in order by what
-- is known of them: by columns of `state` the server might go through the whole bank in that order.
SELECT
    o.row,
    (SELECT string_agg(f.row::text, ',' ORDER BY f.at DESC, f.row DESC) FROM (
        SELECT n.row, n.at FROM (
            SELECT s.row, s.known_from, s.at FROM state s
            WHERE s.bank = %(bank)s AND s.session = o.session AND (s.at, s.row) < (o.at, o.row) AND s.scope = o.scope
              AND {known}
            ORDER BY s.at DESC, s.row DESC LIMIT %(seen)s
        ) n JOIN state s ON s.bank = %(bank)s AND s.row = n.row AND s.known_from = n.known_from
        WHERE {where} AND s.channel IS NOT DISTINCT FROM o.channel AND {company} ORDER BY n.at DESC, n.row DESC LIMIT %(reach)s
    ) f),
    (SELECT string_agg(f.row::text, ',' ORDER BY f.at, f.row) FROM (
        SELECT n.row, n.at FROM (
            SELECT s.row, s.known_from, s.at FROM state s
            WHERE s.bank = %(bank)s AND s.session = o.session AND (s.at, s.row) > (o.at, o.row) AND s.scope = o.scope
              AND {known}
            ORDER BY s.at, s.row LIMIT %(seen)s
        ) n JOIN state s ON s.bank = %(bank)s AND s.row = n.row AND s.known_from = n.known_from
        WHERE {where} AND s.channel IS NOT DISTINCT FROM o.channel AND {company} ORDER BY n.at, n.row LIMIT %(reach)s
    ) f)
FROM (
    SELECT s.row, s.session, s.scope, s.at, s.status, s.channel, s.valid_from, s.valid_until FROM state s
    WHERE s.bank = %(bank)s AND s.row = ANY(%(rows)s::bigint[]) AND s.session IS NOT NULL AND {known}
) o

-- name: check.passages
SELECT count(*) FROM content c
WHERE c.bank = %(bank)s
  AND NOT EXISTS (SELECT 1 FROM pending p WHERE p.bank = c.bank AND p.row = c.row AND p.what = 'passage')
  AND NOT EXISTS (
    SELECT 1 FROM space p JOIN embedded v ON v.bank = p.bank AND v.space = p.number
    WHERE p.bank = c.bank AND p.current = 1 AND v.row = c.row AND v.what = 'passage'
  )

-- name: check.windows
SELECT count(*) FROM state s
WHERE s.bank = %(bank)s AND s.session IS NOT NULL AND s.known_until = 9223372036854775807 AND s.ended = ''
  AND NOT EXISTS (SELECT 1 FROM pending p WHERE p.bank = s.bank AND p.row = s.row AND p.what = 'window')
  AND NOT EXISTS (
    SELECT 1 FROM space p JOIN embedded v ON v.bank = p.bank AND v.space = p.number
    WHERE p.bank = s.bank AND p.current = 1 AND v.row = s.row AND v.what = 'window'
  )

-- name: check.strays
SELECT (SELECT count(*) FROM embedded v WHERE v.bank = %(bank)s
        AND NOT EXISTS (SELECT 1 FROM content c WHERE c.bank = v.bank AND c.row = v.row))
     + (SELECT count(*) FROM embedded v WHERE v.bank = %(bank)s
        AND NOT EXISTS (SELECT 1 FROM space p WHERE p.bank = v.bank AND p.number = v.space))
     + (SELECT count(*) FROM pending p WHERE p.bank = %(bank)s
        AND NOT EXISTS (SELECT 1 FROM content c WHERE c.bank = p.bank AND c.row = p.row))
     + (SELECT count(*) FROM member m WHERE m.bank = %(bank)s
        AND NOT EXISTS (SELECT 1 FROM embedded v WHERE v.bank = m.bank AND v.entry = m.entry))
     + (SELECT count(*) FROM member m WHERE m.bank = %(bank)s
        AND NOT EXISTS (SELECT 1 FROM content c WHERE c.bank = m.bank AND c.row = m.row))

-- name: mend.stray_entries
SELECT v.entry FROM embedded v
WHERE v.bank = %(bank)s AND (
    NOT EXISTS (SELECT 1 FROM content c WHERE c.bank = v.bank AND c.row = v.row)
    OR NOT EXISTS (SELECT 1 FROM space p WHERE p.bank = v.bank AND p.number = v.space)
    OR EXISTS (
        SELECT 1 FROM member m WHERE m.bank = v.bank AND m.entry = v.entry
          AND NOT EXISTS (SELECT 1 FROM content c WHERE c.bank = m.bank AND c.row = m.row)
    )
)

-- name: mend.pending
DELETE FROM pending p
WHERE p.bank = %(bank)s AND NOT EXISTS (SELECT 1 FROM content c WHERE c.bank = p.bank AND c.row = p.row)

-- name: mend.members
DELETE FROM member m
WHERE m.bank = %(bank)s AND NOT EXISTS (SELECT 1 FROM embedded v WHERE v.bank = m.bank AND v.entry = m.entry)

-- name: mend.passages
INSERT INTO pending (bank, row, what, seq)
SELECT c.bank, c.row, 'passage', %(seq)s FROM content c
WHERE c.bank = %(bank)s AND NOT EXISTS (
    SELECT 1 FROM space p JOIN embedded v ON v.bank = p.bank AND v.space = p.number
    WHERE p.bank = c.bank AND p.current = 1 AND v.row = c.row AND v.what = 'passage'
)
ON CONFLICT DO NOTHING

-- name: mend.windows
INSERT INTO pending (bank, row, what, seq)
SELECT s.bank, s.row, 'window', %(seq)s FROM state s
WHERE s.bank = %(bank)s AND s.session IS NOT NULL AND s.known_until = 9223372036854775807 AND s.ended = ''
  AND NOT EXISTS (
    SELECT 1 FROM space p JOIN embedded v ON v.bank = p.bank AND v.space = p.number
    WHERE p.bank = s.bank AND p.current = 1 AND v.row = s.row AND v.what = 'window'
  )
ON CONFLICT DO NOTHING

-- name: stored
SELECT count(*) FROM embedded WHERE bank = %(bank)s
