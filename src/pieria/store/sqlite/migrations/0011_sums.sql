-- Each value of the record is in the file twice, or has a checksum: so `doctor` finds a single changed bit. What tells
-- a row's sum is in `sums.py`; the sums of the rows that are here already are filled in right after this step.
-- A later step that changes summed columns must have them filled in again.

ALTER TABLE content ADD COLUMN sum INTEGER;
ALTER TABLE state ADD COLUMN sum INTEGER;
ALTER TABLE link ADD COLUMN sum INTEGER;
ALTER TABLE fact ADD COLUMN sum INTEGER;
ALTER TABLE record ADD COLUMN sum INTEGER;
ALTER TABLE journal ADD COLUMN sum INTEGER;
ALTER TABLE terms ADD COLUMN sum INTEGER;
ALTER TABLE vector ADD COLUMN sum INTEGER;

-- Rows that SQL counts up have no sum. An index holds all their columns instead: the integrity check compares the two.

DROP INDEX label_by_row;
CREATE INDEX label_by_row ON label (row, what, value, spelt);
DROP INDEX told_by_last;
CREATE INDEX told_by_last ON told (last, times, first);
CREATE INDEX usage_whole ON usage (
    accesses, last_access, reviews, last_review, crossings, rewards, rewarded, spaced
);
CREATE INDEX purged_whole ON purged (at);
CREATE INDEX counter_whole ON counter (value);
CREATE INDEX space_whole ON space (dimension, first_entry, current, known_from, name);
CREATE INDEX pending_whole ON pending (seq);
CREATE INDEX vector_gone_whole ON vector_gone (entry);
CREATE INDEX ledger_whole ON ledger (calls, failures, input_tokens, output_tokens, seconds);
CREATE INDEX job_whole ON job (
    tries, takeovers, attempts, made, begun, due, priority, state, lease, until, worker, ended, done, whole, what, code,
    message, kind, key, payload, memory, version, digest, id
);
CREATE INDEX migration_whole ON migration (name, checksum, applied_at);
