"""Blocks of web/block.py read back, as static/block.js reads them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np


def unpack(block: bytes) -> dict[str, Any]:
    """Name -> doubles (NaN: unknown), or texts."""
    length = int.from_bytes(block[:4], "little")
    heads = json.loads(block[4 : 4 + length])
    found: dict[str, Any] = {}
    at = 4 + length
    for head in heads:
        data = np.frombuffer(block[at : at + head["bytes"]], np.uint8)
        at += head["bytes"]
        if head["kind"] == "texts":
            found[head["name"]] = json.loads(data.tobytes())
            continue
        joined = data.reshape(head["width"], -1).T.copy()
        if head["kind"] == "floats":
            found[head["name"]] = joined.view(f"<f{head['width']}").ravel().astype(float)
            continue
        raw = joined.view(f"<u{head['width']}").ravel().astype(np.int64)
        known = raw > 0 if head["nulls"] else np.ones(len(raw), bool)
        ticks = (raw - head["nulls"] + head["base"])[known]
        if "first" in head:
            ticks = head["first"] + np.cumsum(ticks)
        if "relative" in head:
            ticks = ticks + np.rint(found[head["relative"]][known] * head["divisor"]).astype(np.int64)
        values = np.full(len(raw), np.nan)
        values[known] = ticks / head["divisor"]
        found[head["name"]] = values
    assert at == len(block)
    return found
