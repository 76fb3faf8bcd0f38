-- How far uses were spaced: by this a memory may last longer. Of the uses before it nobody knows.

ALTER TABLE usage ADD COLUMN spaced REAL NOT NULL DEFAULT 0;
