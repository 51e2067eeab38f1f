"""Orders as expressions: what they compile to, and what the core makes of that."""

from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.native_keys import native_key
from tests.oracle.jobs import random_key

from schedlab.model.errors import InputError
from schedlab.model.request import Request
from schedlab.policy.expression import COLUMNS, FUNCTIONS, LARGEST_SEED, compile_expression, is_dynamic

# It comes at 1 and starts at 101.
WAITING = {"submit": 1, "runtime": 50, "limit": 60, "count": 4, "user": 9, "group": 10, "queue": 11}
EACH = Request({"cores": 2, "memory": 3, "gpus": 5})
JOB = {
    "submit": 1.0,
    "eligible": 1.0,
    "estimate": 50.0,
    "limit": 60.0,
    "cores": 8.0,
    "count": 4.0,
    "memory": 12.0,
    "gpus": 20.0,
    "user": 9.0,
    "group": 10.0,
    "queue": 11.0,
    "wait": 100.0,
    "now": 101.0,
    "waiting": 1.0,
    "fill": 1.0,  # of the 8 cores that are free then
    "promised": 101.0,  # after the job before it
    "sequence": 1.0,
    "user_usage": 0.0,  # another one's job has run
    "group_usage": 0.0,
    "machine": 8.0,
}


def key(text: str) -> float:
    """By the core."""
    return native_key(text, WAITING, EACH, start=101)


def test_every_column_has_its_value() -> None:
    assert JOB.keys() == set(COLUMNS)
    assert {name: key(name) for name in COLUMNS} == JOB


def test_programs() -> None:
    def program(text: str) -> tuple[tuple[str, float], ...]:
        return compile_expression(text)[1]

    assert program("cores") == (("cores", 0.0),)
    assert program("-cores * 2") == (("cores", 0.0), ("neg", 0.0), ("const", 2.0), ("*", 0.0))
    assert program("1 - cores / 2") == (
        *(("const", 1.0), ("cores", 0.0), ("const", 2.0)),
        *(("/", 0.0), ("-", 0.0)),
    )
    assert program("max(1, cores, sqrt(count))") == (
        *(("const", 1.0), ("cores", 0.0), ("max", 0.0)),
        *(("count", 0.0), ("sqrt", 0.0), ("max", 0.0)),
    )
    assert program("random(7)") == (("const", 7.0), ("sequence", 0.0), ("mix", 0.0))
    assert program("+cores") == program("(cores)") == program("cores")


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        (" - cores  *\testimate ", "-cores*estimate"),
        ("max( cores ,2)*( estimate )", "max(cores,2)*estimate"),
        ("(cores + 1) * 2", "(cores+1)*2"),
        ("1_000 + 1e3", "1000+1000.0"),
    ],
)
def test_canonical_text(text: str, canonical: str) -> None:
    assert compile_expression(text)[0] == canonical
    assert compile_expression(canonical) == compile_expression(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2 + 3 * 4", 14),
        ("(2 + 3) * 4", 20),
        ("2 - 3 - 4", -5),
        ("-2**2", -4),  # Python's precedence: -(2**2)
        ("2**3**2", 512),
        ("2**-1", 0.5),
        ("8 / 4 / 2", 1),
        ("min(3, 1, 2)", 1),
        ("max(3, 1, 7)", 7),
        ("abs(-cores)", 8),
        ("sqrt(16) + log2(8) + log10(1000) + log(1) + exp(0) + floor(2.9)", 13),
        ("floor(-2.1)", -3),
        ("cores * estimate", 400),
        ("-(wait + estimate) / max(estimate, 1)", -3),
        ("0.5 + .5", 1),
    ],
)
def test_values(text: str, value: float) -> None:
    assert key(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 / 0", math.inf),
        ("-1 / 0", -math.inf),
        ("1 / -(0)", -math.inf),  # IEEE zeros have signs
        ("0 / 0", math.inf),  # not a number, which counts as +infinity
        ("-(0 / 0)", math.inf),
        ("sqrt(-1)", math.inf),
        ("log(0)", -math.inf),
        ("log10(-1)", math.inf),
        ("exp(1000)", math.inf),
        ("-exp(1000)", -math.inf),
        ("10**1000", math.inf),
        ("(-10)**1001", -math.inf),
        ("(-10)**1000", math.inf),
        ("0**-1", math.inf),
        ("(-(0))**-1", -math.inf),
        ("(-8)**(1/3)", math.inf),
        ("floor(1/0)", math.inf),
        ("1 / floor(-(0))", -math.inf),
        ("1e308 * 10 - 1e308 * 10", math.inf),
    ],
)
def test_nothing_raises(text: str, value: float) -> None:
    assert key(text) == value


@pytest.mark.parametrize("text", ["min(1, 0/0)", "min(0/0, 1)", "max(1, 0/0)", "max(0/0, 1)"])
def test_min_and_max_prefer_a_number(text: str) -> None:
    assert key(text) == 1


SPECIAL = (0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 1e200, -1e200, 1e-200, math.inf, -math.inf, math.nan)


def same(one: float, other: float) -> bool:
    """Equal to the last bit and the sign of a zero; any two that are not numbers are equal."""
    return (math.isnan(one) and math.isnan(other)) or struct.pack("d", one) == struct.pack("d", other)


def written(number: float) -> str:
    """As an expression, which has neither infinity nor what is not a number."""
    if math.isnan(number):
        return "(0/0)"
    size = "(1/0)" if math.isinf(number) else repr(abs(number))
    return f"(-{size})" if math.copysign(1.0, number) < 0 else size


@pytest.mark.parametrize("x", SPECIAL)
def test_corner_cases_are_those_of_the_c_library(x: float) -> None:
    libm = ctypes.CDLL("libm.so.6")
    for name in ("pow", "fmin", "fmax", "sqrt", "log", "log2", "log10", "exp", "floor"):
        getattr(libm, name).restype = ctypes.c_double

    def expect(text: str, value: float) -> None:
        assert same(key(text), math.inf if math.isnan(value) else value), text

    a, one = ctypes.c_double(x), written(x)
    for y in SPECIAL:
        b, other = ctypes.c_double(y), written(y)
        expect(f"{one} ** {other}", libm.pow(a, b))
        if x != y:  # which zero fmin(0, -0) gives is left open
            expect(f"min({one}, {other})", libm.fmin(a, b))
            expect(f"max({one}, {other})", libm.fmax(a, b))
        with np.errstate(all="ignore"):
            expect(f"{one} / {other}", float(np.float64(x) / np.float64(y)))
    for name in ("sqrt", "log", "log2", "log10", "exp", "floor"):
        expect(f"{name}({one})", getattr(libm, name)(a))


@given(st.integers(0, LARGEST_SEED))
def test_random_keys_are_those_of_splitmix64(seed: int) -> None:
    assert 0 <= key(f"random({seed})") == random_key(seed, sequence=1) < 1


def test_dynamic() -> None:
    for text, dynamic in {"wait": True, "cores + now": True, "eligible": False, "random(3)": False}.items():
        assert is_dynamic(compile_expression(text)[1]) is dynamic


@pytest.mark.parametrize(
    ("text", "problem", "pointed", "hint"),
    [
        ("2 * cors", "there is no column 'cors'", "cors", "did you mean 'cores'? columns: submit, eligible"),
        ("2 * sqr(cores)", "there is no function 'sqr'", "sqr", "did you mean 'sqrt'?"),
        ("2 * max", "'max' is a function", "max", "functions: min, max"),
        ("1 + max(cores)", "max takes two values or more, not 1", "max(cores)", "write max(x, y)"),
        ("1 + sqrt(1, 2)", "sqrt takes one value, not 2", "sqrt(1, 2)", "write sqrt(x)"),
        ("1 + random()", "random takes a seed", "random()", "write random(7)"),
        ("random(cores)", "random takes a seed", "random(cores)", "write random(7)"),
        ("random(1.5)", "random takes a seed", "random(1.5)", "write random(7)"),
        (f"random({2**53})", "random takes a seed", f"random({2**53})", "write random(7)"),
        ("cores ^ 2", "'^' has no place in an expression", "^", "a power is written **"),
        ("cores // 2", "'//' is not an operator here", "cores // 2", "write floor(a / b)"),
        ("cores % 2", "'%' has no place in an expression", "%", "operators: + - * / **"),
        ("cores # 2", "'#' has no place in an expression", "#", "operators"),
        ("cöres", "'ö' has no place in an expression", "ö", "columns"),
        ("1e999", "this number is too large", "1e999", "smaller"),
        ("9" * 400, "this number is too large", "9" * 400, "smaller"),
        ("1 + 2j", "this cannot be part of an expression", "2j", "columns"),
        ("1 + True", "this cannot be part of an expression", "True", "columns"),
        ("1 + cores.real", "this cannot be part of an expression", "cores.real", "columns"),
        ("1 if cores else 2", "this cannot be part of an expression", "1 if cores else 2", "columns"),
        ("cores, 2", "this cannot be part of an expression", "cores, 2", "columns"),
        ("max(*cores, 2)", "this cannot be part of an expression", "*cores", "columns"),
        ("cores 2", "this cannot be understood", "2", "columns"),
        ("cores + * 2", "this cannot be understood", "*", "columns"),
    ],
)
def test_mistakes_are_pointed_at(text: str, problem: str, pointed: str, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        compile_expression(text)
    message, source, pointer = caught.value.message.split("\n")
    assert problem in message
    assert source.strip() == text
    start = pointer.index("^")
    assert source[start : start + pointer.count("^")] == pointed
    assert hint in caught.value.hint


def test_something_missing_at_the_end() -> None:
    with pytest.raises(InputError, match=r"this cannot be understood\n    cores \+\n           \^"):
        compile_expression("cores + ")


@pytest.mark.parametrize("text", ["", "  ", "-" * 900 + "1", "(" * 300 + "1" + ")" * 300, "1+(" * 32 + "1" + ")" * 32])
def test_empty_and_too_deep(text: str) -> None:
    with pytest.raises(InputError):
        compile_expression(text)


def test_as_deep_as_the_native_stack() -> None:
    assert key("1+(" * 31 + "1" + ")" * 31) == 32


@pytest.mark.parametrize("text", ["1" + "+1" * 2000, "x" * 1001])
def test_too_long(text: str) -> None:
    with pytest.raises(InputError, match="longer than 1000 characters"):
        compile_expression(text)


@given(st.text("cores+*/-()., 123e**\n#'\"[]^%=_abswaitnow√", max_size=30))
def test_any_text_is_compiled_or_refused(text: str) -> None:
    try:
        canonical, program = compile_expression(text)
    except InputError as error:
        assert error.hint
    else:
        assert compile_expression(canonical) == (canonical, program)
        assert not math.isnan(key(text))


NUMBERS = st.one_of(st.integers(0, 50).map("{}.0".format), st.floats(0.5, 50).map("{:.3f}".format))
LEAVES = st.one_of(NUMBERS, st.sampled_from(COLUMNS))
EXPRESSIONS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from(["+", "-", "*", "/", "**"]), inner),
        st.builds("{} {} {}".format, inner, st.sampled_from(["+", "-", "*", "/"]), inner),
        st.builds("-{}".format, inner),
        st.builds("{}({})".format, st.sampled_from(["abs", "sqrt", "log", "log2", "log10", "exp", "floor"]), inner),
        st.builds("{}({}, {}, {})".format, st.sampled_from(["min", "max"]), inner, inner, inner),
    ),
    max_leaves=8,
)


def _better(choose: Callable[..., float]) -> Callable[..., float]:
    return lambda *values: choose((value for value in values if not math.isnan(value)), default=math.nan)


# fabs, since abs would make a number of what is complex in Python and not a number here.
PYTHON = {name: getattr(math, name, None) for name in FUNCTIONS} | {
    "min": _better(min),
    "max": _better(max),
    "abs": math.fabs,
}


@given(EXPRESSIONS)
def test_the_core_computes_what_python_does(text: str) -> None:
    canonical, program = compile_expression(text)
    assert compile_expression(canonical) == (canonical, program)
    found = key(text)
    try:
        expected = float(eval(text, {"__builtins__": {}}, {**PYTHON, **JOB}))
    except (ArithmeticError, ValueError, TypeError):
        return  # Python refuses what IEEE defines
    assert found == (math.inf if math.isnan(expected) else expected)
