"""Orders as expressions of job columns: `-cores * estimate` becomes a small postfix program for the native evaluator.

A program is a tuple of (operation, number); the number matters for `const` only. The other operations push a column
(`cores`), or replace what is on the stack (`+`, `neg`, `sqrt`, `mix`, …). Precedence is Python's.
"""

from __future__ import annotations

import ast
import re
import warnings
from typing import NoReturn

from schedlab.model.errors import InputError
from schedlab.model.suggest import did_you_mean

Program = tuple[tuple[str, float], ...]

COLUMNS = (
    *("submit", "eligible", "estimate", "limit", "cores", "count", "memory", "gpus"),
    *("user", "group", "queue", "wait", "now", "waiting", "fill", "promised", "sequence"),
    *("user_usage", "group_usage", "machine"),
)
DYNAMIC = frozenset({"wait", "now", "waiting", "fill", "user_usage", "group_usage"})  # change while a job waits
UNARY_FUNCTIONS = ("abs", "sqrt", "log", "log2", "log10", "exp", "floor")
BINARY_FUNCTIONS = ("min", "max")
FUNCTIONS = (*BINARY_FUNCTIONS, *UNARY_FUNCTIONS, "random", "aged")

DEEPEST_STACK = 32  # kStack of native/order.cpp
LONGEST_TEXT = 1000
LARGEST_SEED = 2**53 - 1  # a program carries numbers as float64

_OPERATORS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}
_BINARY = frozenset({*_OPERATORS.values(), *BINARY_FUNCTIONS, "mix"})
_STRANGE = re.compile(r"[^A-Za-z0-9_+*/()., -]")
_AVAILABLE = f"columns: {', '.join(COLUMNS)}; functions: {', '.join(FUNCTIONS)}; operators: + - * / ** ( )"


def compile_expression(text: str) -> tuple[str, Program]:
    """The canonical text of an expression, and its program."""
    source = " ".join(text.split())
    if not source:
        raise InputError("the expression is empty", hint=_AVAILABLE)
    if len(source) > LONGEST_TEXT:
        raise InputError(f"the expression is longer than {LONGEST_TEXT} characters", hint="write a shorter one")
    compiler = _Compiler(source)
    try:
        tree = compiler.parse()
        compiler.add(tree)
        canonical = ast.unparse(tree).replace(" ", "")
    except (RecursionError, MemoryError):
        raise InputError("the expression is nested too deeply", hint="write a simpler one") from None
    program = tuple(compiler.program)
    if _stack_depth(program) > DEEPEST_STACK:
        raise InputError("the expression is nested too deeply", hint="write a simpler one")
    return canonical, program


def is_dynamic(program: Program) -> bool:
    """Whether keys change while jobs wait, and are computed anew at every pass."""
    return any(operation in DYNAMIC for operation, _ in program)


class _Compiler:
    """Walks the syntax tree of one expression, and points at what it does not know."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.program: list[tuple[str, float]] = []

    def parse(self) -> ast.expr:
        if strange := _STRANGE.search(self.source):
            hint = "a power is written **" if strange.group() == "^" else _AVAILABLE
            self.fail(f"'{strange.group()}' has no place in an expression", strange.start(), strange.end(), hint)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # Python's own advice on style
                return ast.parse(self.source, mode="eval").body
        except SyntaxError as error:
            # Python counts from 1; where something is missing at the end, it has no place to name.
            start = error.offset - 1 if error.offset else len(self.source)
            self.fail("this cannot be understood", min(start, len(self.source)), start + 1, _AVAILABLE)

    def add(self, node: ast.expr) -> None:
        match node:
            case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
                self.constant(node, value)
            case ast.Name(id=name) if name in COLUMNS:
                self.emit(name)
            case ast.Name(id=name):
                hint = did_you_mean(name, COLUMNS, _AVAILABLE)
                problem = (
                    f"'{name}' is a function; it needs (…)" if name in FUNCTIONS else f"there is no column '{name}'"
                )
                self.fail_at(node, problem, hint)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                self.add(operand)
                self.emit("neg")
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                self.add(operand)
            case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _OPERATORS:
                self.add(left)
                self.add(right)
                self.emit(_OPERATORS[type(operator)])
            case ast.BinOp(op=ast.FloorDiv()):
                self.fail_at(node, "'//' is not an operator here", "write floor(a / b)")
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
                self.call(node, name, arguments)
            case _:
                self.fail_at(node, "this cannot be part of an expression", _AVAILABLE)

    def constant(self, node: ast.expr, value: int | float) -> None:
        try:
            number = float(value)
        except OverflowError:
            number = float("inf")
        if number == float("inf"):
            self.fail_at(node, "this number is too large", "write a smaller one")
        self.emit("const", number)

    def call(self, node: ast.Call, name: str, arguments: list[ast.expr]) -> None:
        if name == "random":
            self.random(node, arguments)
        elif name == "aged":
            self.aged(node, arguments)
        elif name in UNARY_FUNCTIONS:
            if len(arguments) != 1:
                self.fail_at(node, f"{name} takes one value, not {len(arguments)}", f"write {name}(x)")
            self.add(arguments[0])
            self.emit(name)
        elif name in BINARY_FUNCTIONS:
            if len(arguments) < 2:
                self.fail_at(node, f"{name} takes two values or more, not {len(arguments)}", f"write {name}(x, y)")
            self.add(arguments[0])
            for argument in arguments[1:]:
                self.add(argument)
                self.emit(name)
        else:
            self.fail_at(node.func, f"there is no function '{name}'", did_you_mean(name, FUNCTIONS, _AVAILABLE))

    def random(self, node: ast.Call, arguments: list[ast.expr]) -> None:
        match arguments:
            case [ast.Constant(value=seed)] if type(seed) is int and 0 <= seed <= LARGEST_SEED:
                self.emit("const", float(seed))
                self.emit("sequence")
                self.emit("mix")
            case _:
                hint = f"write random(7): a whole number from 0 to {LARGEST_SEED}"
                self.fail_at(node, "random takes a seed", hint)

    def aged(self, node: ast.Call, arguments: list[ast.expr]) -> None:
        match arguments:
            case [ast.Constant(value=int() | float() as seconds)] if 0 < seconds < float("inf"):
                self.emit("aged", float(seconds))
            case _:
                self.fail_at(node, "aged takes a time above 0 in seconds", "write aged(604800)")

    def emit(self, operation: str, number: float = 0.0) -> None:
        self.program.append((operation, number))

    def fail_at(self, node: ast.expr, problem: str, hint: str) -> NoReturn:
        # The source is ASCII, so that the tree's byte offsets are positions of characters.
        self.fail(problem, node.col_offset, node.end_col_offset or node.col_offset + 1, hint)

    def fail(self, problem: str, start: int, end: int, hint: str) -> NoReturn:
        pointer = " " * start + "^" * max(end - start, 1)
        raise InputError(f"{problem}\n    {self.source}\n    {pointer}", hint=hint)


def _stack_depth(program: Program) -> int:
    depth = deepest = 0
    for operation, _ in program:
        if operation in ("const", "aged") or operation in COLUMNS:
            depth += 1
        elif operation in _BINARY:
            depth -= 1
        deepest = max(deepest, depth)
    return deepest
