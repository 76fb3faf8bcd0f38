"""The job queue, the worker that runs jobs, and their budget."""
