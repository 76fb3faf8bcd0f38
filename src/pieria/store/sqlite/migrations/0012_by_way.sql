-- What a person said, or accepted, is found without a look at all that agents wrote: context asks for it each time.

CREATE INDEX state_by_way ON state (via, at) WHERE via <> 'agent';
