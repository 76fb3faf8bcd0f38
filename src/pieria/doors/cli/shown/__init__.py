"""Output for people: tables and lines made with rich, which is loaded only here. No verb is called from here."""
