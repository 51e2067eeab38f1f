"""Pages to read and to send: one file each, nothing to load from elsewhere."""
