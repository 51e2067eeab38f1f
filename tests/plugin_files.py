"""What a user might write, and packages that register it, made by hand."""

from __future__ import annotations

from pathlib import Path

MINE = '''"""What a user might write."""
from collections import OrderedDict
import schedlab as sl

LIMIT = 3

class Cap:
    """Never more than so many watts."""

    def __init__(self, watts, margin=0.1):
        if watts < 0:
            raise ValueError("watts below 0")
        self.watts, self.margin = watts, margin

    def decide(self, view, events):
        pass

class Plain:
    def decide(self, view, events):
        pass

class Mine:
    def estimate(self, job):
        return job.limit

class Thermometer:
    def after(self, view):
        pass

class Weighted:
    def __init__(self, weight=1):
        self.weight = weight

    def __call__(self, jobs, now):
        return jobs.cores * self.weight

class Nothing:
    pass

def by_area(jobs):
    return jobs.cores * jobs.estimate

def by_age(jobs, now, *, power=1):
    return -(now - jobs.eligible) ** power

def left_to_right(job, cluster):
    return [0]

def three(a, b, c):
    return 0

def read_xyz(path, count=1):
    """Numbers, one a line: run times."""
    times = [float(line) for line in path.read_text().split()]
    return sl.Workload.of(name=path.stem, submit=[0.0] * len(times), runtime=times, count=[count] * len(times))

def read_nothing(path):
    return [1, 2, 3]
'''

ENTRIES = """[schedlab.policies]
acme-cap = acme_plugins:Cap
acme-gone = acme_plugins:Gone

[schedlab.orders]
acme-area = acme_plugins:by_area
acme-age = acme_plugins:by_age

[schedlab.placements]
acme-left = acme_plugins:left_to_right

[schedlab.estimators]
acme-limit = acme_plugins:Mine

[schedlab.readers]
acme-xyz = acme_plugins:read_xyz
"""


def fake_distribution(folder: Path, code: str, entries: str, name: str = "acme", version: str = "1.2") -> Path:
    """A folder for sys.path: the module NAME_plugins, and the metadata of a distribution that registers `entries`."""
    folder.mkdir(exist_ok=True)
    (folder / f"{name}_plugins.py").write_text(code)
    metadata = folder / f"{name}-{version}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (metadata / "entry_points.txt").write_text(entries)
    return folder


def acme(folder: Path) -> Path:
    """A distribution that registers most of MINE."""
    return fake_distribution(folder, MINE + '\nread_xyz.extensions = (".xyz", ".xyz.txt")\n', ENTRIES)
