-- The visibility predicate: one block a field of the Filter, joined by AND over `state s` of the bank.
-- Blocks ending in .probe ask about a row at hand; the plain ones can drive a scan.

-- name: known_now
s.known_until = 9223372036854775807

-- name: known_at
s.known_from <= %(known_at)s AND s.known_until > %(known_at)s

-- name: unended
s.ended = ''

-- name: endings
s.ended = ANY(%(endings)s::text[])

-- name: viewer
(s.scope <> 'session' OR s.session = %(viewer_session)s OR s.channel = %(viewer_channel)s)

-- name: valid_at
(s.valid_from IS NULL OR s.valid_from <= %(valid_at)s) AND (s.valid_until IS NULL OR s.valid_until > %(valid_at)s)

-- name: valid_at.asked
-- A statement without a start, of an earlier version, holds from when it was said, unless it had ended by then.
(s.valid_until IS NULL OR s.valid_until > %(valid_at)s)
AND CASE
    WHEN s.valid_from IS NOT NULL THEN s.valid_from <= %(valid_at)s
    ELSE s.kind <> 'fact' OR s.at <= %(valid_at)s OR s.valid_until < s.at
END

-- name: valid_at.tells_past
(s.valid_from IS NULL OR s.valid_from <= %(valid_at)s)
AND (s.valid_until IS NULL OR s.valid_until > %(valid_at)s OR s.kind = 'fact')

-- name: lists
s.kind <> 'fact'

-- name: free
-- Left out while nothing is in quarantine.
NOT EXISTS (SELECT 1 FROM quarantine q WHERE q.bank = %(bank)s AND q.what = 'memory' AND q.held = s.id)

-- name: tiers
s.tier = ANY(%(tiers)s::text[])

-- name: status
s.status = ANY(%(status)s::text[])

-- name: ids
s.id = ANY(%(ids)s::text[])

-- name: kinds
s.kind = ANY(%(kinds)s::text[])

-- name: way
s.via = %(way)s AND s.via <> 'agent'

-- name: via
s.via = ANY(%(via)s::text[])

-- name: types
(s.type = ANY(%(types)s::text[]) OR s.type IS NULL AND s.kind = ANY(%(types)s::text[]))

-- name: not_types
(s.type IS NULL OR s.type <> ALL(%(not_types)s::text[]))

-- name: scopes
s.scope = ANY(%(scopes)s::text[])

-- name: tags
s.row IN (SELECT l.row FROM label l WHERE l.bank = %(bank)s AND l.what = 'tag' AND l.value = ANY(%(tags)s::text[]))

-- name: tags.probe
EXISTS (
    SELECT 1 FROM label l
    WHERE l.bank = %(bank)s AND l.what = 'tag' AND l.value = ANY(%(tags)s::text[]) AND l.row = s.row
)

-- name: entities
s.row IN (SELECT l.row FROM label l WHERE l.bank = %(bank)s AND l.what = 'entity' AND l.value = ANY(%(entities)s::text[]))

-- name: entities.probe
EXISTS (
    SELECT 1 FROM label l
    WHERE l.bank = %(bank)s AND l.what = 'entity' AND l.value = ANY(%(entities)s::text[]) AND l.row = s.row
)

-- name: files
s.row IN (SELECT l.row FROM label l WHERE l.bank = %(bank)s AND l.what = 'file' AND l.value = ANY(%(files)s::text[]))

-- name: files.probe
EXISTS (
    SELECT 1 FROM label l
    WHERE l.bank = %(bank)s AND l.what = 'file' AND l.value = ANY(%(files)s::text[]) AND l.row = s.row
)

-- name: standing
s.row IN (SELECT l.row FROM label l WHERE l.bank = %(bank)s AND l.what = 'standing' AND l.value = ANY(%(standing)s::text[]))

-- name: standing.probe
EXISTS (
    SELECT 1 FROM label l
    WHERE l.bank = %(bank)s AND l.what = 'standing' AND l.value = ANY(%(standing)s::text[]) AND l.row = s.row
)

-- name: author
s.author = %(author)s

-- name: author_type
s.author_type = %(author_type)s

-- name: channel
s.channel = %(channel)s

-- name: without_turns_of
(s.kind <> 'turn' OR s.session IS DISTINCT FROM %(without_turns_of)s)

-- name: session
s.session = %(session)s

-- name: source
s.source = %(source)s

-- name: place.exact
s.place = %(place)s

-- name: place.wing
s.place >= %(place)s || '/' AND s.place < %(place)s || '0'

-- name: place.room
-- No index holds rooms by themselves: that of places is stepped through, from each to the next, for those of the name.
s.place = ANY(ARRAY(
    WITH RECURSIVE kept (place) AS (
        SELECT min(t.place) FROM state t WHERE t.bank = %(bank)s
        UNION ALL
        SELECT (SELECT min(t.place) FROM state t WHERE t.bank = %(bank)s AND t.place > kept.place)
        FROM kept WHERE kept.place IS NOT NULL
    )
    SELECT place FROM kept WHERE substr(place, strpos(place, '/') + 1) = %(place)s
))

-- name: place.room.probe
substr(s.place, strpos(s.place, '/') + 1) = %(place)s

-- name: since
s.at >= %(since)s

-- name: until
s.at < %(until)s

-- name: used_since
(s.at >= %(used_since)s
  OR EXISTS (
    SELECT 1 FROM usage u
    WHERE u.bank = %(bank)s AND u.id = s.id AND (u.last_access >= %(used_since)s OR u.last_review >= %(used_since)s))
  OR NOT EXISTS (
    SELECT 1 FROM state w WHERE w.bank = %(bank)s AND w.row = s.row AND w.known_from < %(used_since)s)
    AND (s.version > 1 OR NOT EXISTS (
      SELECT 1 FROM usage u
      WHERE u.bank = %(bank)s AND u.id = s.id AND (u.last_access IS NOT NULL OR u.last_review IS NOT NULL))))

-- name: pinned
-- Written out: there is an index of the pinned alone.
s.pinned = 1

-- name: not_pinned
s.pinned = 0

-- name: meta
-- Numbers are compared by what they are, all else as it was written.
NOT EXISTS (
    SELECT 1 FROM json_each(%(meta)s::json) AS want
    WHERE NOT EXISTS (
        SELECT 1 FROM content c CROSS JOIN LATERAL json_each(c.meta::json) AS have
        WHERE c.bank = %(bank)s AND c.row = s.row AND have.key = want.key AND (
            have.value::text = want.value::text
            OR CASE WHEN json_typeof(have.value) = 'number' AND json_typeof(want.value) = 'number'
                THEN have.value::text::numeric = want.value::text::numeric END
        )
    )
)
