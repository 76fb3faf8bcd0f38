-- What is asked about banks as such, and about the server.

-- name: bank_number
SELECT number FROM bank WHERE name = %(name)s

-- name: make_bank
INSERT INTO bank (name) VALUES (%(name)s) ON CONFLICT DO NOTHING RETURNING number

-- name: make_counters
INSERT INTO counter (bank, name, value) SELECT %(bank)s, unnest(%(counters)s::text[]), 0

-- name: names
SELECT name FROM bank ORDER BY name

-- name: begin_reading
-- One snapshot for all that is read in it. It ends with the bank, or with nothing where that was removed.
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL lock_timeout = {wait}; {limit}
SELECT set_config('pieria.bank', number::text, true) FROM bank WHERE number = {bank}

-- name: begin_writing
-- {namespace} and the bank are its turn: who has it writes alone, and whoever comes next waits in order. Whether the
-- bank is there it asks after that: it may be removed by whoever had the turn before.
BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL lock_timeout = {wait};
SET LOCAL synchronous_commit = {durability}; SELECT pg_advisory_xact_lock({namespace}, {bank});
SELECT set_config('pieria.bank', number::text, true) FROM bank WHERE number = {bank}

-- name: empty_table
DELETE FROM {table} WHERE bank = %(bank)s

-- name: unmake_bank
DELETE FROM bank WHERE number = %(bank)s

-- name: tell
SELECT pg_notify(%(channel)s, %(word)s)

-- name: latest
SELECT value FROM counter WHERE bank = %(bank)s AND name = 'seq'

-- name: applied
SELECT max(number) FROM migration

-- name: server
SELECT current_setting('server_version'), (SELECT extversion FROM pg_extension WHERE extname = 'vector'),
    pg_is_in_recovery(), pg_database_size(current_database()), current_database()

-- name: tables
-- All that the schema holds of banks.
SELECT c.relname, c.relrowsecurity AND c.relforcerowsecurity
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'pieria' AND c.relkind IN ('r', 'p') AND NOT c.relispartition
  AND EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'bank' AND NOT a.attisdropped)
ORDER BY c.relname

-- name: planned
-- How many rows of the bank the server expects.
EXPLAIN (FORMAT JSON) SELECT FROM {table} WHERE bank = {bank}

-- name: limit
-- For a question that has a deadline. Without one the server's own limit holds.
SET LOCAL statement_timeout = {longest}

-- name: blockers
-- Who has the bank's turn to write, or a lock of one of these modes on a table.
SELECT l.pid, a.usename, to_char(a.xact_start AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
    coalesce('the table ' || c.relname, 'the bank''s turn to write')
FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid LEFT JOIN pg_class c ON c.oid = l.relation
WHERE l.granted AND l.pid <> pg_backend_pid() AND a.datname = current_database() AND (
    (l.locktype = 'advisory' AND l.classid::bigint = %(turn)s AND l.objid::bigint = %(bank)s)
    OR (c.relnamespace = 'pieria'::regnamespace AND c.relkind = 'r' AND l.mode = ANY (%(modes)s::text[]))
)
ORDER BY a.xact_start, l.pid LIMIT 1

-- name: passes_by
-- Whom no rule about rows holds.
SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user

-- name: stored
SELECT count(*) FROM embedded WHERE bank = %(bank)s

-- name: empty_index
DELETE FROM posting WHERE bank = %(bank)s
