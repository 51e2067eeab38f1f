"""Figures of finished runs, for papers and reports."""
