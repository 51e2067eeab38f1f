"""Every regular expression of ours takes time in proportion to the text: whoever writes the text cannot stop us.

They are found in the source, so that a new one is tried too. What each is tried with comes from its own parts: what it
repeats, many times, behind what leads there and before what it refuses. Expressions of pyarrow, polars and DuckDB need
no such test: their engines (RE2, Rust's regex) are linear whatever the expression.
"""

from __future__ import annotations

import ast
import importlib
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import pytest

import schedlab

ROOT = Path(schedlab.__file__).parent
ANYWHERE = {"search", "sub", "subn", "split", "findall", "finditer"}  # which begin at every place of the text
AT_THE_START = {"match", "fullmatch"}
# Characters: an exponential expression is seen at the first ones, a cubic one at the next, a quadratic one takes
# seconds for the last.
LENGTHS = (12, 16, 20, 24, 600, 2_000, 20_000)
SLOW = 0.1  # seconds of processor time: a linear one takes a hundredth of that

# Expressions that a function is given, by the file and how it writes them there: where they come from.
GIVEN = {
    ("slurm/accounts/read_dump.py", "f'{quote}\\\\s*(?=:|$|#)'"): lambda: [r"'\s*(?=:|$|#)"],
    ("analysis/machine.py", "f'[:,]{setting}(,|$)'"): lambda: [r"[:,]nodes=exclusive(,|$)"],
    ("experiment/sweep.py", "_ARGUMENT.format(re.escape(name))"): lambda: [
        module("experiment/sweep.py")._ARGUMENT.format("a")
    ],
    ("model/toml_fields.py", "pattern"): lambda: constants_given_to("text"),
    ("workload/foreign.py", "content"): lambda: [known[1] for known in module("workload/foreign.py")._KNOWN],
    ("workload/foreign.py", "called"): lambda: [known[2] for known in module("workload/foreign.py")._KNOWN],
    ("workload/sacct/rows.py", "pattern"): lambda: list(module("workload/sacct/rows.py")._PATTERNS.values()),
    # Of a mapping that a user writes for his own tables: it is his, as the text is.
    ("workload/table/columns.py", "column.pattern"): list,
    ("workload/table/toml.py", "value"): list,
}
UNKNOWN: list[str] = []
# Of JavaScript: what is between two slashes behind a bracket or an equals sign.
LITERAL = re.compile(r"[(=]\s*/((?:[^/\\\[\n]|\\.|\[(?:[^\]\\]|\\.)*\])+)/[a-z]*\s*[.,)]")


@dataclass(frozen=True)
class Expression:
    where: str
    pattern: str | bytes
    flags: int
    anywhere: bool  # it is looked for at every place of a text

    def __str__(self) -> str:
        return f"{self.where}: {self.pattern!r}"


def module(file: str) -> Any:
    name = ".".join(("schedlab", *Path(file).with_suffix("").parts)).removesuffix(".__init__")
    return importlib.import_module(name)


def sources() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(ROOT.rglob("*.py")):
        yield str(path.relative_to(ROOT)), ast.parse(path.read_text())


def constants_given_to(function: str) -> list[str]:
    return [
        node.args[0].value
        for _, tree in sources()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == function
        if node.args and isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str)
    ]


def expressions() -> list[Expression]:
    """All of the package's own, in Python and in the pages."""
    found = []
    for file, tree in sources():
        users = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr in ANYWHERE]
        tried_anywhere = {node.value.id for node in users if isinstance(node.value, ast.Name)}
        named, kept = {}, {}  # expressions with a name, and those in a dictionary
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                named[node.value] = node.targets[0].id
                kept |= dict.fromkeys(ast.walk(node.value), node.targets[0].id)
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            if not isinstance(node.func.value, ast.Name) or node.func.value.id != "re" or not node.args:
                continue
            method = node.func.attr
            if method not in {"compile"} | ANYWHERE | AT_THE_START:
                continue
            anywhere = method in ANYWHERE
            if method == "compile" and node in named and named[node].startswith("_"):
                anywhere = named[node] in tried_anywhere
            elif method == "compile":  # known elsewhere, or by another name
                private = node in kept and kept[node].startswith("_")
                anywhere = not private or any(
                    user.attr != "split" and ast.unparse(user.value) != "re" for user in users
                )
            flags = next((value(file, word.value) for word in node.keywords if word.arg == "flags"), None)
            place = {"compile": 1, "match": 2, "fullmatch": 2, "search": 2, "findall": 2, "finditer": 2}.get(method)
            if flags is None:
                flags = value(file, node.args[place]) if place is not None and len(node.args) > place else 0
            where = f"{file}, line {node.lineno}"
            found += [Expression(where, one, int(flags), anywhere) for one in patterns(file, node.args[0])]
    for path in sorted((ROOT / "web" / "static").glob("*.js")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            where = f"web/static/{path.name}, line {number}"
            found += [Expression(where, pattern, 0, True) for pattern in LITERAL.findall(line)]
    return list({(one.pattern, one.flags, one.anywhere): one for one in reversed(found)}.values())


def value(file: str, node: ast.expr) -> Any:
    return eval(compile(ast.Expression(node), file, "eval"), {**vars(module(file))})


def patterns(file: str, node: ast.expr) -> list[str | bytes]:
    if (given := GIVEN.get((file, ast.unparse(node)))) is not None:
        return given()
    try:
        return [value(file, node)]
    except NameError:
        UNKNOWN.append(f"{file}, line {node.lineno}: which expressions can {ast.unparse(node)} be? Add it to GIVEN")
        return []


# ---- texts to try an expression with ----


def samples(items: Any, flags: int) -> list[str]:
    """A few texts that the parsed expression matches."""
    found = [""]
    for code, argument in items:
        ways = list(dict.fromkeys(_ways(code, argument, flags)))[:4]
        found = [before + way for before in found for way in ways][:6]
    return found


def _ways(code: Any, argument: Any, flags: int) -> list[str]:
    if code is codes.LITERAL:
        return [chr(argument)]
    if code is codes.NOT_LITERAL:
        return ["a" if argument != ord("a") else "b"]
    if code is codes.ANY:
        return ["a", " "]
    if code is codes.IN:
        return _members(argument)
    if code is codes.SUBPATTERN:
        return samples(argument[3], flags)
    if code is codes.BRANCH:
        return [text for branch in argument[1] for text in samples(branch, flags)]
    if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
        least, most, body = argument
        return [text * times for times in {max(least, min(1, most)), least} for text in samples(body, flags)]
    if code is codes.ATOMIC_GROUP:
        return samples(argument, flags)
    return [""]  # assertions, references to groups


_CLASSES = {
    codes.CATEGORY_DIGIT: "7",
    codes.CATEGORY_SPACE: " \n",
    codes.CATEGORY_WORD: "a7",
    codes.CATEGORY_NOT_DIGIT: "a ",
    codes.CATEGORY_NOT_SPACE: "a7",
    codes.CATEGORY_NOT_WORD: " -",
}


def _members(argument: Any) -> list[str]:
    if argument[0][0] is codes.NEGATE:
        refused = re.compile(_text_of(argument))
        return [one for one in "a7 \n-\"'(é" if refused.fullmatch(one)][:4]
    found = []
    for code, what in argument:
        if code is codes.LITERAL:
            found.append(chr(what))
        elif code is codes.RANGE:
            found.append(chr(what[0]))
        elif code is codes.CATEGORY:
            found.extend(_CLASSES[what])
    return found


def _text_of(members: Any) -> str:
    parts = []
    for code, what in members:
        if code is codes.NEGATE:
            parts.append("^")
        elif code is codes.LITERAL:
            parts.append(re.escape(chr(what)))
        elif code is codes.RANGE:
            parts.append(f"{re.escape(chr(what[0]))}-{re.escape(chr(what[1]))}")
        elif code is codes.CATEGORY:
            letter = str(what).rpartition("_")[2][0]
            parts.append("\\" + (letter.upper() if "NOT" in str(what) else letter.lower()))
    return f"[{''.join(parts)}]"


def repeats(items: Any, flags: int, before: str = "") -> Iterator[tuple[str, str]]:
    """What may be repeated without end, and what leads there."""
    for code, argument in items:
        inside: list[Any] = []
        if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            most, body = argument[1:]
            if most > 1000:
                for unit in samples(body, flags):
                    yield before, unit
            inside = [body]
        elif code is codes.SUBPATTERN:
            inside = [argument[3]]
        elif code is codes.BRANCH:
            inside = argument[1]
        elif code is codes.ATOMIC_GROUP:
            inside = [argument]
        elif code in (codes.ASSERT, codes.ASSERT_NOT):
            inside = [argument[1]]
        for part in inside:
            yield from repeats(part, flags, before)
        before += next(iter(_ways(code, argument, flags)), "")


def attacks(expression: Expression) -> Iterator[tuple[str, str, str]]:
    """Beginnings, what is repeated, and ends."""
    pattern = expression.pattern
    text = pattern.decode("latin-1") if isinstance(pattern, bytes) else pattern
    parsed = parser.parse(text, expression.flags)
    own = list(repeats(parsed, expression.flags))
    letters = dict.fromkeys([*(char for char in text if not char.isalnum()), *" \n\ta70-,'\"[](){}\\:=.#é"])
    units = {unit: before for before, unit in reversed(own) if unit}
    units |= {unit + other: before for before, unit in own for _, other in own[:4] if unit and other and unit != other}
    units |= {unit + letter: before for before, unit in own[:4] for letter in letters if unit}
    units |= {whole: "" for whole in samples(parsed, expression.flags) if whole}
    units |= {letter: units.get(letter, "") for letter in letters}
    for unit, before in units.items():
        for start in {"", before}:
            for end in ("", "\0", "!\n"):
                yield start, unit, end


def seconds(expression: Expression, compiled: re.Pattern[Any], attack: tuple[str, str, str], length: int) -> float:
    start, unit, end = attack
    text: Any = start + unit * (length // len(unit)) + end
    text = text.encode("latin-1", "replace") if isinstance(expression.pattern, bytes) else text
    begin = time.process_time()
    if expression.anywhere:
        for _ in compiled.finditer(text):
            pass
    else:
        compiled.match(text)
        compiled.fullmatch(text)
    return time.process_time() - begin


def slow_with(expression: Expression) -> str | None:
    """The text, in a few words, for which the time grows faster than the text; None if there is none."""
    compiled: re.Pattern[Any] = re.compile(expression.pattern, expression.flags)
    for attack in attacks(expression):
        for length in LENGTHS:
            if (twice := seconds(expression, compiled, attack, length)) > SLOW:  # what follows is looked at with care
                twice = min(twice, seconds(expression, compiled, attack, length)) if twice < 10 * SLOW else twice
                once = seconds(expression, compiled, attack, length // 2)
                if twice > SLOW / 2 and twice > 3 * once:
                    start, unit, end = attack
                    return (
                        f"{start!r} + {unit!r} * {length // len(unit)} + {end!r}: {twice:.3f} s, {once:.3f} s for half"
                    )
                break
    return None


FOUND = expressions()


def test_they_are_found() -> None:
    assert not UNKNOWN
    assert len(FOUND) > 200
    assert any("static" in expression.where for expression in FOUND)
    names = {
        alias.name
        for _, tree in sources()
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    assert "regex" not in names
    others = [
        node
        for _, tree in sources()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "re"
    ]
    renamed = [
        alias
        for _, tree in sources()
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.name == "re" and alias.asname
    ]
    assert not others and not renamed  # they would not be seen here


@pytest.mark.parametrize("expression", FOUND, ids=str)
def test_linear(expression: Expression) -> None:
    assert (found := slow_with(expression)) is None, found


@pytest.mark.parametrize("pattern", [r"\s+$", r"(a+)+b", r".*x", r"(\w|a)*!", r"a*a*b", r"(?:a|ab)*c\Z|\d+x"])
def test_what_is_not_linear_is_seen(pattern: str) -> None:
    assert slow_with(Expression("here", pattern, 0, True)) is not None
