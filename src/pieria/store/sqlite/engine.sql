-- What is asked of a file when it is opened.

-- name: version
SELECT sqlite_version();

-- name: unfinished_purge
SELECT value FROM counter WHERE name = 'unscrubbed'
