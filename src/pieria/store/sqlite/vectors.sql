-- Every statement about vectors and what is still to be embedded; of their codes: codes.sql.

-- name: space
SELECT number, name, dimension, first_entry, NOT EXISTS (SELECT 1 FROM pending) FROM space WHERE current = 1

-- name: leave_space
UPDATE space SET current = 0 WHERE current = 1

-- name: enter_space
INSERT INTO space (name, dimension, first_entry, current, known_from)
VALUES (:name, :dimension, :first_entry, 1, :known_from)

-- name: everything_pending
INSERT INTO pending (row, what, seq)
SELECT row, 'passage', :seq FROM content
UNION ALL
SELECT row, 'window', :seq FROM state WHERE session IS NOT NULL AND known_until = 9223372036854775807 AND ended = ''
ON CONFLICT (row, what) DO UPDATE SET seq = excluded.seq

-- name: pending
-- What was written last comes first: it is asked for first.
SELECT row, what FROM pending WHERE what = ? ORDER BY row DESC LIMIT ?

-- name: pending_among
SELECT p.row FROM json_each(?) j CROSS JOIN pending p ON p.row = j.value AND p.what = ?

-- name: pending_count
SELECT count(*) FROM pending

-- name: add_pending
INSERT INTO pending (row, what, seq) VALUES (?, ?, ?) ON CONFLICT (row, what) DO UPDATE SET seq = excluded.seq

-- name: drop_pending
-- What was noted again since it was read stays.
DELETE FROM pending WHERE row = ? AND what = ? AND seq <= ?

-- name: drop_every_pending
DELETE FROM pending WHERE row = ?

-- name: beside_before
-- Of the states next to a place of a session: whether a window of the one may hold the other, and whether at any time.
SELECT s.row, s.ended = '' AND s.status = :status AND s.channel IS :channel,
    s.valid_from IS NULL AND s.valid_until IS NULL
FROM state s INDEXED BY state_by_session
WHERE s.session = :session AND (s.at, s.row) < (:at, :row) AND s.known_until = 9223372036854775807 AND s.scope = :scope
ORDER BY s.at DESC, s.row DESC LIMIT :seen

-- name: beside_after
SELECT s.row, s.ended = '' AND s.status = :status AND s.channel IS :channel,
    s.valid_from IS NULL AND s.valid_until IS NULL
FROM state s INDEXED BY state_by_session
WHERE s.session = :session AND (s.at, s.row) > (:at, :row) AND s.known_until = 9223372036854775807 AND s.scope = :scope
ORDER BY s.at, s.row LIMIT :seen

-- name: company
-- Whoever sees the turn `o`, at whatever time, sees the turn `s` of its session as well.
s.scope = o.scope AND s.ended = '' AND s.status = o.status AND s.channel IS o.channel
AND (s.valid_from IS NULL OR s.valid_from <= o.valid_from)
AND (s.valid_until IS NULL OR s.valid_until >= o.valid_until)

-- name: company.free
-- Besides, while something is in quarantine: it is in windows of what is there itself, and in no others.
(NOT EXISTS (SELECT 1 FROM quarantine q WHERE q.what = 'memory' AND q.held = s.id)
  OR EXISTS (
    SELECT 1 FROM state h JOIN quarantine q ON q.what = 'memory' AND q.held = h.id
    WHERE h.row = o.row))

-- name: windows_of_held
-- Windows of free turns that hold what the quarantine of this number holds.
SELECT DISTINCT v.entry, v.row
FROM quarantine q JOIN state s ON s.id = q.held
    JOIN member m ON m.row = s.row JOIN vector v ON v.entry = m.entry
WHERE q.what = 'memory' AND q.seq = :seq AND NOT EXISTS (
    SELECT 1 FROM state h JOIN quarantine f ON f.what = 'memory' AND f.held = h.id
    WHERE h.row = v.row)

-- name: turns_of_held
-- The turns that the quarantine of this number holds, of sessions of which it does not hold everything.
SELECT s.row, s.session, s.scope, s.at, s.author, s.channel, s.status, s.valid_from, s.valid_until, s.ended
FROM quarantine q JOIN state s ON s.id = q.held AND s.known_until = 9223372036854775807
WHERE q.what = 'memory' AND q.seq = :seq AND s.ended = '' AND s.session IN (
    SELECT o.session FROM state o
    WHERE o.known_until = 9223372036854775807 AND o.ended = ''
      AND o.session IN (
        SELECT h.session FROM quarantine f JOIN state h ON h.id = f.held AND h.known_until = 9223372036854775807
        WHERE f.what = 'memory' AND f.seq = :seq AND h.session IS NOT NULL)
      AND NOT EXISTS (
        SELECT 1 FROM quarantine f WHERE f.what = 'memory' AND f.held = o.id AND f.seq = :seq))

-- name: in_other_company
-- Of (row, member) the rows that have a member which is no company of theirs, or not any more.
SELECT DISTINCT j.value ->> '$[0]' FROM json_each(:pairs) j
WHERE NOT EXISTS (
    SELECT 1 FROM state o CROSS JOIN state s
    WHERE o.row = j.value ->> '$[0]' AND o.known_until = 9223372036854775807
      AND s.row = j.value ->> '$[1]' AND s.known_until = 9223372036854775807
      AND s.session = o.session AND {company}
)

-- name: turns_of
SELECT s.id, s.row, s.session, s.scope, s.at, s.author, s.channel, s.status, s.valid_from, s.valid_until, s.ended
FROM json_each(?) j CROSS JOIN state s ON s.id = j.value
WHERE s.known_until = 9223372036854775807 AND s.session IS NOT NULL

-- name: turn_of_row
SELECT row FROM state WHERE row = ? AND known_until = 9223372036854775807 AND ended = '' AND session IS NOT NULL

-- name: rows_there
SELECT c.row FROM json_each(:rows) j CROSS JOIN content c ON c.row = j.value

-- name: entries_of
SELECT entry FROM vector WHERE row = ? AND what = ? AND space = ?

-- name: entries_of_rows
SELECT v.entry FROM json_each(?) j CROSS JOIN vector v ON v.row = j.value AND v.what = ? AND v.space = ?

-- name: entries_of_row
SELECT entry FROM vector WHERE row = ?

-- name: windows_with
SELECT v.entry, v.row FROM member m CROSS JOIN vector v ON v.entry = m.entry WHERE m.row = ?

-- name: insert_vector
INSERT INTO vector VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: insert_member
INSERT OR IGNORE INTO member (entry, row) VALUES (?, ?)

-- name: erase_vector
DELETE FROM vector WHERE entry = ?

-- name: erase_members
DELETE FROM member WHERE entry = ?

-- name: old_entries
SELECT v.entry FROM vector v, space p WHERE p.current = 1 AND v.entry < p.first_entry ORDER BY v.entry LIMIT ?

-- name: drop_old_spaces
DELETE FROM space WHERE current = 0

-- name: by_row
SELECT v.row, v.number, v.start, v.stop, v.vector
FROM json_each(:rows) j CROSS JOIN vector v ON v.row = j.value AND v.what = :what AND v.space = :space
ORDER BY v.row, v.number

-- name: by_rows
SELECT v.row, v.what, v.vector FROM json_each(:rows) j CROSS JOIN vector v
WHERE v.row = j.value AND v.what IN (SELECT value FROM json_each(:kinds)) AND v.space = :space

-- name: around
-- `seen` bounds how much of a session is looked through for neighbours that may be seen. By `+` the row is no column,
-- whose comparison with a column no index takes: a session of one moment would be read from its end for each turn.
SELECT
    o.row,
    (SELECT group_concat(row) FROM (
        SELECT s.row FROM (
            SELECT s.row, s.known_from FROM state s INDEXED BY state_by_session
            WHERE s.session = o.session AND (s.at, s.row) < (o.at, +o.row) AND s.scope = o.scope AND {known}
            ORDER BY s.at DESC, s.row DESC LIMIT :seen
        ) n CROSS JOIN state s ON s.row = n.row AND s.known_from = n.known_from
        WHERE {where} AND s.channel IS o.channel AND {company} LIMIT :reach
    )),
    (SELECT group_concat(row) FROM (
        SELECT s.row FROM (
            SELECT s.row, s.known_from FROM state s INDEXED BY state_by_session
            WHERE s.session = o.session AND (s.at, s.row) > (o.at, +o.row) AND s.scope = o.scope AND {known}
            ORDER BY s.at, s.row LIMIT :seen
        ) n CROSS JOIN state s ON s.row = n.row AND s.known_from = n.known_from
        WHERE {where} AND s.channel IS o.channel AND {company} LIMIT :reach
    ))
FROM (
    SELECT s.row, s.session, s.scope, s.at, s.status, s.channel, s.valid_from, s.valid_until
    FROM json_each(:rows) j CROSS JOIN state s ON s.row = j.value
    WHERE s.session IS NOT NULL AND {known}
) o

-- name: check.passages
SELECT count(*) FROM content c
WHERE NOT EXISTS (SELECT 1 FROM pending p WHERE p.row = c.row AND p.what = 'passage')
  AND NOT EXISTS (
    SELECT 1 FROM space JOIN vector v ON v.space = space.number
    WHERE space.current = 1 AND v.row = c.row AND v.what = 'passage'
  )

-- name: check.windows
SELECT count(*) FROM state s
WHERE s.session IS NOT NULL AND s.known_until = 9223372036854775807 AND s.ended = ''
  AND NOT EXISTS (SELECT 1 FROM pending p WHERE p.row = s.row AND p.what = 'window')
  AND NOT EXISTS (
    SELECT 1 FROM space JOIN vector v ON v.space = space.number
    WHERE space.current = 1 AND v.row = s.row AND v.what = 'window'
  )

-- name: check.strays
SELECT (SELECT count(*) FROM vector v WHERE NOT EXISTS (SELECT 1 FROM content c WHERE c.row = v.row))
     + (SELECT count(*) FROM vector v WHERE NOT EXISTS (SELECT 1 FROM space p WHERE p.number = v.space))
     + (SELECT count(*) FROM pending p WHERE NOT EXISTS (SELECT 1 FROM content c WHERE c.row = p.row))
     + (SELECT count(*) FROM member m WHERE NOT EXISTS (SELECT 1 FROM vector v WHERE v.entry = m.entry))
     + (SELECT count(*) FROM member m WHERE NOT EXISTS (SELECT 1 FROM content c WHERE c.row = m.row))

-- name: mend.stray_entries
SELECT v.entry FROM vector v
WHERE NOT EXISTS (SELECT 1 FROM content c WHERE c.row = v.row)
   OR NOT EXISTS (SELECT 1 FROM space p WHERE p.number = v.space)
   OR EXISTS (SELECT 1 FROM member m WHERE m.entry = v.entry AND NOT EXISTS (SELECT 1 FROM content c WHERE c.row = m.row))

-- name: mend.pending
DELETE FROM pending WHERE NOT EXISTS (SELECT 1 FROM content c WHERE c.row = pending.row)

-- name: mend.members
DELETE FROM member WHERE NOT EXISTS (SELECT 1 FROM vector v WHERE v.entry = member.entry)

-- name: mend.passages
INSERT OR IGNORE INTO pending (row, what, seq)
SELECT c.row, 'passage', :seq FROM content c
WHERE NOT EXISTS (
    SELECT 1 FROM space JOIN vector v ON v.space = space.number
    WHERE space.current = 1 AND v.row = c.row AND v.what = 'passage'
)

-- name: mend.windows
INSERT OR IGNORE INTO pending (row, what, seq)
SELECT s.row, 'window', :seq FROM state s
WHERE s.session IS NOT NULL AND s.known_until = 9223372036854775807 AND s.ended = ''
  AND NOT EXISTS (
    SELECT 1 FROM space JOIN vector v ON v.space = space.number
    WHERE space.current = 1 AND v.row = s.row AND v.what = 'window'
  )

-- name: stored
SELECT count(*) FROM vector
