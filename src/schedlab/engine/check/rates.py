"""How fast jobs worked: a rate is the product of what everybody says, and work is done at that rate, no other."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.check.offences import Offences
from schedlab.engine.check.record import Pieces, Rates, Record


def check_rates(record: Record, offences: Offences) -> None:
    rates, pieces = record.rates, record.pieces

    def report(wrong: NDArray[np.bool_], message: Callable[[int], str]) -> None:
        offences.add_where("rates", wrong, rates.job, rates.time, message)

    for values in (rates.factor, rates.rate):
        wrong = ~((values >= 0) & np.isfinite(values))
        report(wrong, lambda i: f"its factor is {rates.factor[i]}, its rate {rates.rate[i]}")
    begin, end = pieces.begin[rates.at], pieces.end[rates.at]
    outside = ~((rates.time >= begin) & (rates.time <= end))
    report(outside, lambda i: f"its piece is from {begin[i]} to {end[i]}")
    back = np.append(False, rates.time[1:] < rates.time[:-1])[: len(rates)] & ~rates.first
    report(back, lambda i: f"it comes after the change at {rates.time[i - 1]}")
    product = _products(rates, pieces)
    wrong = ~(np.abs(rates.rate - product) <= 1e-12 * np.abs(product))
    report(wrong, lambda i: f"its rate is {rates.rate[i]}, the product of all factors is {product[i]}")


def work_of(record: Record) -> NDArray[np.float64]:
    """Of each piece: what is done in it at the rates that are told."""
    pieces, rates = record.pieces, record.rates
    at_first = first_rates(record)
    until = np.append(rates.time[1:], 0.0)[: len(rates)]
    until = np.where(rates.last, pieces.end[rates.at], until)
    changed = pieces.end.copy()  # when the rate changes first
    changed[rates.at[rates.first]] = rates.time[rates.first]
    later = np.bincount(rates.at, rates.rate * (until - rates.time), minlength=len(pieces))
    return np.asarray(at_first * (changed - pieces.begin) + later, np.float64)


def first_rates(record: Record) -> NDArray[np.float64]:
    """At the beginning of each piece: 1, but a job that only changed its shape goes on at the rate that it had."""
    pieces, last = record.pieces, _last_change(record.rates, record.pieces)
    rates = np.ones(len(pieces))
    for piece in _going_on(pieces).tolist():
        before = last[piece - 1]
        rates[piece] = rates[piece - 1] if before < 0 else record.rates.rate[before]
    return rates


def last_rates(record: Record) -> NDArray[np.float64]:
    """At the end of each piece."""
    rates, last = first_rates(record), _last_change(record.rates, record.pieces)
    changed = last >= 0
    rates[changed] = record.rates.rate[last[changed]]
    return rates


def _going_on(pieces: Pieces) -> NDArray[np.int64]:
    """Pieces that begin where the one before was only reshaped."""
    return np.flatnonzero(pieces.ended("reshaped")[:-1] & ~pieces.last[:-1]) + 1


def _last_change(rates: Rates, pieces: Pieces) -> NDArray[np.int64]:
    last = np.full(len(pieces), -1)
    last[rates.at[rates.last]] = np.flatnonzero(rates.last)
    return last


def _products(rates: Rates, pieces: Pieces) -> NDArray[np.float64]:
    """What the rate is after each change, as the factors say."""
    product = rates.factor.copy()
    if not len(rates):
        return product
    several = np.unique(rates.sequence[1:][(rates.owner[1:] != rates.owner[:-1]) & ~rates.first_of_job[1:]])
    keeps = set(_going_on(pieces).tolist())
    bounds = [*np.flatnonzero(rates.first_of_job).tolist(), len(rates)]
    for begin, end in pairwise(bounds):
        if rates.sequence[begin] in several:
            product[begin:end] = _of_one_job(rates, begin, end, keeps)
    return product


def _of_one_job(rates: Rates, begin: int, end: int, keeps: set[int]) -> list[float]:
    products: list[float] = []
    factors: dict[str, float] = {}
    piece = int(rates.at[begin])
    for change in range(begin, end):
        if any(number not in keeps for number in range(piece + 1, int(rates.at[change]) + 1)):
            factors = {}
        piece = int(rates.at[change])
        factors[rates.owners[rates.owner[change]]] = float(rates.factor[change])
        product = 1.0
        for name in sorted(factors):
            product *= factors[name]
        products.append(product)
    return products
