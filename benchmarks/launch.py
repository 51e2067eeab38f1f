"""Run a command and write down what it took: `python launch.py REPORT COMMAND…`.

A script of its own because Linux counts the parent's memory at the fork into the child's peak: the parent of a
measured process has to be small, so this one imports next to nothing.
"""

import json
import os
import sys
import time


def launch(report: str, command: list[str]) -> int:
    begin = time.perf_counter()
    child = os.posix_spawnp(command[0], command, os.environ)
    _, status, usage = os.wait4(child, 0)  # includes the processes that it started and waited for
    wall = time.perf_counter() - begin
    spent = {"wall": wall, "cpu": usage.ru_utime + usage.ru_stime, "peak_mb": usage.ru_maxrss / 1024}
    with open(report, "w") as file:  # noqa: PTH123 (pathlib would make this process larger)
        json.dump(spent, file)
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    sys.exit(launch(sys.argv[1], sys.argv[2:]))
