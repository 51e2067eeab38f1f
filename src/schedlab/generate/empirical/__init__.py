"""Jobs like those of a log."""
