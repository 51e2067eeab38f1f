"""What a job carries along besides what every job has: a dictionary of JSON values."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Attachments = Mapping[str, Any]


def as_json(attachments: Attachments) -> str:
    """The text that travels with the job."""
    if not isinstance(attachments, Mapping) or not all(isinstance(key, str) for key in attachments):
        raise TypeError(f"attachments are a dictionary with texts as keys, not {attachments!r:.60}")
    return json.dumps(dict(attachments), separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def as_columns(attachments: Sequence[Attachments | None]) -> dict[str, NDArray[Any]]:
    """As the core takes them: all texts in a row, and where each one ends."""
    texts = [b"" if not one else as_json(one).encode() for one in attachments]
    ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
    return {"attachment_end": ends, "attachment_text": np.frombuffer(b"".join(texts) + b"\0", np.uint8)}
