-- How each text came in decides how far it is believed. Until now a label that the writer chose decided that, so only
-- prompts that a hook captured keep their weight: nobody knows of the others who wrote them.

ALTER TABLE state ADD COLUMN via TEXT NOT NULL DEFAULT 'agent';

UPDATE state SET via = CASE
    WHEN trust <= 0.2 THEN 'outside'
    WHEN trust <= 0.5 AND (source IS NOT NULL OR author_type IS NOT NULL) THEN 'hearsay'
    WHEN kind = 'turn' AND author_type = 'human' AND source IN ('claude-code', 'codex', 'opencode', 'hermes') THEN 'person'
    WHEN kind IN ('turn', 'drawer') AND source IS NOT NULL THEN 'hearsay'
    ELSE 'agent'
END;

UPDATE state SET trust = 0.5 WHERE via = 'hearsay' AND trust > 0.5;

UPDATE state SET trust = 0.6 WHERE via = 'agent' AND trust > 0.6;
