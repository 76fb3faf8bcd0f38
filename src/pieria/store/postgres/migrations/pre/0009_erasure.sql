-- What was erased and may still be in the server's files: the tables to rewrite, and `pg_statistic` and `pg_wal`.
-- `origin` is the bank that erased, 0 for banks that were removed: a line must outlive its bank. `change` is the newest
-- transaction that did, `at` the microsecond of the first. `tried` says that a rewrite was given up.

CREATE TABLE erasure (
    origin   integer NOT NULL,
    relation text COLLATE "C" NOT NULL,
    change   xid8 NOT NULL,
    at       bigint NOT NULL,
    tried    boolean NOT NULL DEFAULT false,
    PRIMARY KEY (origin, relation)
);

-- Who may delete memories has to be able to note it here.
DO $$
DECLARE
    grantee text;
BEGIN
    FOR grantee IN
        SELECT CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END
        FROM pg_class c, aclexplode(c.relacl) a
        WHERE c.oid = 'content'::regclass AND a.privilege_type = 'DELETE' AND a.grantee <> c.relowner
    LOOP
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON erasure TO %s', grantee);
    END LOOP;
END $$;

-- Older versions erased and rewrote nothing. A table of purged ids that was ever written to says so.
INSERT INTO erasure (origin, relation, change, at, tried)
SELECT 0, r.relation, pg_current_xact_id(), (extract(epoch FROM now()) * 1000000)::bigint, true
FROM (
    SELECT c.relname::text COLLATE "C" AS relation FROM pg_class c
    WHERE c.relnamespace = 'pieria'::regnamespace AND c.relkind = 'r' AND c.relname IN (
        'content', 'state', 'label', 'link', 'fact', 'usage', 'record', 'terms', 'posting', 'job', 'embedded'
    )
    UNION ALL SELECT unnest(ARRAY['pg_statistic', 'pg_wal'])
) r
WHERE pg_relation_size('purged') > 0;
