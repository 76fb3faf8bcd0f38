-- Vectors: who embeds, what was embedded, and what is still to be.

CREATE TABLE space (
    bank        integer NOT NULL,
    number      bigint  NOT NULL,
    name        text    COLLATE "C" NOT NULL,
    dimension   integer NOT NULL,
    first_entry bigint  NOT NULL,
    current     integer NOT NULL,
    known_from  bigint  NOT NULL,
    PRIMARY KEY (bank, number)
);

CREATE UNIQUE INDEX space_current ON space (bank) WHERE current = 1;

-- `start` and `stop` are characters of the embedded text; the vector is of length one.
-- `known_from` is when the last-known member of a window was known.
-- Not called `vector`: that is the name of a type.
CREATE TABLE embedded (
    bank       integer NOT NULL,
    entry      bigint  NOT NULL,
    row        bigint  NOT NULL,
    what       text    COLLATE "C" NOT NULL,
    number     bigint  NOT NULL,
    space      bigint  NOT NULL,
    start      bigint  NOT NULL,
    stop       bigint  NOT NULL,
    known_from bigint,
    vector     halfvec NOT NULL,
    PRIMARY KEY (bank, entry)
);

-- What would be moved out of the row is read from elsewhere, one by one, whenever vectors are compared.
ALTER TABLE embedded SET (toast_tuple_target = 8160);
ALTER TABLE embedded ALTER COLUMN vector SET STORAGE EXTERNAL;

CREATE UNIQUE INDEX embedded_by_row ON embedded (bank, row, what, number, space);
-- Of a kind there may be few among many others; they are counted in this index alone.
CREATE INDEX embedded_by_kind ON embedded (bank, space, what, number);

-- Whose texts besides its own row's went into a window.
CREATE TABLE member (
    bank  integer NOT NULL,
    entry bigint  NOT NULL,
    row   bigint  NOT NULL,
    PRIMARY KEY (bank, entry, row)
);

CREATE INDEX member_by_row ON member (bank, row);

-- What is still to be embedded, and the number of the change that made it so.
CREATE TABLE pending (
    bank integer NOT NULL,
    row  bigint  NOT NULL,
    what text    COLLATE "C" NOT NULL,
    seq  bigint  NOT NULL,
    PRIMARY KEY (bank, row, what)
);
