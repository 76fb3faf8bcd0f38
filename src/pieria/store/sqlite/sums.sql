-- A checksum a table, but for `codes`: those are written in place, and checked against the vectors. {table}, {row}, {old} and {new} come from the schema of the file.

-- name: tables
SELECT name FROM sqlite_schema
WHERE type = 'table' AND name NOT IN ('sums', 'codes') AND name NOT LIKE 'sqlite\_%' ESCAPE '\' AND name NOT LIKE 'text\_%' ESCAPE '\'
ORDER BY name

-- name: is_kept
SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'sums')

-- name: is_watched
SELECT EXISTS (SELECT 1 FROM temp.sqlite_schema WHERE type = 'trigger')

-- name: columns
SELECT name FROM pragma_table_info(?) ORDER BY cid

-- name: kept
SELECT name, sum FROM sums

-- name: forget
DELETE FROM sums

-- name: put
INSERT INTO sums (name, sum) VALUES (?, ?)

-- name: add_up
SELECT coalesce(sum(pieria_sum({row})), 0) FROM "{table}"

-- name: on_insert
CREATE TEMP TRIGGER "sums_insert_{table}" AFTER INSERT ON main."{table}" BEGIN
    UPDATE sums SET sum = sum + pieria_sum({new}) WHERE name = '{table}';
END

-- name: on_update
CREATE TEMP TRIGGER "sums_update_{table}" AFTER UPDATE ON main."{table}" BEGIN
    UPDATE sums SET sum = sum - pieria_sum({old}) + pieria_sum({new}) WHERE name = '{table}';
END

-- name: on_delete
CREATE TEMP TRIGGER "sums_delete_{table}" AFTER DELETE ON main."{table}" BEGIN
    UPDATE sums SET sum = sum - pieria_sum({old}) WHERE name = '{table}';
END
