"""Options with values that nobody means: one message and an exit code of ours, no traceback, no endless work."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.commands import schedlab

DEMO = Path(__file__).parents[2] / "examples" / "demo.swf"
RUN = ("run", DEMO, "--cluster", "64x4")
LUBLIN = ("generate", "lublin(processors=16)", "--out", "new.swf", "--force")
# Where a value stands: {} is replaced.
COMMANDS = (
    (*LUBLIN, "--jobs", "{}"),
    (*LUBLIN, "--jobs", "9", "--seed", "{}"),
    (*LUBLIN, "--jobs", "9", "--span", "{}"),
    (*LUBLIN, "--jobs", "9", "--pressure", "{}"),
    (*LUBLIN, "--jobs", "9", "--fill", "{}", "--experiment", "1d"),
    ("generate", "lublin(processors={})", "--jobs", "9", "--out", "new.swf", "--force"),
    ("run", DEMO, "--cluster", "{}"),
    ("run", DEMO, "--cluster", "{}x9"),
    ("run", DEMO, "--cluster", "pool:{}"),
    ("run", "{}", "--cluster", "4x4"),
    (*RUN, "--until", "{}"),
    (*RUN, "--policy", "{}"),
    (*RUN, "--policy", "easy:depth={}"),
    (*RUN, "--policy", "easy:order=cores+{}"),
    (*RUN, "--estimate", "limit*{}"),
    (*RUN, "--observe", "power(idle={})"),
    (*RUN, "--observe", "sleep(after=5,boot={})"),
    (*RUN, "--missing-limit", "{}"),
    (*RUN, "--heatmap", "{}"),
    ("transform", DEMO, "--load", "{}", "--out", "new.swf", "--force"),
    ("transform", DEMO, "--window", "{}", "--out", "new.swf", "--force"),
    ("inspect", "{}"),
    ("check", "{}"),
    ("resume", "{}"),
    ("new", "policy", "{}"),
)
VALUES = ("1e400", "-1", "", "nan", "x", "99999999999999999999", "folder", "random.swf")


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(str(word) for word in command[2:])[:60])
def test_wild_values(command: tuple[object, ...], tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "random.swf").write_bytes(bytes(range(256)) * 20)
    for value in VALUES:
        result = schedlab(*(str(word).replace("{}", value) for word in command), folder=tmp_path)
        said = result.stdout + result.stderr
        assert result.returncode in (0, 1, 2), (value, said)
        assert "Traceback" not in said, (value, said)
        assert result.returncode == 0 or len(said) < 4000, (value, said)


def test_pressure_may_leave_nothing_in_a_slice(tmp_path: Path) -> None:
    for seed in range(4):
        words = ("--jobs", 300, "--pressure", 0.6, "--seed", seed)
        result = schedlab("generate", "lublin(processors=256)", *words, "--out", f"{seed}.swf", folder=tmp_path)
        assert result.returncode == 0, result.stderr
