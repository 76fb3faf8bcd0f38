-- What SQLite says of itself.

-- name: version
SELECT sqlite_version();
