"""Times between one submission and the next, by the name of their distribution."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.generate.checks import Checks

# Name -> its parameters. "poisson" are the gaps of a Poisson process, "zero" is everything at once.
DISTRIBUTIONS: dict[str, tuple[str, ...]] = {
    "zero": (),
    "constant": ("gap",),
    "uniform": ("low", "high"),
    "poisson": ("mean",),
    "weibull": ("shape", "scale"),
    "gamma": ("shape", "scale"),
    "lognormal": ("mu", "sigma"),  # of the natural logarithm
}


@dataclass(frozen=True, init=False)
class Gaps:
    """`Gaps("poisson", mean=60)`: seconds between submissions."""

    distribution: str
    parameters: dict[str, float]

    def __init__(self, distribution: str, **parameters: float) -> None:
        mistakes = Checks("gaps")
        if mistakes.choice("distribution", distribution, DISTRIBUTIONS):
            _check(distribution, parameters, mistakes)
        mistakes.raise_all()
        object.__setattr__(self, "distribution", distribution)
        object.__setattr__(self, "parameters", {name: float(value) for name, value in parameters.items()})

    def draw(self, stream: np.random.Generator, count: int) -> NDArray[np.float64]:
        given = self.parameters
        if self.distribution == "zero":
            return np.zeros(count)
        if self.distribution == "constant":
            return np.full(count, given["gap"])
        if self.distribution == "uniform":
            return stream.uniform(given["low"], given["high"], count)
        if self.distribution == "poisson":
            return stream.exponential(given["mean"], count)
        if self.distribution == "weibull":
            return given["scale"] * stream.weibull(given["shape"], count)
        if self.distribution == "gamma":
            return stream.gamma(given["shape"], given["scale"], count)
        return stream.lognormal(given["mu"], given["sigma"], count)

    @property
    def mean(self) -> float:
        given = self.parameters
        means = {
            "zero": lambda: 0.0,
            "constant": lambda: given["gap"],
            "uniform": lambda: (given["low"] + given["high"]) / 2,
            "poisson": lambda: given["mean"],
            "weibull": lambda: given["scale"] * math.gamma(1 + 1 / given["shape"]),
            "gamma": lambda: given["shape"] * given["scale"],
            "lognormal": lambda: math.exp(given["mu"] + given["sigma"] ** 2 / 2),
        }
        return means[self.distribution]()

    def to_dict(self) -> dict[str, Any]:
        return {"distribution": self.distribution, **self.parameters}

    @classmethod
    def from_dict(cls, data: Any) -> Gaps:
        mistakes = Checks("gaps")
        if not isinstance(data, dict) or not isinstance(data.get("distribution"), str):
            mistakes.add(
                f"{data!r}: expected a table with a distribution",
                f'for example {{"distribution": "poisson", "mean": 60}}; distributions: {", ".join(DISTRIBUTIONS)}',
            )
            mistakes.raise_all()
        return cls(**data)


def _check(distribution: str, parameters: dict[str, Any], mistakes: Checks) -> None:
    expected = DISTRIBUTIONS[distribution]
    mistakes.keys(parameters, expected, distribution)
    for name in expected:
        if name not in parameters:
            mistakes.add(f"{distribution} needs {name}", f"parameters: {', '.join(expected)}")
        elif name == "low":
            mistakes.number(f"{distribution}.low", parameters[name], low=0)
        elif name == "mu":
            mistakes.number(f"{distribution}.mu", parameters[name])
        else:
            mistakes.number(f"{distribution}.{name}", parameters[name], above=0)
    if distribution == "uniform" and not mistakes and parameters["high"] < parameters["low"]:
        mistakes.add(f"uniform.high = {parameters['high']!r}: expected at least low, {parameters['low']!r}")
