"""Facts: triples with the time they held. Plans what to write and reads what there is; never writes, asks no clock."""
