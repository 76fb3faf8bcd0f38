-- Windows hold only such neighbours as whoever sees the turn sees too. Those of earlier banks are looked through once,
-- by whoever opens the bank next; nobody has looked them up before that.

INSERT INTO counter (name, value) SELECT 'unsifted', EXISTS (SELECT 1 FROM member);

-- By one end alone, and so in the order in which they were written: of many the newest are found at once.
CREATE INDEX link_from ON link (source);
CREATE INDEX link_to ON link (target);
CREATE INDEX fact_from ON fact (subject_key);
CREATE INDEX fact_to ON fact (object_key);
