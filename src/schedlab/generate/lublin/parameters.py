"""The published parameters of the Lublin-Feitelson model: for all jobs, for batch jobs and for interactive ones."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.generate.checks import Checks
from schedlab.generate.cyclic.clock import SLOTS

LONGEST_RUNTIME = 12.0  # natural logarithm of seconds: just under two days
LONGEST_GAP = 13.0  # likewise: just over five days

_DAY_BEGINS = 11  # the gamma distribution of a day's submissions begins with the 11th half-hour, at 5:00


@dataclass(frozen=True, kw_only=True)
class LublinParameters:
    """Gamma distributions are (shape, scale). Logarithms of sizes have base 2, of times base e."""

    serial: float  # share of jobs on one processor
    power_of_two: float  # share of parallel jobs whose size is forced to a power of two, out of all jobs
    size_low: float  # logarithm of the smallest parallel size
    size_medium: float  # where the two uniform distributions of the logarithm meet
    size_high: float  # logarithm of the largest size
    size_low_share: float  # share of the lower of the two
    runtime_short: tuple[float, float]  # gamma of the logarithm of the runtime, for short jobs
    runtime_long: tuple[float, float]  # and for long ones
    short_share: float  # share of short jobs = short_share + short_share_slope * processors
    short_share_slope: float
    gap: tuple[float, float]  # gamma of the logarithm of the time between submissions in the rush hours
    gap_ratio: float  # makes the shape of `gap` that of the whole day
    day: tuple[float, float]  # gamma of the half-hours at which jobs are submitted, from 5:00

    def check(self, mistakes: Checks, inside: str, processors: int) -> None:
        for name in ("serial", "power_of_two", "size_low_share"):
            mistakes.number(f"{inside}.{name}", getattr(self, name), low=0, high=1)
        for name in ("size_low", "size_medium", "size_high"):
            mistakes.number(f"{inside}.{name}", getattr(self, name), low=0, high=math.log2(processors) + 1e-9)
        for name in ("short_share", "short_share_slope"):
            mistakes.number(f"{inside}.{name}", getattr(self, name))
        mistakes.number(f"{inside}.gap_ratio", self.gap_ratio, above=0)
        for name, longest in (
            ("runtime_short", LONGEST_RUNTIME),
            ("runtime_long", LONGEST_RUNTIME),
            ("gap", LONGEST_GAP),
            ("day", None),
        ):
            _check_gamma(mistakes, f"{inside}.{name}", getattr(self, name), longest)
        if mistakes:
            return
        if self.serial + self.power_of_two > 1:
            mistakes.add(f"{inside}.serial + {inside}.power_of_two = {self.serial + self.power_of_two:g}: at most 1")
        if not self.size_low <= self.size_medium <= self.size_high:
            mistakes.add(
                f"{inside}.size_medium = {self.size_medium:g}: expected from size_low, {self.size_low:g}, "
                f"to size_high, {self.size_high:g}"
            )

    def half_hours(self) -> NDArray[np.float64]:
        """Weights of the 48 half-hours of the day, from midnight."""
        shape, scale = self.day
        number = np.arange(_DAY_BEGINS, _DAY_BEGINS + SLOTS)
        # The density is smooth so far from 0: eight points integrate it over a half-hour to machine precision.
        points, weights = np.polynomial.legendre.leggauss(8)
        at = number[:, None] + points / 2
        density = np.exp((shape - 1) * np.log(at / scale) - at / scale - math.lgamma(shape)) / scale
        shares = np.empty(SLOTS)
        shares[(number - 1) % SLOTS] = density @ weights / 2
        return shares

    def to_dict(self) -> dict[str, Any]:
        return {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(self).items()}


PARAMETERS = tuple(field.name for field in fields(LublinParameters))


def published(jobs: str, processors: int) -> LublinParameters:
    """The values of the authors' program, which are for 128 processors; sizes scaled as they advise."""
    high = math.log2(processors)
    if jobs == "whole":
        return LublinParameters(
            serial=0.244,
            power_of_two=0.576,
            **_sizes(0.8, high - 2.5, high),
            size_low_share=0.86,
            runtime_short=(4.2, 0.94),
            runtime_long=(312.0, 0.03),
            short_share=0.78,
            short_share_slope=-0.0054,
            gap=(10.2303, 0.4871),
            gap_ratio=1.0225,
            day=(8.1737, 3.9631),
        )
    if jobs == "batch":
        return LublinParameters(
            serial=0.2927,
            power_of_two=0.6686,
            **_sizes(1.2, high - 2, high),
            size_low_share=0.875,
            runtime_short=(6.57, 0.823),
            runtime_long=(639.1, 0.0156),
            short_share=0.6986,
            short_share_slope=-0.003,
            gap=(6.0415, 0.8531),
            gap_ratio=1.0519,
            day=(6.1271, 5.2740),
        )
    return LublinParameters(
        serial=0.1541,
        power_of_two=0.625,
        **_sizes(1.0, high - 4, high - 1.5),
        size_low_share=0.705,
        runtime_short=(3.8351, 0.6605),
        runtime_long=(7.073, 0.6856),
        short_share=0.9156,
        short_share_slope=-0.0118,
        gap=(6.5510, 0.6621),
        gap_ratio=0.9797,
        day=(8.9186, 3.6680),
    )


def _sizes(low: float, medium: float, high: float) -> dict[str, float]:
    """In order also on machines of a few processors, for which the published values were not meant."""
    high = max(high, 0.0)
    low = min(low, high)
    return {"size_low": low, "size_medium": min(max(medium, low), high), "size_high": high}


def _check_gamma(mistakes: Checks, name: str, value: Any, longest: float | None) -> None:
    if not isinstance(value, list | tuple) or len(value) != 2:
        mistakes.add(f"{name} = {value!r}: expected the shape and the scale of a gamma distribution")
        return
    good = [mistakes.number(f"{name} {part}", v, above=0) for part, v in zip(("shape", "scale"), value, strict=True)]
    if longest is not None and all(good) and value[0] * value[1] >= longest:
        mean = f"{value[0] * value[1]:g}"
        hint = f"it is a natural logarithm of seconds; the model draws values above {longest:g} again"
        mistakes.add(f"{name} = {list(value)}: expected a mean (shape times scale) below {longest:g}, not {mean}", hint)
