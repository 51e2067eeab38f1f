"""Go programs on a simulated clock: what is changed in the runtime, and how they are built."""
