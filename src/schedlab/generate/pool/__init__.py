"""Jobs drawn from a pool of applications."""
