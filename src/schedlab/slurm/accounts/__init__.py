"""Users, accounts, shares, QOS and limits: read from sacctmgr's files or TOML, written as slurmctld's state files."""
