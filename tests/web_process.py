"""`schedlab web` as a process of its own."""

from __future__ import annotations

import http.client
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.request import Request, urlopen


@dataclass
class Process:
    process: subprocess.Popen[str]
    address: str  # with its token
    port: int

    @property
    def place(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def allowed(self) -> dict[str, str]:
        """What a program shows to be let in."""
        return {"authorization": f"Bearer {self.address.rpartition('token=')[2]}"}

    def get(self, path: str, **headers: str) -> http.client.HTTPResponse:
        asked = Request(f"{self.place}{path}", headers=self.allowed | headers)
        answer: http.client.HTTPResponse = urlopen(asked, timeout=60)
        return answer

    def end(self, number: signal.Signals = signal.SIGINT) -> int:
        """Its exit code; of one that does not end, where its threads are."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            return self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGABRT)
            raise AssertionError(f"the server does not end: {self.process.communicate()[1]}") from None


@contextmanager
def serving_process(folder: Path, *options: str) -> Iterator[Process]:
    command = [sys.executable, "-m", "schedlab", "web", str(folder), "--port", "0", "--no-browser", *options]
    told = {**os.environ, "PYTHONFAULTHANDLER": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=told) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.match(r"(http://\S+?:(\d+)/\S*) serves ", line)
        if found is None:
            raise AssertionError(line + process.communicate()[1])
        server = Process(process, found[1], int(found[2]))
        try:
            yield server
        finally:
            server.end()
