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
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
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

-- name: horizon
-- Whoever looks from now on no longer sees what was erased before.
SELECT pg_snapshot_xmax(pg_current_snapshot())::xid::text

-- name: looking_back
-- How many transactions may still see it; what those of other users see is not told to everybody.
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
  AND greatest(age(backend_xid), age(backend_xmin)) > age(%(horizon)s::xid)

-- name: passes_by
-- Whom no rule about rows holds.
SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user

-- name: stored
SELECT count(*) FROM embedded WHERE bank = %(bank)s

-- name: empty_index
DELETE FROM posting WHERE bank = %(bank)s
