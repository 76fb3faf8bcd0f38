-- Conditions for links and facts, joined by AND.

-- name: known_now
known_until = 9223372036854775807

-- name: known_at
known_from <= %(known_at)s AND known_until > %(known_at)s

-- name: standing
ended = ''

-- name: by_ids
id = ANY(%(ids)s::text[])

-- name: link_ends
-- End by end: a server that knows nothing of a new table yet would read every link for the ends of one.
entry = ANY (ARRAY(
    SELECT l.entry FROM jsonb_array_elements(%(ends)s::jsonb) j CROSS JOIN LATERAL (
        SELECT entry FROM link
        WHERE bank = %(bank)s AND source = j.value ->> 1 AND source_is = j.value ->> 0
        ORDER BY entry OFFSET 0
    ) l
    UNION
    SELECT l.entry FROM jsonb_array_elements(%(ends)s::jsonb) j CROSS JOIN LATERAL (
        SELECT entry FROM link
        WHERE bank = %(bank)s AND target = j.value ->> 1 AND target_is = j.value ->> 0
        ORDER BY entry OFFSET 0
    ) l
))

-- name: link_between
entry IN (
    SELECT entry FROM link
    WHERE bank = %(bank)s AND source = %(one)s AND source_is = %(one_is)s AND target = %(other)s AND target_is = %(other_is)s
      AND left(target, 100) = left(%(other)s, 100)
    UNION
    SELECT entry FROM link
    WHERE bank = %(bank)s AND source = %(other)s AND source_is = %(other_is)s AND target = %(one)s AND target_is = %(one_is)s
      AND left(target, 100) = left(%(one)s, 100)
)

-- name: link_relation
relation = %(relation)s

-- name: subject_keys
subject_key = ANY(%(subject_keys)s::text[])

-- name: predicate_keys
predicate_key = ANY(%(predicate_keys)s::text[])
AND left(predicate_key, 100) = ANY(ARRAY(SELECT left(j.value, 100) FROM unnest(%(predicate_keys)s::text[]) j (value)))

-- name: object_keys
object_key = ANY(%(object_keys)s::text[])

-- name: either_keys
(subject_key = ANY(%(either_keys)s::text[]) OR object_key = ANY(%(either_keys)s::text[]))

-- name: fact_begin
-- A fact without a start holds from when it was stated. If it had ended by then, its start is unknown.
coalesce(f.valid_from, CASE
    WHEN f.valid_until < coalesce(s.valid_from, s.at, f.known_from) OR s.id <> f.id AND s.valid_until <= coalesce(s.valid_from, s.at, f.known_from) THEN NULL
    ELSE coalesce(s.valid_from, s.at, f.known_from)
END)

-- name: fact_holds
(valid_from IS NULL OR valid_from <= %(valid_at)s) AND (valid_until IS NULL OR valid_until > %(valid_at)s)

-- name: stands
-- The memory `s` behind the fact `f`.
(s.ended = '' OR s.id = f.id)

-- name: fact_entries
entry = ANY(%(entries)s::bigint[])

-- name: fact_drawn
memory IS NOT NULL

-- name: fact_memory
memory = %(memory)s

-- name: fact_memories
memory = ANY(%(memories)s::text[])

-- name: fact_source
source = %(source)s

-- name: fact_free
-- Left out while nothing is in quarantine.
NOT EXISTS (SELECT 1 FROM quarantine q WHERE q.bank = %(bank)s AND q.what = 'fact' AND q.held = id)
