-- A bank's file written anew, with another seal or none. `made` is the new one.

-- name: attach
ATTACH DATABASE ? AS made KEY ?;

-- name: write
SELECT sqlcipher_export('made');

-- name: detach
DETACH DATABASE made;

-- name: schema
SELECT type, name, tbl_name, sql FROM {name}.sqlite_master ORDER BY type, name;

-- name: tables
SELECT name FROM main.sqlite_master WHERE type = 'table' AND rootpage > 0 ORDER BY name;

-- name: rows
SELECT * FROM {name}."{table}";
