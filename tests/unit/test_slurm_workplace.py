"""Workplaces: private folders that end with their owner, however it ends."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from schedlab.model.errors import InputError
from schedlab.slurm import workplace
from schedlab.slurm.workplace import Leftover, Workplace, leftovers, occupied, remove

# An owner in a process of its own: it says where its workplace is and which process runs in it, then waits.
OWNER = """
import subprocess, sys, time
from pathlib import Path
from schedlab.slurm import workplace
workplace.bases = lambda: [Path(sys.argv[1])]
place = workplace.Workplace()
child = subprocess.Popen(["sleep", "1000"], start_new_session=True)
place.adopt(child.pid)
print(place.folder, child.pid, flush=True)
time.sleep(1000)
"""


@pytest.fixture
def base(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A place with a short path, which no other test cleans."""
    folder = Path(tempfile.mkdtemp(prefix="places-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None))
    monkeypatch.setattr(workplace, "bases", lambda: [folder])
    yield folder
    shutil.rmtree(folder)


def start_sleep() -> subprocess.Popen[bytes]:
    return subprocess.Popen(["sleep", "1000"], start_new_session=True)


def runs(pid: int) -> bool:
    """A process whose parent has gone may stay as a zombie where nobody collects those: it does not run."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def ends(pid: int) -> bool:
    """What was killed needs a moment, longer on a busy machine."""
    until = time.monotonic() + 20
    while runs(pid) and time.monotonic() < until:
        time.sleep(0.01)
    return not runs(pid)


def killed_owner(base: Path) -> tuple[Path, int]:
    """The workplace and the running process that an owner killed with -9 left."""
    with subprocess.Popen([sys.executable, "-c", OWNER, base], stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        folder, pid = owner.stdout.readline().split()
        owner.kill()
    return Path(folder), int(pid)


def test_a_workplace_is_private_and_goes(base: Path) -> None:
    with Workplace() as place:
        assert place.folder.parent == base
        assert place.folder.name.startswith(f"schedlab-slurm-{os.getuid()}-")
        assert place.folder.stat().st_mode & 0o777 == 0o700
        folders = {path.name for path in place.folder.iterdir() if path.is_dir()}
        assert folders == {"etc", "state", "sockets", "log", "spool"}
        assert leftovers() == []
        assert occupied() == [place.folder]
    assert list(base.iterdir()) == []
    place.close()  # once more does no harm


def test_processes_end_with_it(base: Path) -> None:
    with Workplace() as place:
        child = start_sleep()
        place.adopt(child.pid)
    assert child.wait(10) == -signal.SIGTERM


def test_a_stubborn_process_and_its_group_end_with_it(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workplace, "PATIENCE", 0.2)
    script = "trap '' TERM; sleep 1000 & echo $!; wait; wait"
    child = subprocess.Popen(["sh", "-c", script], start_new_session=True, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    grandchild = int(child.stdout.readline())
    with Workplace() as place:
        place.adopt(child.pid)
    assert child.wait(10) == -signal.SIGKILL
    assert ends(grandchild)
    child.stdout.close()


def test_a_process_of_our_own_group_does_not_take_us_along(base: Path) -> None:
    child = subprocess.Popen(["sleep", "1000"])
    assert os.getpgid(child.pid) == os.getpgid(0)
    with Workplace() as place:
        place.adopt(child.pid)
    assert child.wait(10) == -signal.SIGTERM


def test_a_process_that_has_ended_may_be_adopted(base: Path) -> None:
    child = subprocess.Popen(["true"])
    child.wait()
    with Workplace() as place:
        place.adopt(child.pid)
    assert list(base.iterdir()) == []


def test_an_error_inside_cleans_too(base: Path) -> None:
    with pytest.raises(RuntimeError), Workplace():
        raise RuntimeError
    assert list(base.iterdir()) == []


def test_what_a_killed_owner_left_is_found_and_removed(base: Path) -> None:
    folder, pid = killed_owner(base)
    assert runs(pid)
    assert leftovers() == [Leftover(folder, (pid,))]
    assert occupied() == []
    assert remove(leftovers()[0])
    assert ends(pid)
    assert list(base.iterdir()) == []


def test_a_new_workplace_removes_what_is_left(base: Path) -> None:
    folder, pid = killed_owner(base)
    with Workplace() as place:
        assert ends(pid)
        assert not folder.exists()
        assert place.folder.exists()


def test_two_at_once_do_not_disturb_each_other(base: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", OWNER, base], stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        folder, pid = owner.stdout.readline().split()
        with Workplace() as first, Workplace() as second:
            assert first.folder != second.folder
            assert leftovers() == []
            assert set(occupied()) == {Path(folder), first.folder, second.folder}
            assert not remove(Leftover(Path(folder), ()))
            assert not remove(Leftover(first.folder, ()))
        assert runs(int(pid))
        assert Path(folder).exists()
        owner.kill()
    assert remove(leftovers()[0])


@pytest.mark.parametrize(("start", "boot"), [(1, 0), (0, 1)])
def test_a_pid_that_another_process_has_now_is_spared(base: Path, start: int, boot: int) -> None:
    """The same pid, but started at another time, or before the machine was started."""
    folder, pid = killed_owner(base)
    noted = (folder / "processes").read_text().split()
    (folder / "processes").write_text(f"{pid} {int(noted[1]) - start} {'x' * boot}{noted[2]}\n")
    assert leftovers() == [Leftover(folder, ())]
    assert remove(leftovers()[0])
    assert runs(pid)
    os.kill(pid, signal.SIGKILL)


def test_notes_that_were_cut_off_are_not_believed(base: Path) -> None:
    child = start_sleep()
    folder = base / f"schedlab-slurm-{os.getuid()}-cut"
    folder.mkdir()
    (folder / "processes").write_text(f"{child.pid} 12\n{child.pid}\nx y z\n{child.pid} 1 2")
    with Workplace():
        assert not folder.exists()
    assert child.poll() is None
    child.kill()
    child.wait()


def test_a_folder_without_a_lock_is_a_leftover(base: Path) -> None:
    """Of one that was killed before it had made the lock."""
    folder = base / f"schedlab-slurm-{os.getuid()}-bare"
    folder.mkdir()
    assert leftovers() == [Leftover(folder, ())]
    assert remove(leftovers()[0])
    assert not folder.exists()


def test_others_are_left_alone(base: Path) -> None:
    (base / f"schedlab-slurm-{os.getuid() + 1}-other").mkdir()
    (base / "schedlab-slurm").mkdir()
    (base / f"schedlab-slurm-{os.getuid()}-file").touch()
    (base / "target").mkdir()
    (base / f"schedlab-slurm-{os.getuid()}-link").symlink_to(base / "target")
    before = sorted(base.iterdir())
    assert leftovers() == []
    with Workplace():
        pass
    assert sorted(base.iterdir()) == before


def test_a_forked_child_does_not_own_it(base: Path) -> None:
    heard, said = os.pipe()
    with Workplace() as place:
        child = os.fork()
        if child == 0:
            place.close()
            os.write(said, b"closed")
            time.sleep(1000)
            os._exit(0)
        try:
            assert os.read(heard, 10) == b"closed"
            assert occupied() == [place.folder]
            place._let_go()  # as if this process had been killed: the child must not hold the lock on
            assert [leftover.folder for leftover in leftovers()] == [place.folder]
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            os.close(heard)
            os.close(said)
    assert remove(leftovers()[0])


def test_many_that_start_and_clean_at_the_same_time(base: Path) -> None:
    """Nobody takes another's new folder for a leftover."""
    code = (
        "import sys\nfrom pathlib import Path\nfrom schedlab.slurm import workplace\n"
        "workplace.bases = lambda: [Path(sys.argv[1])]\n"
        "for _ in range(100):\n"
        "    with workplace.Workplace() as place:\n"
        "        assert all((place.folder / name).is_dir() for name in workplace.FOLDERS)\n"
    )
    children = [subprocess.Popen([sys.executable, "-c", code, base], stderr=subprocess.PIPE) for _ in range(3)]
    assert [child.communicate()[1] for child in children] == [b""] * 3
    assert leftovers() == []
    assert occupied() == []


def test_paths_are_short_enough_for_sockets(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = base / ("long" * 20)
    long.mkdir()
    monkeypatch.setattr(workplace, "bases", lambda: [long, base])
    with Workplace() as place:
        assert place.folder.parent == base
        assert len(os.fsencode(place.sockets)) + 1 + workplace.SOCKET_NAME <= 107
    monkeypatch.setattr(workplace, "bases", lambda: [long])
    with pytest.raises(InputError, match="set TMPDIR"):
        Workplace()


def test_a_base_without_room_is_the_last_choice(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full, free = base / "full", base / "free"
    full.mkdir()
    free.mkdir()
    usage = shutil.disk_usage(base)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=0 if path == full else 1 << 40))
    monkeypatch.setattr(workplace, "bases", lambda: [full, free])
    assert workplace.best_base() == free
    monkeypatch.setattr(workplace, "bases", lambda: [full])
    assert workplace.best_base() == full


def test_memory_comes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", "/var/tmp")
    expected = [Path("/dev/shm"), tmp_path, Path("/var/tmp"), Path("/tmp")]
    assert workplace.bases() == [path for path in expected if path.is_dir()]


@pytest.mark.skipif(not Path("/dev/shm").is_mount(), reason="/dev/shm is not a file system of its own here")
def test_what_is_in_memory() -> None:
    assert workplace.in_memory(Path("/dev/shm"))
    assert not workplace.in_memory(Path("/proc"))
