"""Heatmaps from files, and which application of a heatmap each job of a log is."""
