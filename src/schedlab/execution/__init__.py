"""How a placed job fares: power, sleeping nodes, failures, maintenance. Each is an observer that any policy can have."""
