"""How a run of the benchmarks was asked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Settings:
    quick: bool = False  # a tenth of the jobs: a first look, not a verdict
    repeats: int = 5
    clock: str = "wall"  # or "cpu": what the ratios are made of
    folder: Path = ROOT / "build" / "benchmarks"  # logs, the compiled floor, AccaSim's results

    def jobs(self, full: int) -> int:
        return full // 10 if self.quick else full
