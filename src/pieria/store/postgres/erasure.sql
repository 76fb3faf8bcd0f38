-- What a purge has to do in the server's own files.

-- name: mark
-- In the transaction that erases: these tables, or all that can hold words where none is named.
INSERT INTO erasure (origin, relation, change, at)
SELECT %(origin)s, r.relation, pg_current_xact_id(), %(at)s FROM (
    SELECT c.relname::text COLLATE "C" AS relation FROM pg_class c
    WHERE c.relnamespace = 'pieria'::regnamespace AND c.relkind = 'r'
      AND EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'bank' AND NOT a.attisdropped)
      AND c.relname <> ALL (%(wordless)s::text[])
      AND (%(relations)s::text[] IS NULL OR c.relname = ANY (%(relations)s::text[]))
    UNION ALL SELECT unnest(ARRAY['pg_statistic', 'pg_wal'])
) r ORDER BY r.relation
ON CONFLICT (origin, relation) DO UPDATE SET change = greatest(erasure.change, EXCLUDED.change)

-- name: waiting
-- Each with the newest transaction that erased from it, its size with indexes, and whether an index over vectors is one.
SELECT e.relation, e.change::text::bigint, coalesce(pg_total_relation_size(c.oid), 0), EXISTS (
    SELECT 1 FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_am m ON m.oid = x.relam
    WHERE i.indrelid = c.oid AND m.amname = 'hnsw'
)
FROM (SELECT relation, max(change) AS change FROM erasure GROUP BY relation) e
LEFT JOIN pg_class c ON c.oid = to_regclass(e.relation)::oid ORDER BY e.relation

-- name: of_bank
-- What is waiting of one bank and of those that were removed: since when, whether its rewrite was given up, and the newest
-- transaction that erased.
SELECT e.relation, coalesce(pg_total_relation_size(to_regclass(e.relation)), 0), e.at, e.tried, e.change::text::bigint
FROM erasure e WHERE e.origin IN (0, %(bank)s) ORDER BY e.relation

-- name: given_up
UPDATE erasure SET tried = true WHERE NOT tried AND change <= %(change)s::text::xid8

-- name: lock
-- One at a time in a database, for as long as the connection is used.
SELECT pg_try_advisory_lock({lock})

-- name: outlived
-- Whether a table's last VACUUM FREEZE or rewrite took away all that this transaction deleted: the server writes down
-- the oldest transaction whose traces it kept, whoever needs them.
SELECT age(relfrozenxid) < age(%(change)s::text::xid8::xid) FROM pg_class WHERE oid = to_regclass(%(relation)s)

-- name: is_past
-- Whether every transaction of the server that was open then has ended: a rewrite looks on with the eyes of the oldest.
SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint > %(change)s

-- name: rewritten
DELETE FROM erasure WHERE relation = %(relation)s AND change <= %(change)s::text::xid8

-- name: sampled
-- The samples that were replaced are erased, too.
UPDATE erasure SET change = pg_current_xact_id() WHERE relation = 'pg_statistic'

-- name: sessions
-- Who may still see what this transaction deleted, and who has been writing since before, in whatever database. Since
-- when, the server shows of other roles only to some.
SELECT pid, usename, to_char(xact_start AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
FROM pg_stat_activity
WHERE pid <> pg_backend_pid() AND (
    age(backend_xid) >= age(%(change)s::text::xid8::xid)
    OR (age(backend_xmin) >= age(%(change)s::text::xid8::xid)
        AND coalesce(datname, current_database()) = current_database())
)
ORDER BY xact_start, pid

-- name: prepared
SELECT gid, owner, to_char(prepared AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') FROM pg_prepared_xacts
WHERE age(transaction) >= age(%(change)s::text::xid8::xid) ORDER BY prepared

-- name: slots
SELECT slot_name FROM pg_replication_slots
WHERE greatest(age(xmin), age(catalog_xmin)) >= age(%(change)s::text::xid8::xid) ORDER BY slot_name

-- name: blank
-- The columns of a table that must have a value, and a blank value for each.
SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum),
    string_agg(CASE format_type(atttypid, NULL) WHEN 'halfvec' THEN '''[0]''' ELSE '''0''' END, ', ' ORDER BY attnum)
FROM pg_attribute WHERE attrelid = to_regclass(%(relation)s) AND attnum > 0 AND attnotnull AND NOT attisdropped

-- name: is_empty
SELECT NOT EXISTS (SELECT FROM {relation})

-- name: put_blank
INSERT INTO {relation} ({columns}) VALUES ({values})

-- name: drop_blank
DELETE FROM {relation} WHERE bank = 0

-- name: sample
ANALYZE {relation}

-- name: freeze
VACUUM (FREEZE) erasure

-- name: rewrite
VACUUM (FULL) {relation}

-- name: vacuum
VACUUM (INDEX_CLEANUP ON, TRUNCATE OFF, SKIP_LOCKED) {relation}

-- name: vector_indexes
SELECT c.relname, pg_get_indexdef(i.indexrelid) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
JOIN pg_am m ON m.oid = c.relam WHERE i.indrelid = to_regclass(%(relation)s) AND m.amname = 'hnsw' ORDER BY c.relname

-- name: may_flush
-- Whether this role may have the server begin a new file of its log, take the old ones away, and look which there are.
SELECT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) OR (
    pg_has_role(current_user, 'pg_checkpoint', 'usage')
    AND has_function_privilege('pg_switch_wal()', 'execute') AND has_function_privilege('pg_ls_waldir()', 'execute')
)

-- name: log_files
-- The part of a name that counts up, of each file there is.
SELECT substr(name, 9) FROM pg_ls_waldir() WHERE name ~ '^[0-9A-F]{24}$' ORDER BY 1

-- name: log_file
SELECT substr(pg_walfile_name(pg_current_wal_insert_lsn()), 9)

-- name: next_log_file
-- The rest of the present file is filled with zeros.
SELECT pg_logical_emit_message(false, 'pieria', 'erased'), pg_switch_wal()

-- name: checkpoint
CHECKPOINT

-- name: log_keepers
-- Why the server may keep old files of its log.
SELECT concat('the replication slot ', slot_name) FROM pg_replication_slots WHERE restart_lsn IS NOT NULL
UNION ALL SELECT concat('wal_keep_size = ', current_setting('wal_keep_size'))
WHERE current_setting('wal_keep_size') <> '0'
UNION ALL SELECT 'its archive' WHERE current_setting('archive_mode') <> 'off'

-- name: message_log
-- The settings by which the server writes statements with their values into its log of messages.
SELECT concat(name, ' = ', setting) FROM pg_settings
WHERE (name = 'log_statement' AND setting IN ('mod', 'all'))
   OR (name IN ('log_min_duration_statement', 'log_min_duration_sample', 'auto_explain.log_min_duration')
       AND setting <> '-1')
ORDER BY 1
