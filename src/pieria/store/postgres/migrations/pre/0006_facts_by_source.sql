-- beside others
-- What is known from one place is found without looking at every fact.

DROP INDEX CONCURRENTLY IF EXISTS pieria.fact_by_source;
CREATE INDEX CONCURRENTLY fact_by_source ON pieria.fact (bank, source) WHERE source IS NOT NULL;
