"""Small scenarios told step by step: what happens, who starts and why, who waits for what, and the plan."""
