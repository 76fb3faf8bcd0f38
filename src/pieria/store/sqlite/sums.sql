-- The checksums of rows. {table} and {columns} come from `sums.py`, {key} is what tells its rows apart.

-- name: summed
SELECT {key}, sum, {columns} FROM {table}

-- name: fill
UPDATE {table} SET sum = ? WHERE ({key}) = ({places})

-- name: ids
SELECT DISTINCT id FROM state WHERE row = ?

-- name: schema
-- Without what SQLite makes by itself: another version of it may spell that otherwise.
SELECT type, name, tbl_name, sql FROM sqlite_schema
WHERE name NOT LIKE 'sqlite\_%' ESCAPE '\' AND name NOT LIKE 'text\_index\_%' ESCAPE '\'
ORDER BY type, name

-- name: put.summed
INSERT INTO {table} ({columns}, sum) VALUES ({values}, ?)

-- name: lines.summed
SELECT {columns}, sum FROM {table} ORDER BY {keys}
