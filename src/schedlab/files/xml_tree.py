"""XML as a tree that knows its lines. Entities are refused, nothing outside the file is ever opened."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from schedlab.files.bytestream import ByteStream
from schedlab.model.errors import InputError

MOST_NESTED = 200


@dataclass(slots=True)
class Element:
    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list)


def read_xml(path: Path) -> Element:
    """The root of a file. Blank lines above the XML declaration, which XML forbids, are common and harmless."""
    data = b"".join(ByteStream(path)).removeprefix(b"\xef\xbb\xbf")
    text = data.lstrip()
    skipped = data[: len(data) - len(text)].count(b"\n")
    top = Element("", {}, 0)
    parser = _parser(path, top, skipped)
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        where = f"{path}, line {error.lineno + skipped}, column {error.offset + 1}"
        raise InputError(f"is not XML: {expat.ErrorString(error.code)}", where=where) from None
    except (ValueError, LookupError) as error:  # an encoding that is not known
        raise InputError(f"is not XML that can be read: {error}", where=str(path)) from None
    return top.children[0]


def _parser(path: Path, top: Element, skipped: int) -> expat.XMLParserType:
    parser = expat.ParserCreate()
    stack = [top]

    def line() -> int:
        return parser.CurrentLineNumber + skipped

    def doctype(_name: str, _system: str | None, _public: str | None, has_internal_subset: bool) -> None:
        if has_internal_subset:
            raise InputError(
                "the DOCTYPE declares things of its own (an internal subset)",
                where=f"{path}, line {line()}",
                hint="entities are not read: write out what they stand for, and remove the [ … ] of the DOCTYPE",
            )

    def start(tag: str, attributes: dict[str, str]) -> None:
        if len(stack) > MOST_NESTED:
            raise InputError(f"elements are nested more than {MOST_NESTED} deep", where=f"{path}, line {line()}")
        element = Element(tag, attributes, line())
        stack[-1].children.append(element)
        stack.append(element)

    def end(_tag: str) -> None:
        stack.pop()

    parser.StartDoctypeDeclHandler = doctype
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    return parser
