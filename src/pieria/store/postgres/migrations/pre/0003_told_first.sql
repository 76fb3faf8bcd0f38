-- What is told unasked, before anything else: the important and the pinned are found without looking at all others.

CREATE INDEX state_by_importance ON state (bank, importance, row);
CREATE INDEX state_pinned ON state (bank, importance, row) WHERE pinned = 1;
