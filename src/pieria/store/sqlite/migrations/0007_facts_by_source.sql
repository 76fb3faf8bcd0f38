-- What is known from one place is found without looking at every fact.

CREATE INDEX fact_by_source ON fact (source) WHERE source IS NOT NULL;
