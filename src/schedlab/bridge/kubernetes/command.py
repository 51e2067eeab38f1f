"""A scheduler that runs beside us as it is, on the clock on the wall."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from schedlab.bridge.kubernetes.errors import KubernetesError
from schedlab.bridge.kubernetes.last_words import last_words
from schedlab.model.errors import InputError
from schedlab.model.stopping import how_it_ended, undisturbed

# In a command: the path of the kubeconfig, and the address of the server.
KUBECONFIG, SERVER = "{kubeconfig}", "{server}"
_PATIENCE = 5.0  # seconds that it has to end when it is asked to


class Command:
    """What somebody wants to be started. Its words may name where the server is; KUBECONFIG says it, too."""

    def __init__(self, words: Sequence[str], kubeconfig: Path, server: str, log: Path) -> None:
        self._log = log
        told = [word.replace(KUBECONFIG, str(kubeconfig)).replace(SERVER, server) for word in words]
        try:
            with undisturbed(), log.open("wb") as file:
                self._process = subprocess.Popen(
                    told,
                    env={**os.environ, "KUBECONFIG": str(kubeconfig)},
                    stdin=subprocess.DEVNULL,
                    stdout=file,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
        except OSError as error:
            hint = "give the path of the program after --"
            raise InputError(f"cannot be started: {error.strerror}", where=told[0], hint=hint) from None

    def check(self) -> None:
        """Raises if it has ended."""
        code = self._process.poll()
        if code is not None:
            raise KubernetesError(f"the scheduler {how_it_ended(code)}: {self.last_words()}")

    def last_words(self) -> str:
        return last_words(self._log)

    def log(self) -> bytes:
        with suppress(OSError):
            return self._log.read_bytes()
        return b""

    def used(self) -> dict[str, float]:
        """Its CPU time in seconds and the most memory that it has had, in bytes, while it runs."""
        found: dict[str, float] = {}
        with suppress(OSError, ValueError, IndexError):
            fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
            found["cpu_seconds"] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
            for line in Path(f"/proc/{self._process.pid}/status").read_text().splitlines():
                if line.startswith("VmHWM:"):
                    found["peak_memory"] = int(line.split()[1]) * 1024
        return found

    def stop(self) -> None:
        """It and whatever it has started."""
        with undisturbed():
            for what in (signal.SIGTERM, signal.SIGKILL):
                with suppress(ProcessLookupError):
                    os.killpg(self._process.pid, what)
                with suppress(subprocess.TimeoutExpired):
                    self._process.wait(_PATIENCE)
                    return
