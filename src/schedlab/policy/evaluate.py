"""What a program of `expression` means, in plain Python: the reference for the native evaluator.

Arithmetic is that of IEEE 754 and the C library: nothing raises. 1/0 is infinite, 0/0 and sqrt(-1) are not a number,
log(0) is minus infinity; `min` and `max` are C's fmin and fmax, which prefer a number to what is not one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from schedlab.policy.expression import Program

_WORD = 2**64 - 1
_GOLDEN = 0x9E3779B97F4A7C15


def evaluate(program: Program, columns: Mapping[str, float]) -> float:
    """The key that a program gives to a job; a key that is not a number counts as +infinity."""
    stack: list[float] = []
    for operation, number in program:
        if operation == "const":
            stack.append(number)
        elif operation in _UNARY:
            stack.append(_UNARY[operation](stack.pop()))
        elif operation in _BINARY:
            right = stack.pop()
            stack.append(_BINARY[operation](stack.pop(), right))
        else:
            stack.append(float(columns[operation]))
    (key,) = stack
    return math.inf if math.isnan(key) else key


def mix(a: int, b: int) -> int:
    """splitmix64 of a × golden + b: 64 bits that look random and depend on nothing else."""
    z = (a * _GOLDEN + b + _GOLDEN) & _WORD
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _WORD
    return z ^ (z >> 31)


def mix_key(seed: float, sequence: float) -> float:
    """`mix` as a key in [0, 1): its upper 53 bits, which a float64 holds exactly."""
    return (mix(int(seed), int(sequence)) >> 11) / 2**53


def divide(x: float, y: float) -> float:
    if y != 0:
        return x / y
    if x == 0 or math.isnan(x):
        return math.nan
    return math.copysign(math.inf, x) * math.copysign(1.0, y)


def power(x: float, y: float) -> float:
    odd = math.isfinite(y) and math.fmod(y, 2.0) in (1.0, -1.0)
    try:
        return math.pow(x, y)
    except OverflowError:
        return -math.inf if x < 0 and odd else math.inf
    except ValueError:  # a power of zero that is infinite, or a root of something negative
        if x != 0:
            return math.nan
        return math.copysign(math.inf, x) if odd else math.inf


def _or_nan(function: Callable[[float], float]) -> Callable[[float], float]:
    return lambda x: math.nan if x < 0 else function(x)


def _logarithm(function: Callable[[float], float]) -> Callable[[float], float]:
    return _or_nan(lambda x: -math.inf if x == 0 else function(x))


def _exp(x: float) -> float:
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


def _floor(x: float) -> float:
    return float(math.floor(x)) if math.isfinite(x) and x != 0 else x  # floor(-0.0) is -0.0


_UNARY: dict[str, Callable[[float], float]] = {
    "neg": lambda x: -x,
    "abs": abs,
    "sqrt": _or_nan(math.sqrt),
    "log": _logarithm(math.log),
    "log2": _logarithm(math.log2),
    "log10": _logarithm(math.log10),
    "exp": _exp,
    "floor": _floor,
}
_BINARY: dict[str, Callable[[float, float], float]] = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "/": divide,
    "**": power,
    "min": lambda x, y: y if y < x or math.isnan(x) else x,
    "max": lambda x, y: y if x < y or math.isnan(x) else x,
    "mix": mix_key,
}
