"""The web page: what a bank holds, shown to people. It calls the engine's verbs, and decides nothing of its own.

`site` puts it together, `page` says what a page is, and `pages` holds them. No SQL, no ranking, no rules in here: what
a page lacks becomes a verb of the engine.
"""
