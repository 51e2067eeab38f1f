"""FCFS on the free hosts with the lowest numbers, written as ranges: what batsched calls fcfs_fast. `… ENDPOINT`"""

import json
import sys

import zmq


def ranges(hosts: list[int]) -> str:
    """Hosts in order, such as 1-3 5."""
    found: list[list[int]] = []
    for host in hosts:
        if found and found[-1][1] == host - 1:
            found[-1][1] = host
        else:
            found.append([host, host])
    return " ".join(f"{first}-{last}" if first < last else str(first) for first, last in found)


def main(endpoint: str) -> None:
    socket = zmq.Context().socket(zmq.REP)
    socket.bind(endpoint)
    queue: list[tuple[str, int]] = []
    free: list[int] = []  # in order
    has: dict[str, list[int]] = {}
    first, over = 0, False
    while not over:
        message = json.loads(socket.recv())
        for event in message["events"]:
            kind, data = event["type"], event["data"]
            if kind == "JOB_SUBMITTED":
                queue.append((data["job_id"], data["job"]["res"]))
            elif kind == "JOB_COMPLETED":
                free = sorted(free + has.pop(data["job_id"]))
            elif kind == "SIMULATION_BEGINS":
                free = [resource["id"] for resource in data["compute_resources"]]
            over |= kind == "SIMULATION_ENDS"
        said = []
        while first < len(queue) and queue[first][1] <= len(free):
            job, size = queue[first]
            first += 1
            has[job], free = free[:size], free[size:]
            data = {"job_id": job, "alloc": ranges(has[job])}
            said.append({"timestamp": message["now"], "type": "EXECUTE_JOB", "data": data})
        socket.send_string(json.dumps({"now": message["now"], "events": said}))


if __name__ == "__main__":
    main(sys.argv[1])
