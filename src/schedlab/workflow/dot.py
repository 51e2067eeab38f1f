"""Edges of a graph in the DOT language of Graphviz, as far as manifests use it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from schedlab.model.errors import InputError
from schedlab.model.mistakes import printable

_TOKEN = re.compile(
    r"""(?P<skip>\s*^[ \t]*\#[^\n]*|\s+|//[^\n]*|/\*.*?\*/)
    |(?P<quoted>"(?:\\.|[^"\\])*")
    |(?P<arrow>->|--)
    |(?P<attributes>\[(?:"(?:\\.|[^"\\])*"|[^\]"])*\])
    |(?P<word>[A-Za-z0-9_.\x80-\U0010ffff-]+?(?=->|--|[^A-Za-z0-9_.\x80-\U0010ffff-]|$))
    |(?P<mark>[{};,=:])""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_KEYWORDS = ("strict", "graph", "digraph", "node", "edge", "subgraph")


def edges_of(text: str, where: str) -> list[tuple[str, str]]:
    """Each once, in the order of the text; `a -> b -> c` are two. Attributes and names of graphs do not matter."""
    head, brace, body = text.partition("{")
    if not brace or not re.match(r"\s*(strict\s+)?digraph\b", head):
        raise InputError("this is no graph of DOT: expected digraph { a -> b; … }", where=where)
    found: dict[tuple[str, str], None] = {}
    before = ""  # the node on the left
    arrow = False
    for kind, token in _tokens(body, where):
        if kind == "arrow":
            if token == "--" or not before or arrow:
                raise InputError(f"an edge without its task, near '{token}'", where=where, hint="write a -> b")
            arrow = True
        elif kind == "node":
            if arrow:
                found.setdefault((before, token))
            before, arrow = token, False
        elif arrow:
            raise InputError(f"an edge ends at '{token}', expected a task", where=where, hint="write a -> b; a -> c")
        elif token != "[":
            before = ""
    if arrow:
        raise InputError(f"the edge from {printable(before, 60)} has no end", where=where)
    return list(found)


def _tokens(body: str, where: str) -> Iterator[tuple[str, str]]:
    """Nodes, arrows and what separates them; settings (`rankdir=LR`) are left out."""
    plain: list[tuple[str, str]] = []
    position = 0
    while position < len(body):
        match = _TOKEN.match(body, position)
        if match is None:
            raise InputError(f"'{printable(body[position : position + 20])}' is not DOT", where=where)
        position = match.end()
        kind, token = str(match.lastgroup), match.group()
        if kind == "quoted":
            plain.append(("node", re.sub(r"\\(.)", r"\1", token[1:-1])))
        elif kind == "word":
            plain.append(("mark", ";") if token in _KEYWORDS else ("node", token))
        elif kind != "skip":
            plain.append(("mark", "[") if kind == "attributes" else (kind, token))
    place = 0
    while place < len(plain):
        if plain[place + 1 : place + 2] == [("mark", "=")]:
            place += 3
            yield "mark", ";"
        else:
            yield plain[place]
            place += 1
