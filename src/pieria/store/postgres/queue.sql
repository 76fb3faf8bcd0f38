-- Jobs and the ledger of model calls.

-- name: jobs
SELECT @job FROM job
WHERE bank = %(bank)s AND (%(states)s::text[] IS NULL OR state = ANY(%(states)s::text[]))
  AND (%(kinds)s::text[] IS NULL OR kind = ANY(%(kinds)s::text[]))
ORDER BY entry DESC LIMIT %(limit)s

-- name: jobs_by_id
SELECT @job FROM job WHERE bank = %(bank)s AND id = ANY(%(ids)s::text[]) ORDER BY entry DESC

-- name: counts
SELECT kind, state, count(*) AS number FROM job WHERE bank = %(bank)s GROUP BY state, kind ORDER BY kind, state

-- name: any_waiting
SELECT due AS first FROM job WHERE bank = %(bank)s AND state = 'waiting' AND (%(kinds)s::text[] IS NULL OR kind = ANY(%(kinds)s::text[]))
  AND NOT EXISTS (SELECT 1 FROM job r WHERE r.bank = %(bank)s AND r.state = 'running' AND r.kind = job.kind AND r.key = job.key)
ORDER BY priority DESC, entry LIMIT 1

-- name: next_later
SELECT min(due) AS first FROM job
WHERE bank = %(bank)s AND state = 'later' AND (%(kinds)s::text[] IS NULL OR kind = ANY(%(kinds)s::text[]))

-- name: next_lost
SELECT min(until) AS first FROM job
WHERE bank = %(bank)s AND state = 'running' AND (%(kinds)s::text[] IS NULL OR kind = ANY(%(kinds)s::text[]))

-- name: queued_alike
SELECT id, payload, memory, version, digest FROM job
WHERE bank = %(bank)s AND kind = %(kind)s AND key = %(key)s AND state IN ('waiting', 'later')

-- name: running_alike
SELECT id, payload, memory, version, digest FROM job WHERE bank = %(bank)s AND kind = %(kind)s AND key = %(key)s AND state = 'running'

-- name: insert
INSERT INTO job (bank, entry, id, kind, key, payload, memory, version, digest, priority, state, due, attempts, tries, takeovers,
    made)
SELECT %(bank)s, coalesce(max(entry), 0) + 1, %(id)s, %(kind)s, %(key)s, %(payload)s, %(memory)s, %(version)s::bigint, %(digest)s,
    %(priority)s, %(state)s, %(due)s, 0, %(tries)s, 0, %(now)s
FROM job WHERE bank = %(bank)s

-- name: replace
UPDATE job SET
    payload = %(payload)s, memory = %(memory)s, version = %(version)s, digest = %(digest)s, priority = greatest(priority, %(priority)s),
    state = %(state)s, due = %(due)s, attempts = 0, tries = %(tries)s, code = NULL, message = NULL,
    done = NULL, whole = NULL, what = NULL
WHERE bank = %(bank)s AND id = %(held)s

-- name: now_due
UPDATE job SET state = 'waiting' WHERE bank = %(bank)s AND state = 'later' AND due <= %(now)s

-- name: lost_for_good
UPDATE job SET
    state = 'dead', ended = %(now)s, lease = NULL, until = NULL, takeovers = takeovers + 1, code = 'crashed',
    message = %(crashed)s
WHERE bank = %(bank)s AND state = 'running' AND until <= %(now)s AND attempts >= tries

-- name: lost_and_superseded
UPDATE job SET
    state = 'stale', ended = %(now)s, lease = NULL, until = NULL, takeovers = takeovers + 1, code = 'superseded',
    message = %(superseded)s
WHERE bank = %(bank)s AND state = 'running' AND until <= %(now)s
  AND EXISTS (SELECT 1 FROM job q WHERE q.bank = %(bank)s AND q.kind = job.kind AND q.key = job.key AND q.state IN ('waiting', 'later'))

-- name: lost
UPDATE job SET state = 'waiting', lease = NULL, until = NULL, takeovers = takeovers + 1
WHERE bank = %(bank)s AND state = 'running' AND until <= %(now)s

-- name: claim
-- The alias keeps the rows that are looked for apart from the one that is changed.
UPDATE job SET
    state = 'running', lease = %(lease)s, until = %(until)s, worker = %(worker)s, attempts = attempts + 1, begun = %(now)s,
    done = NULL, whole = NULL, what = NULL
WHERE bank = %(bank)s AND entry = (
    SELECT w.entry FROM job w
    WHERE w.bank = %(bank)s AND w.state = 'waiting' AND (%(kinds)s::text[] IS NULL OR w.kind = ANY(%(kinds)s::text[]))
      AND NOT EXISTS (SELECT 1 FROM job r WHERE r.bank = %(bank)s AND r.state = 'running' AND r.kind = w.kind AND r.key = w.key)
    ORDER BY w.priority DESC, w.entry LIMIT 1
)
RETURNING @job

-- name: extend
UPDATE job SET
    until = %(until)s, done = coalesce(%(done)s::bigint, done), whole = coalesce(%(whole)s::bigint, whole), what = coalesce(%(what)s::text, what)
WHERE bank = %(bank)s AND state = 'running' AND lease = %(lease)s

-- name: superseded
SELECT 1 FROM job r JOIN job q ON q.bank = r.bank AND q.kind = r.kind AND q.key = r.key AND q.state IN ('waiting', 'later')
WHERE r.bank = %(bank)s AND r.state = 'running' AND r.lease = %(lease)s

-- name: settle
UPDATE job SET
    state = %(state)s, due = coalesce(%(due)s::bigint, due), attempts = attempts - %(uncounted)s, lease = NULL, until = NULL,
    ended = %(ended)s, code = %(code)s, message = %(message)s
WHERE bank = %(bank)s AND state = 'running' AND lease = %(lease)s

-- name: reopen
UPDATE job SET
    state = 'waiting', due = %(now)s, attempts = 0, ended = NULL, code = NULL, message = NULL, begun = NULL, worker = NULL,
    done = NULL, whole = NULL, what = NULL
WHERE bank = %(bank)s AND id = %(id)s

-- name: cancel
UPDATE job SET state = 'cancelled', ended = %(now)s, lease = NULL, until = NULL WHERE bank = %(bank)s AND id = %(id)s

-- name: prune
DELETE FROM job WHERE bank = %(bank)s AND entry IN (
    SELECT entry FROM job WHERE bank = %(bank)s AND state IN ('done', 'stale', 'cancelled') AND ended < %(before)s
    ORDER BY ended, entry LIMIT %(limit)s
)

-- name: spent
SELECT step, model, sum(calls)::bigint, sum(failures)::bigint, sum(input_tokens)::bigint, sum(output_tokens)::bigint,
    sum(seconds)
FROM ledger WHERE bank = %(bank)s AND (%(day)s::text IS NULL OR day = %(day)s)
GROUP BY step, model ORDER BY step, model

-- name: charge
INSERT INTO ledger VALUES (%(bank)s, %(1)s, %(2)s, %(3)s, %(4)s, %(5)s, %(6)s, %(7)s, %(8)s)
ON CONFLICT (bank, day, step, model) DO UPDATE SET
    calls = ledger.calls + excluded.calls,
    failures = ledger.failures + excluded.failures,
    input_tokens = ledger.input_tokens + excluded.input_tokens,
    output_tokens = ledger.output_tokens + excluded.output_tokens,
    seconds = ledger.seconds + excluded.seconds

-- name: erase
DELETE FROM job WHERE bank = %(bank)s AND memory = %(1)s

-- name: check.jobs
SELECT count(*) FROM job
WHERE bank = %(bank)s AND (state NOT IN ('waiting', 'later', 'running', 'done', 'stale', 'cancelled', 'dead')
   OR (state = 'running') <> (lease IS NOT NULL AND until IS NOT NULL)
   OR (state IN ('done', 'stale', 'cancelled', 'dead')) <> (ended IS NOT NULL)
   OR attempts < 0 OR (memory IS NULL) <> (version IS NULL))
