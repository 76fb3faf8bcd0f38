-- name: memories
-- The number that `tally` gives, for a process that loads no store.
SELECT count(*) FROM state INDEXED BY state_tally
WHERE known_until = 9223372036854775807 AND row <> 0 AND ended = '' AND kind <> 'fact'
