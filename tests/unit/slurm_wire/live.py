"""A real slurmctld for a few seconds, with nodes played by our messages."""

import getpass
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from schedlab.cluster.slurm.hosts import host_names
from schedlab.slurm.install import Programs
from schedlab.slurm.wire.client import Submitted, shut_down, submitted
from schedlab.slurm.wire.header import Frames, Incoming, message, parse
from schedlab.slurm.wire.job import job_description, submission
from schedlab.slurm.wire.node import (
    ALREADY_COMPLETE,
    Launch,
    NodeFacts,
    NodeGres,
    Order,
    Prolog,
    Termination,
    answer,
    order,
    prolog_complete,
    registration,
)
from schedlab.slurm.wire.release import SLURM_22_05

CONF = """
ClusterName={cluster}
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={port}
SlurmdPort={slurmd_port}
SlurmUser={user}
AuthType=auth/none
CredType=cred/none
PluginDir={libraries}
ProctrackType=proctrack/pgid
TaskPlugin=task/none
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmctldDebug=info
SlurmdParameters=config_overrides
SlurmdTimeout=0
TreeWidth=2
ReturnToService=2
FirstJobId=101
GresTypes=gpu
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=bf_interval=1
PriorityType=priority/multifactor
PriorityWeightFairshare=50000
PriorityWeightAge=50000
PriorityWeightPartition=1000
PriorityWeightJobSize=200000
PriorityWeightQOS=20000
PriorityWeightTRES=CPU=300
CommunicationParameters=NoAddrCache,NoCtldInAddrAny,NoInAddrAny
NodeName=DEFAULT RealMemory=48000 Sockets=2 CoresPerSocket=4 ThreadsPerCore=1 State=UNKNOWN
NodeName=n[1-4] NodeAddr=127.0.0.1
NodeName=g1 NodeAddr=127.0.0.1 Gres=gpu:a100:2
PartitionName=p Nodes=n[1-4],g1 Default=YES DefMemPerCPU=1000 MaxTime=INFINITE
PartitionName=q Nodes=n[1-2] MaxTime=INFINITE PriorityJobFactor=5
{more}
"""
NODES = (
    *(NodeFacts(f"n{number}", 2, 4, 1, 48000) for number in range(1, 5)),
    NodeFacts("g1", 2, 4, 1, 48000, gres=(NodeGres("gpu", 2, "a100"),)),
)


class Live:
    def __init__(
        self, folder: Path, programs: Programs, more: str = "", cluster: str = "c", state: Path | None = None
    ) -> None:
        self.programs, self.folder = programs, folder
        self.heard: list[tuple[bytes, Incoming, Order | None]] = []
        self._prologs: set[int] = set()
        self.asked: dict[str, bytes] = {}  # the last answer to each kind of question
        self._slurmd = socket.create_server(("127.0.0.1", 0))
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        (folder / "state").mkdir()
        for name in ("assoc_mgr_state", "last_tres") if state else ():
            shutil.copy(state / name, folder / "state" / name)
        values = {
            "cluster": cluster,
            "port": self.port,
            "slurmd_port": self._slurmd.getsockname()[1],
            "user": getpass.getuser(),
            "libraries": programs.plugin_folder,
            "folder": folder,
            "more": more,
        }
        (folder / "slurm.conf").write_text(CONF.format_map(values))
        (folder / "gres.conf").write_text("NodeName=g1 Name=gpu Type=a100 Count=2\n")
        self.environment = {
            "SLURM_CONF": str(folder / "slurm.conf"),
            **programs.environment(),
        }
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        self._process = subprocess.Popen(
            ["slurmctld", "-D", "-f", str(folder / "slurm.conf")],
            executable=programs.slurmctld,
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=(folder / "errors").open("w"),
        )
        self.until(self._answers)
        self.until(lambda: self.heard)  # slurmctld wants the nodes to register
        now = int(time.time())
        for node in NODES:
            self.ask("MESSAGE_NODE_REGISTRATION_STATUS", registration(SLURM_22_05, node, now=now, boot_time=now - 1000))

    def _answers(self) -> bool:
        if self._process.poll() is not None:
            raise RuntimeError((self.folder / "errors").read_text())
        try:
            return self.ask("REQUEST_PING").name == "RESPONSE_SLURM_RC"
        except OSError:
            return False

    def until(self, condition: Callable[[], Any]) -> Any:
        for _ in range(300):
            if found := condition():
                return found
            time.sleep(0.1)
        raise TimeoutError((self.folder / "slurmctld.log").read_text())

    def ask(self, name: str, body: bytes = b"", uid: int = 0) -> Incoming:
        with socket.create_connection(("127.0.0.1", self.port), timeout=30) as connection:
            connection.sendall(message(SLURM_22_05, name, body, uid=uid, gid=uid))
            frames = Frames()
            while data := connection.recv(65536):
                for frame in frames.feed(data):
                    self.asked[name] = frame
                    return parse(SLURM_22_05, frame)
        raise ConnectionError(f"no answer to {name}")

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._slurmd.accept()
            except OSError:
                return
            with connection:
                frames = Frames()
                while data := connection.recv(65536):
                    for frame in frames.feed(data):
                        incoming = parse(SLURM_22_05, frame)
                        wanted = order(SLURM_22_05, incoming)
                        self.heard.append((frame, incoming, wanted))
                        code = ALREADY_COMPLETE if isinstance(wanted, Termination) else 0
                        connection.sendall(answer(SLURM_22_05, incoming, code=code))
                        if isinstance(wanted, Prolog) and wanted.job not in self._prologs:
                            self._prologs.add(wanted.job)
                            for node in host_names(wanted.nodes):
                                body = prolog_complete(SLURM_22_05, job=wanted.job, node=node)
                                self.ask("REQUEST_COMPLETE_PROLOG", body)

    def wanted(self, kind: type[Order]) -> list[Any]:
        """What the nodes were told so far, of one kind."""
        return [wanted for _, _, wanted in self.heard if isinstance(wanted, kind)]

    def launched(self, job: int) -> Launch:
        """The launch of a job, when it comes."""
        return self.until(lambda: next((found for found in self.wanted(Launch) if found.job == job), None))

    def submit(self, **options: str) -> Submitted:
        named = {name.replace("_", "-"): value for name, value in options.items()}
        body = submission(SLURM_22_05, job_description(named, uid=0, gid=0, name="test", limit_minutes=10))
        return submitted(SLURM_22_05, self.ask("REQUEST_SUBMIT_BATCH_JOB", body))

    def run(self, *command: str) -> str:
        program = self.programs.clients["sbatch"].with_name(command[0])
        run = subprocess.run(
            [str(program), *command[1:]], env=self.environment, capture_output=True, text=True, timeout=30, check=True
        )
        return run.stdout

    def close(self) -> None:
        self.ask("REQUEST_SHUTDOWN", shut_down(SLURM_22_05))
        try:
            self._process.wait(20)
        finally:
            self._process.kill()
            self._slurmd.shutdown(socket.SHUT_RDWR)
            self._slurmd.close()
            self._thread.join()
