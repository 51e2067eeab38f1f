"""Pages to look at runs with: the explorer as one file, and what a server sends of a run."""
