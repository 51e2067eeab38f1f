"""Tables of jobs, CSV and Parquet, with columns of any name."""
