"""The version, as a constant: asking the installed package for it takes longer than a small simulation."""

VERSION = "0.1.0"  # the same as in pyproject.toml
