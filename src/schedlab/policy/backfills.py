"""The backfill disciplines: which waiting jobs a pass may start, and the keys that each discipline understands."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Key:
    """A `key=value` of a policy."""

    name: str
    meaning: str
    default: str


@dataclass(frozen=True, slots=True)
class Backfill:
    """A row of the table."""

    name: str
    summary: str
    keys: tuple[Key, ...]
    reference: str = ""


ORDER = Key("order", "which waiting job comes first: the name of an order or an expression", "fcfs")
SCAN = Key("scan", "the order in which candidates for backfilling are tried", "the queue's order")
PLACE = Key("place", "which nodes a job gets: the name of a placement", "first-fit")
NODES = Key("nodes", "whether jobs may share a node: shared or exclusive", "shared")
DEPTH = Key("depth", "how many jobs are examined after the first that does not fit", "all")
RESERVATIONS = Key("reservations", "how many waiting jobs are protected by a reservation", "1")
EVERY = Key("every", "jobs are started only at multiples of this time, such as 30s", "whenever something happens")
BACKFILL_EVERY = Key(
    "backfill_every", "others than the first jobs of the queue are started only at multiples of this time", "as every"
)
KEYS_EVERY = Key("keys_every", "keys of an order that change with time are computed anew so often", "in every pass")
HALF_LIFE = Key("half_life", "after which time what a user has used counts half (user_usage, group_usage)", "7d")
BACKFILL = Key(
    "backfill", "who may pass the first job that does not fit: none, easy, easy-strict, conservative", "easy"
)
PAIRED = Key("place", "who sits with whom: occupied-first, best-pair, first-fit, …", "occupied-first")
FRACTION = Key("fraction", "how much of every socket of its nodes a job gets: 1/2, 1/4, …", "1/2")
THRESHOLD = Key("threshold", "no job sits beside one that would make either slower than this (needs a heatmap)", "0")
_TIMES = (EVERY, KEYS_EVERY, HALF_LIFE)
KEYS = {
    key.name: key
    for key in (
        *(ORDER, SCAN, PLACE, NODES, DEPTH, RESERVATIONS, EVERY, BACKFILL_EVERY, KEYS_EVERY, HALF_LIFE),
        *(BACKFILL, FRACTION, THRESHOLD),
    )
}

_TABLE = (
    Backfill("none", "start jobs in order; stop at the first that does not fit", (ORDER, PLACE, NODES, *_TIMES)),
    Backfill(
        "skip",
        "go through all jobs in order; start each that fits",
        (ORDER, PLACE, NODES, DEPTH, BACKFILL_EVERY, *_TIMES),
    ),
    Backfill(
        "easy",
        "later jobs may start if they do not delay the first that does not fit (shadow time and extra resources)",
        (ORDER, SCAN, PLACE, NODES, DEPTH, RESERVATIONS, BACKFILL_EVERY, *_TIMES),
        "Lifka, JSSPP 1995; scan=sjf is EASY-SJBF of Tsafrir, Etsion and Feitelson, TPDS 2007",
    ),
    Backfill(
        "easy-strict",
        "as easy, but only jobs that end before the shadow time (no use of extra resources)",
        (ORDER, SCAN, PLACE, NODES, DEPTH, BACKFILL_EVERY, *_TIMES),
        "the EASY of ELiSE",
    ),
    Backfill(
        "conservative",
        "every waiting job holds a reservation; reservations move up when a job ends early",
        (ORDER, PLACE, NODES, KEYS_EVERY, HALF_LIFE),
        "Mu'alem and Feitelson, TPDS 2001",
    ),
    Backfill(
        "cosched",
        "jobs share nodes: each gets a part of every socket of twice as many nodes (with fraction=1/2)",
        (BACKFILL, ORDER, SCAN, PAIRED, FRACTION, THRESHOLD, DEPTH, RESERVATIONS),
        "ELiSE, JSSPP 2025",
    ),
    Backfill("reject", "reject every job as it is submitted (measures the simulator itself)", ()),
)
BACKFILLS = {backfill.name: backfill for backfill in _TABLE}
