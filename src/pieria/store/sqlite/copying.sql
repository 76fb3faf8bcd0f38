-- A whole bank, table by table. {table}, {columns} and {keys} come from the list of tables.

-- name: count
SELECT count(*) FROM {table}

-- name: count.vectors
SELECT count(*) FROM vector

-- name: lines
SELECT {columns} FROM {table} ORDER BY {keys}

-- name: lines.vectors
SELECT {columns}, vector FROM vector ORDER BY {keys}

-- name: put
INSERT INTO {table} ({columns}) VALUES ({values})

-- name: put.vectors
INSERT INTO vector ({columns}, vector) VALUES ({values})
