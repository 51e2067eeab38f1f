"""Slurm's own programs, to compare with: a listener that plays slurmctld for them."""

import socket
import subprocess
import threading
from pathlib import Path

from schedlab.slurm.install import Programs
from schedlab.slurm.wire.header import Frames, Incoming, message, parse
from schedlab.slurm.wire.release import SLURM_22_05


class Controller:
    """Listens as slurmctld would, keeps what a program sends and answers it."""

    def __init__(self, folder: Path, programs: Programs) -> None:
        self.programs, self.folder = programs, folder
        self.heard: list[tuple[bytes, Incoming]] = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        (folder / "slurm.conf").write_text(
            f"ClusterName=c\nSlurmctldHost=localhost(127.0.0.1)\nSlurmctldPort={self.port}\nAuthType=auth/none\n"
            f"CredType=cred/none\nPluginDir={programs.plugin_folder}\nSelectType=select/cons_tres\nGresTypes=gpu,nvme\n"
            "NodeName=n[1-16] CPUs=8 Gres=gpu:4\nPartitionName=p Nodes=ALL Default=YES\n"
        )
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with connection:
                frames = Frames()
                while data := connection.recv(65536):
                    for frame in frames.feed(data):
                        incoming = parse(SLURM_22_05, frame)
                        self.heard.append((frame, incoming))
                        connection.sendall(_answer(incoming))

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """One of Slurm's programs, with nothing in its environment that would change what it says."""
        environment = {
            "SLURM_CONF": str(self.folder / "slurm.conf"),
            **self.programs.environment(),
        }
        program = str(self.programs.clients["sbatch"].with_name(command[0]))
        return subprocess.run(
            [program, *command[1:]], env=environment, cwd=self.folder, capture_output=True, text=True, timeout=30
        )

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()


def _answer(incoming: Incoming) -> bytes:
    if incoming.name == "REQUEST_SUBMIT_BATCH_JOB":
        body = SLURM_22_05.layouts.submitted.pack({"job_id": 17})
        return message(SLURM_22_05, "RESPONSE_SUBMIT_BATCH_JOB", body)
    return message(SLURM_22_05, "RESPONSE_SLURM_RC", SLURM_22_05.layouts.return_code.pack({}))
