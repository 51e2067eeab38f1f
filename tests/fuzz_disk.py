"""Commands on a disk that fails at one call: it is full, has errors, writes short; or the command is killed there.

python -m tests.fuzz_disk --seconds 60
python -m tests.fuzz_disk --every --cases study,run     # every fault at every call: hours for all of them
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.failing_disk.disk import FailingDisk, missing
from tests.failing_disk.sweep import CASES, Sweep


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--seconds", type=float, default=60)
    arguments.add_argument("--seed", type=int, default=None, help="by default another one every time")
    arguments.add_argument("--cases", default=",".join(CASES), help="which commands")
    arguments.add_argument("--every", action="store_true", help="every fault, however long it takes")
    asked = arguments.parse_args()
    if why := missing():
        sys.exit(why)
    seed = random.SystemRandom().randrange(10**9) if asked.seed is None else asked.seed
    chance, names = random.Random(seed), asked.cases.split(",")
    deadline = time.monotonic() + asked.seconds
    found: Counter[str] = Counter()
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as place, FailingDisk(Path(place) / "disk") as disk:
        chance.shuffle(names)
        for number, name in enumerate(names):
            sweep = Sweep(disk, CASES[name])
            end = time.monotonic() + (deadline - time.monotonic()) / (len(names) - number)
            faults = list(sweep.faults(sys.maxsize, chance))
            chance.shuffle(faults)
            for kind, fault in faults:
                if not asked.every and time.monotonic() > end:
                    break
                found[name] += 1
                for offence in sweep.offences(kind, fault):
                    wrong.append(offence)
                    print(f"{name}: {offence}", file=sys.stderr, flush=True)
    told = ", ".join(f"{name} {count:,}" for name, count in sorted(found.items()))
    print(f"{sum(found.values()):,} faults from seed {seed}, {len(wrong):,} of them taken badly: {told}")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
