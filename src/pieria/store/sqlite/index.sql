-- What only FTS5 asks for.

-- name: merge_index
INSERT INTO text_index (text_index) VALUES ('optimize')

-- name: index_depth
-- Row 10 is where FTS5 keeps the record of its levels and segments.
SELECT length(block) FROM text_index_data WHERE id = 10
