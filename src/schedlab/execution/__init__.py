"""How a placed job fares: power, sleeping nodes, failures, maintenance; observers that any policy can have."""
