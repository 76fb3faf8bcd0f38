-- The visibility predicate: one block a field of the Filter, joined by AND over `state s`.
-- Blocks ending in .probe ask about a row at hand; the plain ones can drive a scan.

-- name: known_now
s.known_until = 9223372036854775807

-- name: known_at
s.known_from <= :known_at AND s.known_until > :known_at

-- name: unended
s.ended = ''

-- name: endings
s.ended IN (SELECT value FROM json_each(:endings))

-- name: viewer
(s.scope <> 'session' OR s.session = :viewer_session OR s.channel = :viewer_channel)

-- name: valid_at
(s.valid_from IS NULL OR s.valid_from <= :valid_at) AND (s.valid_until IS NULL OR s.valid_until > :valid_at)

-- name: valid_at.asked
-- A statement without a start, of an earlier version, holds from when it was said, unless it had ended by then.
(s.valid_until IS NULL OR s.valid_until > :valid_at)
AND CASE
    WHEN s.valid_from IS NOT NULL THEN s.valid_from <= :valid_at
    ELSE s.kind <> 'fact' OR s.at <= :valid_at OR s.valid_until < s.at
END

-- name: valid_at.tells_past
(s.valid_from IS NULL OR s.valid_from <= :valid_at)
AND (s.valid_until IS NULL OR s.valid_until > :valid_at OR s.kind = 'fact')

-- name: lists
s.kind <> 'fact'

-- name: free
-- Left out while nothing is in quarantine.
NOT EXISTS (SELECT 1 FROM quarantine q WHERE q.what = 'memory' AND q.held = s.id)

-- name: tiers
s.tier IN (SELECT value FROM json_each(:tiers))

-- name: status
s.status IN (SELECT value FROM json_each(:status))

-- name: ids
s.id IN (SELECT value FROM json_each(:ids))

-- name: kinds
s.kind IN (SELECT value FROM json_each(:kinds))

-- name: way
s.via = :way AND s.via <> 'agent'

-- name: via
s.via IN (SELECT value FROM json_each(:via))

-- name: types
(s.type IN (SELECT value FROM json_each(:types))
  OR s.type IS NULL AND s.kind IN (SELECT value FROM json_each(:types)))

-- name: not_types
(s.type IS NULL OR s.type NOT IN (SELECT value FROM json_each(:not_types)))

-- name: without_turns_of
(s.kind <> 'turn' OR s.session IS NOT :without_turns_of)

-- name: scopes
s.scope IN (SELECT value FROM json_each(:scopes))

-- name: tags
s.row IN (SELECT l.row FROM label l WHERE l.what = 'tag' AND l.value IN (SELECT value FROM json_each(:tags)))

-- name: tags.probe
EXISTS (SELECT 1 FROM json_each(:tags) j JOIN label l ON l.what = 'tag' AND l.value = j.value AND l.row = s.row)

-- name: entities
s.row IN (SELECT l.row FROM label l WHERE l.what = 'entity' AND l.value IN (SELECT value FROM json_each(:entities)))

-- name: entities.probe
EXISTS (SELECT 1 FROM json_each(:entities) j JOIN label l ON l.what = 'entity' AND l.value = j.value AND l.row = s.row)

-- name: files
s.row IN (SELECT l.row FROM label l WHERE l.what = 'file' AND l.value IN (SELECT value FROM json_each(:files)))

-- name: files.probe
EXISTS (SELECT 1 FROM json_each(:files) j JOIN label l ON l.what = 'file' AND l.value = j.value AND l.row = s.row)

-- name: standing
s.row IN (SELECT l.row FROM label l WHERE l.what = 'standing' AND l.value IN (SELECT value FROM json_each(:standing)))

-- name: standing.probe
EXISTS (SELECT 1 FROM json_each(:standing) j JOIN label l ON l.what = 'standing' AND l.value = j.value AND l.row = s.row)

-- name: author
s.author = :author

-- name: author_type
s.author_type = :author_type

-- name: channel
s.channel = :channel

-- name: session
s.session = :session

-- name: source
s.source = :source

-- name: place.exact
s.place = :place

-- name: place.wing
s.place >= :place || '/' AND s.place < :place || '0'

-- name: place.room
-- No index holds rooms by themselves: that of places is stepped through, from each to the next, for those of the name.
s.place IN (
    WITH RECURSIVE kept (place) AS (
        SELECT min(place) FROM state
        UNION ALL
        SELECT (SELECT min(place) FROM state WHERE place > kept.place) FROM kept WHERE kept.place IS NOT NULL
    )
    SELECT place FROM kept WHERE substr(place, instr(place, '/') + 1) = :place
)

-- name: place.room.probe
substr(s.place, instr(s.place, '/') + 1) = :place

-- name: since
s.at >= :since

-- name: until
s.at < :until

-- name: used_since
(s.at >= :used_since
  OR EXISTS (SELECT 1 FROM usage u WHERE u.id = s.id AND (u.last_access >= :used_since OR u.last_review >= :used_since))
  OR NOT EXISTS (SELECT 1 FROM state w WHERE w.row = s.row AND w.known_from < :used_since)
    AND (s.version > 1 OR NOT EXISTS (
      SELECT 1 FROM usage u WHERE u.id = s.id AND (u.last_access IS NOT NULL OR u.last_review IS NOT NULL))))

-- name: pinned
-- Written out: there is an index of the pinned alone.
s.pinned = 1

-- name: not_pinned
s.pinned = 0

-- name: meta
NOT EXISTS (
    SELECT 1 FROM json_each(:meta) AS want
    WHERE NOT EXISTS (
        SELECT 1 FROM content c, json_each(c.meta) AS have
        WHERE c.row = s.row
          AND have.key = want.key
          AND have.value IS want.value
          AND (have.type = want.type OR (have.type IN ('integer', 'real') AND want.type IN ('integer', 'real')))
    )
)
