"""Whole weeks of a log, drawn in blocks: users' reactions to a full machine stay with the load that caused them."""
