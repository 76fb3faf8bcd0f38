-- Conditions for links and facts, joined by AND.

-- name: known_now
known_until = 9223372036854775807

-- name: known_at
known_from <= :known_at AND known_until > :known_at

-- name: standing
ended = ''

-- name: by_ids
id IN (SELECT value FROM json_each(:ids))

-- name: link_ends
entry IN (
    SELECT l.entry FROM json_each(:ends) j
    JOIN link l ON l.source = json_extract(j.value, '$[1]') AND l.source_is = json_extract(j.value, '$[0]')
    UNION
    SELECT l.entry FROM json_each(:ends) j
    JOIN link l ON l.target = json_extract(j.value, '$[1]') AND l.target_is = json_extract(j.value, '$[0]')
)

-- name: link_between
entry IN (
    SELECT entry FROM link
    WHERE source = :one AND source_is = :one_is AND target = :other AND target_is = :other_is
    UNION
    SELECT entry FROM link
    WHERE source = :other AND source_is = :other_is AND target = :one AND target_is = :one_is
)

-- name: link_relation
relation = :relation

-- name: subject_keys
subject_key IN (SELECT value FROM json_each(:subject_keys))

-- name: predicate_keys
predicate_key IN (SELECT value FROM json_each(:predicate_keys))

-- name: object_keys
object_key IN (SELECT value FROM json_each(:object_keys))

-- name: either_keys
(subject_key IN (SELECT value FROM json_each(:either_keys)) OR object_key IN (SELECT value FROM json_each(:either_keys)))

-- name: fact_begin
-- A fact without a start holds from when it was stated. If it had ended by then, its start is unknown.
coalesce(f.valid_from, CASE
    WHEN f.valid_until < coalesce(s.valid_from, s.at, f.known_from) OR s.id <> f.id AND s.valid_until <= coalesce(s.valid_from, s.at, f.known_from) THEN NULL
    ELSE coalesce(s.valid_from, s.at, f.known_from)
END)

-- name: fact_holds
(valid_from IS NULL OR valid_from <= :valid_at) AND (valid_until IS NULL OR valid_until > :valid_at)

-- name: stands
-- The memory `s` behind the fact `f`.
(s.ended = '' OR s.id = f.id)

-- name: fact_entries
entry IN (SELECT value FROM json_each(:entries))

-- name: fact_drawn
memory IS NOT NULL

-- name: fact_memory
memory = :memory

-- name: fact_memories
memory IN (SELECT value FROM json_each(:memories))

-- name: fact_source
source = :source

-- name: fact_free
-- Left out while nothing is in quarantine.
NOT EXISTS (SELECT 1 FROM quarantine q WHERE q.what = 'fact' AND q.held = id)
