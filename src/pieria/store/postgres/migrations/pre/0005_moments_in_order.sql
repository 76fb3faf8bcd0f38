-- beside others
-- Of many memories of one moment those next to a row are found by the index, not by reading and sorting all of them.

DROP INDEX CONCURRENTLY IF EXISTS pieria.state_by_turn;
CREATE INDEX CONCURRENTLY state_by_turn ON pieria.state (bank, session, at, row) WHERE session IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS pieria.state_by_session;

DROP INDEX CONCURRENTLY IF EXISTS pieria.state_by_moment;
CREATE INDEX CONCURRENTLY state_by_moment ON pieria.state (bank, at, row);
DROP INDEX CONCURRENTLY IF EXISTS pieria.state_by_at;
