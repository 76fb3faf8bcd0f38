-- The codes of vectors, and what else of vectors no other store has.

-- name: unsifted
SELECT value FROM counter WHERE name = 'unsifted'

-- name: windows_in_other_company
SELECT DISTINCT v.entry, v.row FROM member m CROSS JOIN vector v ON v.entry = m.entry
WHERE NOT EXISTS (
    SELECT 1 FROM state o CROSS JOIN state s
    WHERE o.row = v.row AND o.known_until = 9223372036854775807
      AND s.row = m.row AND s.known_until = 9223372036854775807
      AND s.session = o.session AND {company}
)

-- name: note_gone
INSERT INTO vector_gone (number, entry) VALUES (?, ?)

-- name: forget_gone
DELETE FROM vector_gone WHERE number <= ?

-- name: gone
SELECT number, entry FROM vector_gone WHERE number > ? ORDER BY number

-- name: has_block
SELECT EXISTS (SELECT 1 FROM codes WHERE block = ?)

-- name: blocks
SELECT block, codes FROM codes WHERE block >= ? ORDER BY block

-- name: block
SELECT codes FROM codes WHERE block = ?

-- name: put_block
INSERT INTO codes (block, codes) VALUES (?, ?) ON CONFLICT (block) DO UPDATE SET codes = excluded.codes

-- name: entries_from
SELECT entry, row, what, vector FROM vector WHERE entry >= ? AND entry < ? ORDER BY entry

-- name: drop_old_blocks
DELETE FROM codes WHERE block < (SELECT first_entry FROM space WHERE current = 1) / 1024

-- name: probe
SELECT s.row FROM json_each(:rows) j CROSS JOIN state s ON s.row = j.value WHERE {where}

-- name: by_entry
SELECT v.entry, v.start, v.stop, {vector}
FROM json_each(:entries) j CROSS JOIN vector v ON v.entry = j.value
WHERE v.known_from IS NULL OR v.known_from <= :known_at

-- name: raw
SELECT v.entry, v.vector FROM json_each(:entries) j CROSS JOIN vector v ON v.entry = j.value

-- name: mend.drop_blocks
DELETE FROM codes

-- name: mend.pending_of
INSERT OR IGNORE INTO pending (row, what, seq)
SELECT v.row, CASE v.what WHEN 'window' THEN 'window' ELSE 'passage' END, ?
FROM vector v JOIN content c ON c.row = v.row WHERE v.entry = ?
