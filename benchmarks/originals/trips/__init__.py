"""Programs, one an original: each fills the original, imports it here, exports it and compares."""
