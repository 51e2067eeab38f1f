"""Every speed that schedlab promises, measured: `python -m benchmarks`."""
