"""Parsl's interchange, which stands between us and the workers: started this way it ends when we do, however we end."""

from __future__ import annotations

import runpy
import signal

from schedlab.experiment.worker import die_with_parent

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the coordinator, who lets the runs finish
    die_with_parent()
    runpy.run_module("parsl.executors.high_throughput.interchange", run_name="__main__")
