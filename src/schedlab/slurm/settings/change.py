"""What one edit makes of one value: `=`, `+=` and `-=` for lists, `*=` for numbers. A ValueError says what is wrong."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation

from schedlab.cluster.slurm.entries import items
from schedlab.cluster.slurm.hosts import host_names
from schedlab.cluster.slurm.keys import RELEASE, expected
from schedlab.model.nodeset import fold
from schedlab.model.suggest import did_you_mean
from schedlab.slurm.settings.list_items import LIST_ITEMS

_WHOLE = re.compile(r"[0-9]{1,18}[kK]?")
_YES_NO = ("yes", "up", "true", "1", "no", "down", "false", "0")
_UNLIMITED = ("unlimited", "infinite")


def changed(kind: str, key: str, old: str | None, operator: str, text: str) -> str:
    """The new text of a value; "" if it is to be removed. `key` is in lower case, `old` is None if it is not set."""
    if not text and operator != "=":
        raise ValueError(f"nothing stands after {operator}")
    if re.search(r'["\x00-\x1f\x7f]', text):
        raise ValueError("a value has no quotation marks and no line breaks")
    if operator == "*=":
        return _multiplied(old, text)
    new = text if operator == "=" else _with_items(kind, key, old, operator, text)
    _check(kind, key, new, added=text if operator != "-=" else "")
    if not new and old is None:
        raise ValueError("it is not set")
    return new


def _multiplied(old: str | None, text: str) -> str:
    try:
        factor = Decimal(text)
    except InvalidOperation:
        factor = Decimal(-1)
    if not factor.is_finite() or factor < 0:
        raise ValueError("after *= a number such as 1.2 is expected")
    if old is None:
        raise ValueError("it is not set, so there is nothing to multiply: give the value with =")
    if not re.fullmatch(r"[0-9]{1,18}", old):
        raise ValueError(f"only a whole number can be multiplied, and it is {old}")
    return str((Decimal(old) * factor).quantize(Decimal(1), rounding=ROUND_HALF_UP))


def _with_items(kind: str, key: str, old: str | None, operator: str, text: str) -> str:
    """Items are known by what stands before = or : in them; nodes by their names."""
    of_nodes = kind == "partitionname" and key == "nodes"
    split = host_names if of_nodes else items
    name: Callable[[str], str] = str if of_nodes else _item_name
    have, given = split(old) if old else [], split(text)
    for item in given:
        place = next((place for place, own in enumerate(have) if name(own) == name(item)), None)
        if operator == "-=" and place is None:
            hint = did_you_mean(item, have[:1000]) or f"it is {old or 'not set'}"
            raise ValueError(f"there is no {item} in it; {hint}")
        if operator == "-=":
            have = [own for own in have if name(own) != name(item)]
        elif place is None:
            have.append(item)
        else:
            have[place] = item
    return fold(have) if of_nodes else ",".join(have)


def _item_name(item: str) -> str:
    return re.split("[=:]", item, maxsplit=1)[0].casefold()


def _check(kind: str, key: str, new: str, added: str) -> None:
    wanted = expected(kind, key)
    if new and wanted == "a whole number" and not _WHOLE.fullmatch(new) and new.casefold() not in _UNLIMITED:
        raise ValueError(f"expected {wanted}")
    if new and wanted == "YES or NO" and new.casefold() not in _YES_NO:
        raise ValueError(f"expected {wanted}")
    known = LIST_ITEMS.get(key, {}) if not kind or key == "preemptmode" else {}
    for item in items(added) if known else ():
        if item.partition("=")[0].casefold() not in known:
            raise ValueError(f"Slurm {RELEASE} does not know {item}; {did_you_mean(item, known.values())}".rstrip("; "))
