-- beside others
-- What a person said, or accepted, is found without a look at all that agents wrote: context asks for it each time.

DROP INDEX CONCURRENTLY IF EXISTS pieria.state_by_way;
CREATE INDEX CONCURRENTLY state_by_way ON pieria.state (bank, via, at, row) WHERE via <> 'agent';
