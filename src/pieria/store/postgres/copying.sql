-- A whole bank, table by table. {table}, {columns} and {keys} come from the list of tables.

-- name: count
SELECT count(*) FROM {table} WHERE bank = %(bank)s

-- name: count.vectors
SELECT count(*) FROM embedded WHERE bank = %(bank)s

-- name: lines
SELECT {columns} FROM {table} WHERE bank = %(bank)s ORDER BY {keys}

-- name: lines.vectors
SELECT {columns}, halfvec_send(vector) FROM embedded WHERE bank = %(bank)s ORDER BY {keys}

-- name: put
-- The values of a line follow.
COPY {table} (bank, {columns}) FROM STDIN

-- name: put.vectors
COPY embedded (bank, {columns}, vector) FROM STDIN (FORMAT BINARY)
