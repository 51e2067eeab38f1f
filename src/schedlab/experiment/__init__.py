"""Many runs from one file: planned, executed on all cores or machines, never lost, never done twice."""
