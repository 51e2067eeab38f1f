"""schedlab's own cluster files."""
