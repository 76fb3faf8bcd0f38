-- Jobs and the ledger of model calls.

-- name: jobs
SELECT * FROM job
WHERE (:states IS NULL OR state IN (SELECT value FROM json_each(:states)))
  AND (:kinds IS NULL OR kind IN (SELECT value FROM json_each(:kinds)))
ORDER BY entry DESC LIMIT :limit

-- name: jobs_by_id
SELECT * FROM job WHERE id IN (SELECT value FROM json_each(:ids)) ORDER BY entry DESC

-- name: counts
SELECT kind, state, count(*) AS number FROM job GROUP BY state, kind ORDER BY kind, state

-- name: any_waiting
SELECT due AS first FROM job WHERE state = 'waiting' AND (:kinds IS NULL OR kind IN (SELECT value FROM json_each(:kinds)))
  AND NOT EXISTS (SELECT 1 FROM job r WHERE r.state = 'running' AND r.kind = job.kind AND r.key = job.key)
ORDER BY priority DESC, entry LIMIT 1

-- name: next_later
SELECT min(due) AS first FROM job
WHERE state = 'later' AND (:kinds IS NULL OR kind IN (SELECT value FROM json_each(:kinds)))

-- name: next_lost
SELECT min(until) AS first FROM job
WHERE state = 'running' AND (:kinds IS NULL OR kind IN (SELECT value FROM json_each(:kinds)))

-- name: queued_alike
SELECT id, payload, memory, version, digest FROM job
WHERE kind = :kind AND key = :key AND state IN ('waiting', 'later')

-- name: running_alike
SELECT id, payload, memory, version, digest FROM job WHERE kind = :kind AND key = :key AND state = 'running'

-- name: insert
INSERT INTO job (id, kind, key, payload, memory, version, digest, priority, state, due, attempts, tries, takeovers, made)
VALUES (:id, :kind, :key, :payload, :memory, :version, :digest, :priority, :state, :due, 0, :tries, 0, :now)

-- name: replace
UPDATE job SET
    payload = :payload, memory = :memory, version = :version, digest = :digest, priority = max(priority, :priority),
    state = :state, due = :due, attempts = 0, tries = :tries, code = NULL, message = NULL,
    done = NULL, whole = NULL, what = NULL
WHERE id = :held

-- name: now_due
UPDATE job SET state = 'waiting' WHERE state = 'later' AND due <= :now

-- name: lost_for_good
UPDATE job SET
    state = 'dead', ended = :now, lease = NULL, until = NULL, takeovers = takeovers + 1, code = 'crashed',
    message = :crashed
WHERE state = 'running' AND until <= :now AND attempts >= tries

-- name: lost_and_superseded
UPDATE job SET
    state = 'stale', ended = :now, lease = NULL, until = NULL, takeovers = takeovers + 1, code = 'superseded',
    message = :superseded
WHERE state = 'running' AND until <= :now
  AND EXISTS (SELECT 1 FROM job q WHERE q.kind = job.kind AND q.key = job.key AND q.state IN ('waiting', 'later'))

-- name: lost
UPDATE job SET state = 'waiting', lease = NULL, until = NULL, takeovers = takeovers + 1
WHERE state = 'running' AND until <= :now

-- name: claim
-- The alias keeps the rows that are looked for apart from the one that is changed.
UPDATE job SET
    state = 'running', lease = :lease, until = :until, worker = :worker, attempts = attempts + 1, begun = :now,
    done = NULL, whole = NULL, what = NULL
WHERE entry = (
    SELECT w.entry FROM job w
    WHERE w.state = 'waiting' AND (:kinds IS NULL OR w.kind IN (SELECT value FROM json_each(:kinds)))
      AND NOT EXISTS (SELECT 1 FROM job r WHERE r.state = 'running' AND r.kind = w.kind AND r.key = w.key)
    ORDER BY w.priority DESC, w.entry LIMIT 1
)
RETURNING *

-- name: extend
UPDATE job SET
    until = :until, done = coalesce(:done, done), whole = coalesce(:whole, whole), what = coalesce(:what, what)
WHERE state = 'running' AND lease = :lease

-- name: superseded
SELECT 1 FROM job r JOIN job q ON q.kind = r.kind AND q.key = r.key AND q.state IN ('waiting', 'later')
WHERE r.state = 'running' AND r.lease = :lease

-- name: settle
UPDATE job SET
    state = :state, due = coalesce(:due, due), attempts = attempts - :uncounted, lease = NULL, until = NULL,
    ended = :ended, code = :code, message = :message
WHERE state = 'running' AND lease = :lease

-- name: reopen
UPDATE job SET
    state = 'waiting', due = :now, attempts = 0, ended = NULL, code = NULL, message = NULL, begun = NULL, worker = NULL,
    done = NULL, whole = NULL, what = NULL
WHERE id = :id

-- name: cancel
UPDATE job SET state = 'cancelled', ended = :now, lease = NULL, until = NULL WHERE id = :id

-- name: prune
DELETE FROM job WHERE entry IN (
    SELECT entry FROM job WHERE state IN ('done', 'stale', 'cancelled') AND ended < :before ORDER BY ended, entry LIMIT :limit
)

-- name: spent
SELECT step, model, sum(calls), sum(failures), sum(input_tokens), sum(output_tokens), sum(seconds)
FROM ledger WHERE :day IS NULL OR day = :day
GROUP BY step, model ORDER BY step, model

-- name: charge
INSERT INTO ledger VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (day, step, model) DO UPDATE SET
    calls = calls + excluded.calls,
    failures = failures + excluded.failures,
    input_tokens = input_tokens + excluded.input_tokens,
    output_tokens = output_tokens + excluded.output_tokens,
    seconds = seconds + excluded.seconds

-- name: erase
DELETE FROM job WHERE memory = ?

-- name: check.jobs
SELECT count(*) FROM job
WHERE state NOT IN ('waiting', 'later', 'running', 'done', 'stale', 'cancelled', 'dead')
   OR (state = 'running') <> (lease IS NOT NULL AND until IS NOT NULL)
   OR (state IN ('done', 'stale', 'cancelled', 'dead')) <> (ended IS NOT NULL)
   OR attempts < 0 OR (memory IS NULL) <> (version IS NULL)
