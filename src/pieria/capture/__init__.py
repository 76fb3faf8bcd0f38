"""What agents do, kept by itself: a hook file that spools, a drain that hands over, and what installs the hooks."""
