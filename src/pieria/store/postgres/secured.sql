-- Where rows are secured by bank, PostgreSQL takes no COPY: the same line by line.

-- name: put
INSERT INTO {table} (bank, {columns}) VALUES (%(bank)s, {values})

-- name: put.vectors
INSERT INTO embedded (bank, {columns}, vector) VALUES (%(bank)s, {values})

-- name: is_secured
SELECT row_security_active('content')
