-- What a backup brings back. A server takes a backup only into an empty bank.

-- name: every_purged
SELECT id FROM purged ORDER BY id

-- name: held_of
-- Ids of memories and facts, of those that are asked for.
SELECT value FROM json_each(:ids)
WHERE value IN (SELECT id FROM state) OR value IN (SELECT id FROM fact)
ORDER BY value
