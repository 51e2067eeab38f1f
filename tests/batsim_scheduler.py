"""A scheduler as a program of its own: python -m tests.batsim_scheduler SOCKET MODE, with MODE one of those below."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from typing import Any

import zmq


class Fcfs:
    """Jobs in the order in which they come, each on the first hosts that are free."""

    def __init__(self, hosts: int = 4) -> None:
        self.free = set(range(hosts))
        self.queue: list[tuple[str, int]] = []
        self.has: dict[str, list[int]] = {}

    def __call__(self, message: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
        for event in message["events"]:
            data = event["data"]
            if event["type"] == "JOB_SUBMITTED":
                self.queue.append((data["job_id"], data["job"]["res"]))
            elif event["type"] == "JOB_COMPLETED":
                self.free.update(self.has.pop(data["job_id"]))
        said: list[tuple[str, dict[str, Any]]] = []
        while self.queue and self.queue[0][1] <= len(self.free):
            job, size = self.queue.pop(0)
            self.has[job] = sorted(self.free)[:size]
            self.free -= set(self.has[job])
            said.append(("EXECUTE_JOB", {"job_id": job, "alloc": " ".join(map(str, self.has[job]))}))
        return said


def main(endpoint: str, mode: str) -> None:
    socket = zmq.Context().socket(zmq.REP)
    socket.bind(endpoint)
    decide, number = Fcfs(), 0
    print(f"listening, process {os.getpid()}", flush=True)
    while True:
        message = json.loads(socket.recv())
        number += 1
        if number == 3 and mode == "dies":
            print("out of tea", flush=True)
            sys.exit(7)
        if number == 3 and mode == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if number == 3 and mode == "silent":
            print("thinking", flush=True)
            time.sleep(600)
        over = any(event["type"] == "SIMULATION_ENDS" for event in message["events"])
        if over and mode == "rude":
            sys.exit(0)
        events = [{"timestamp": message["now"], "type": kind, "data": data} for kind, data in decide(message)]
        socket.send_string(json.dumps({"now": message["now"], "events": events}))
        if over:
            time.sleep(0.05)  # for the answer to leave
            return


if __name__ == "__main__":
    main(*sys.argv[1:])
