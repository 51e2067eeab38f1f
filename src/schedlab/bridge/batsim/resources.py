"""Sets of hosts as the protocol writes them: "1-3 5" are the hosts 1, 2, 3 and 5."""

from __future__ import annotations

from collections.abc import Iterable

MOST_HOSTS = 10**6  # a range of more is a slip of the pen, and would fill the memory


def parse_hosts(text: str) -> list[int]:
    """The hosts in increasing order, each once; a `ValueError` says what cannot be read."""
    return read_hosts(text)[0]


def read_hosts(text: str) -> tuple[list[int], bool]:
    """The same, and whether the text is as `hosts_text` would write it."""
    hosts: list[int] = []
    in_order = canonical = True
    last = -2
    for part in text.split(" "):
        first, dash, end = part.partition("-")
        if not (first.isdigit() and first.isascii() and (not dash or (end.isdigit() and end.isascii()))):
            raise ValueError(f"'{part}' is neither a number nor a range of numbers such as 1-3")
        begin = int(first)
        canonical &= begin > last + 1 and (first[0] != "0" or len(first) == 1)
        in_order &= begin > last
        if not dash:
            hosts.append(begin)
            last = begin
            continue
        last = int(end)
        if last < begin or last > MOST_HOSTS:
            raise ValueError(f"'{part}' is not a range of hosts")
        canonical &= last > begin and end[0] != "0"
        hosts.extend(range(begin, last + 1))
    return (hosts if in_order else sorted(set(hosts))), canonical


def hosts_text(hosts: Iterable[int]) -> str:
    """The other way round; `hosts` are in increasing order."""
    parts: list[str] = []
    begin = last = -2
    for host in hosts:
        if host == last + 1:
            last = host
            continue
        if begin >= 0:
            parts.append(f"{begin}-{last}" if last > begin else str(begin))
        begin = last = host
    if begin >= 0:
        parts.append(f"{begin}-{last}" if last > begin else str(begin))
    return " ".join(parts)
