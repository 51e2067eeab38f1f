"""The command line: one file per command. Heavy imports happen inside commands, so that each starts at once."""
