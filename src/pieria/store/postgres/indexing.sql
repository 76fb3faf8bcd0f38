-- The indexes over the vectors of single banks.

-- name: kinds
-- Of the current space: each kind, how many vectors it has, and whether they have an index that serves.
SELECT v.what, count(*), p.number, p.dimension, coalesce(bool_or(i.indisvalid), false)
FROM space p JOIN embedded v ON v.bank = p.bank AND v.space = p.number
LEFT JOIN pg_index i ON i.indexrelid = to_regclass(format('embedded_near_%%s_%%s_%%s', p.bank, p.number, v.what))
WHERE p.bank = %(bank)s AND p.current = 1
GROUP BY v.what, p.number, p.dimension ORDER BY v.what

-- name: built
-- Of a bank: every index there is, and whether it is of another space than the current one, or was never finished.
SELECT c.relname, NOT i.indisvalid OR NOT EXISTS (
    SELECT 1 FROM space p WHERE p.bank = %(bank)s AND p.current = 1
      AND c.relname LIKE format('embedded\_near\_%%s\_%%s\_%%%%', p.bank, p.number)
)
FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE i.indrelid = 'embedded'::regclass AND c.relname LIKE format('embedded\_near\_%%s\_%%%%', %(bank)s::integer)
  AND NOT EXISTS (SELECT 1 FROM pg_stat_progress_create_index b WHERE b.index_relid = c.oid)

-- name: build
-- Others go on writing meanwhile. The planner takes it for a question about these vectors and no others.
CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON embedded
USING hnsw ((vector::halfvec({dimension})) halfvec_ip_ops) WITH (m = 16, ef_construction = 64)
WHERE bank = {bank} AND space = {space} AND what = '{kind}'

-- name: drop
DROP INDEX CONCURRENTLY IF EXISTS {name}

-- name: memory
-- As long as what it builds fits, the server works in memory: a kilobyte and a half beside each vector.
SELECT set_config('maintenance_work_mem', greatest(pg_size_bytes(current_setting('maintenance_work_mem')) / 1024,
    least(2097151, %(vectors)s::bigint * (%(dimension)s * 2 + 1536) / 1024))::text || 'kB', false)

-- name: analyse
ANALYZE embedded

-- name: lock
-- For as long as the connection is used: two processes would build the same one, and one of them would fail.
SELECT pg_try_advisory_lock({namespace}, {bank})

-- name: unhurried
SET pieria.bank = {bank}; SET statement_timeout = 0; SET lock_timeout = 0
