"""Runs inside AccaSim's own environment: one log, one dispatcher, nothing but what its manual shows.

python accasim_run.py LOG SYSTEM fifo|easy|reject RESULTS      (prints the processor seconds of this process)
"""

import sys
import time

from accasim.base.allocator_class import FirstFit
from accasim.base.scheduler_class import EASYBackfilling, FirstInFirstOut, JobVerification
from accasim.base.simulator_class import Simulator

DISPATCHERS = {
    "fifo": FirstInFirstOut,
    "easy": EASYBackfilling,
    "reject": lambda allocator: FirstInFirstOut(allocator, job_check=JobVerification.REJECT),
}

if __name__ == "__main__":
    log, system, dispatcher, results = sys.argv[1:]
    Simulator(log, system, DISPATCHERS[dispatcher](FirstFit()), RESULTS_FOLDER_PATH=results).start_simulation()
    print(time.process_time())
