"""Install, inspect and remove hooks in the hosts' files, leaving all other content unchanged."""
