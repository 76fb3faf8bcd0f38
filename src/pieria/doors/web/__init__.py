"""The web page: a bank's content for people. It calls the engine's verbs, and has no rules of its own.

`site` joins the pages, `page` defines what a page is, and `pages` holds them. No SQL, ranking or rules here: if a page
lacks something, add a verb to the engine.
"""
