"""The language models: `server` has the code that all servers share, `function` wraps a user's function."""
