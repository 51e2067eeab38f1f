"""The "did you mean …?" of error messages."""

from __future__ import annotations

from collections.abc import Iterable

LONGEST = 100  # characters of a word that is looked for: comparing takes time in proportion to its square


def closest(word: str, names: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The name that `word` was most likely meant to be, if one is near enough: `wait.mean`, the first of those that go
    on where `wait` ends, or else the most similar one."""
    if len(word) > LONGEST:
        return None
    import difflib  # only on the way to an error message

    folded = {name.casefold(): name for name in names}
    wanted = word.casefold().strip()
    found = [name for name in folded if name.startswith(f"{wanted}.")]
    found = found or difflib.get_close_matches(wanted, folded, n=1, cutoff=cutoff)
    return folded[found[0]] if found else None


def did_you_mean(word: str, names: Iterable[str], listing: str = "") -> str:
    """A hint: the closest name, if there is one, and then `listing` (what there is to choose from)."""
    name = closest(word, names)
    parts = ([f"did you mean '{name}'?"] if name else []) + ([listing] if listing else [])
    return " ".join(parts)
