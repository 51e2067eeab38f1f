"""What a policy is made of: an order, a backfill discipline, a placement; and where estimates come from."""
