-- What is near a vector. {bank}, {space} and {kind} stand in the text, since only so the planner sees that an index over
-- just these vectors serves; {distance} names the vectors `v`, and {where} is the visibility predicate over `state s`.

-- name: distance
v.vector <#> %(question)s::halfvec

-- name: distance.indexed
-- The very expression of the index.
v.vector::halfvec({dimension}) <#> %(question)s::halfvec({dimension})

-- name: vectors
v.bank = {bank} AND v.space = {space} AND v.what = '{kind}'

-- name: first
-- The nearest of all, seen or not: of one that may not be seen there is no vector.
SELECT v.entry, v.row, v.start, v.stop, seen.vector
FROM (
    SELECT v.entry, v.row, v.start, v.stop, v.known_from, v.vector FROM embedded v
    WHERE {vectors} ORDER BY {distance} LIMIT %(number)s
) v LEFT JOIN LATERAL (
    SELECT halfvec_send(v.vector) AS vector FROM state s
    WHERE s.bank = %(bank)s AND s.row = v.row AND (v.known_from IS NULL OR v.known_from <= %(known)s) AND {where}
    LIMIT 1
) seen ON true

-- name: number
-- How many may be seen, or that it is more than so many.
SELECT count(*) FROM (SELECT 1 FROM state s WHERE s.bank = %(bank)s AND {where} LIMIT %(number)s) s

-- name: each
-- The nearest of the few that may be seen, compared one by one: in this order, whatever the planner thinks of it.
SELECT v.entry, v.row, v.start, v.stop, halfvec_send(v.vector)
FROM (
    SELECT v.* FROM (SELECT s.row FROM state s WHERE s.bank = %(bank)s AND {where} OFFSET 0) s CROSS JOIN LATERAL (
        SELECT v.entry, v.row, v.start, v.stop, v.vector FROM embedded v
        WHERE {vectors} AND v.row = s.row AND (v.known_from IS NULL OR v.known_from <= %(known)s) OFFSET 0
    ) v
    ORDER BY {distance} LIMIT %(number)s
) v

-- name: seen
-- The nearest of those that may be seen.
SELECT v.entry, v.row, v.start, v.stop, halfvec_send(v.vector)
FROM (
    SELECT v.entry, v.row, v.start, v.stop, v.vector
    FROM embedded v JOIN state s ON s.bank = v.bank AND s.row = v.row
    WHERE {vectors} AND (v.known_from IS NULL OR v.known_from <= %(known)s) AND s.bank = %(bank)s AND {where}
    ORDER BY {distance} LIMIT %(number)s
) v

-- name: counted
-- How many vectors there are, and of how many versions.
SELECT count(*), count(*) FILTER (WHERE v.number = 0) FROM embedded v WHERE {vectors}

-- name: plan
-- With few vectors in its statistics, or with conditions that hang together, the planner takes ways that never end.
SELECT set_config(%(way)s, %(value)s, true)

-- name: index
-- Whether there is one to use. It gives no more than so many at once, and goes on from there, in about their order, where
-- the rest of the question wants more.
SELECT EXISTS (SELECT 1 FROM pg_index WHERE indexrelid = to_regclass(%(index)s) AND indisvalid),
    set_config('hnsw.ef_search', %(width)s, true), set_config('hnsw.iterative_scan', 'relaxed_order', true),
    set_config('hnsw.max_scan_tuples', %(most)s, true)
