"""Deciders out of process: schedulers that exist already, at the other end of a socket."""
