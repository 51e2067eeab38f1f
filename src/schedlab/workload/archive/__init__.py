"""The Parallel Workloads Archive: what it has, and how to get it."""
