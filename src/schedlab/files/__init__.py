"""Files as bytes: read compressed or not, written whole or not at all."""
