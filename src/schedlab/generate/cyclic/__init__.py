"""Jobs that follow the day, the week and the year."""
