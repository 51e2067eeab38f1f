from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedlab.model.errors import InputError
from schedlab.model.units import BYTE_UNITS, format_bytes, format_duration, parse_bytes, parse_duration, parse_share


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("192 GiB", 206_158_430_208),
        ("64GB", 64_000_000_000),
        ("64gb", 64_000_000_000),
        (" 512 MiB ", 536_870_912),
        ("1.5 TiB", 1_649_267_441_664),
        (".5 KiB", 512),
        ("0.1 GiB", 107_374_182),  # 107374182.4
        ("1e3 kB", 1_000_000),
        ("7 B", 7),
        ("7", 7),
        (7, 7),
        (0, 0),
        ("9223372036854775807", 2**63 - 1),
    ],
)
def test_bytes(text: str | int, amount: int) -> None:
    assert parse_bytes(text) == amount


@pytest.mark.parametrize(
    "text",
    [
        *("", "GiB", "12 XB", "12 G", "-1", "-1 GB", "1 2 GB", "1,5 GB", "0.5", "0.5 B", "nan", "inf", "1e999 GB"),
        *("8 EiB", "9" * 5000, pytest.param(10**5000, id="huge"), 2**63, -1, True, 1.5, None, "１ GB"),
    ],
)
def test_bytes_refuses(text: object) -> None:
    with pytest.raises(InputError) as caught:
        parse_bytes(text, where="here")  # type: ignore[arg-type]
    assert str(caught.value).startswith("here: ")
    assert caught.value.hint


def test_a_letter_alone_is_not_guessed() -> None:
    with pytest.raises(InputError, match=r"write '64 GiB' .* or '64 GB'"):
        parse_bytes("64 g")
    with pytest.raises(InputError, match=r"write '64 KiB' .* or '64 kB'"):
        parse_bytes("64K")


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (206_158_430_208, "192 GiB"),
        (64_000_000_000, "64 GB"),
        (1_649_267_441_664, "1.5 TiB"),
        (1_073_741_824_000, "1000 GiB"),
        (1_500_000, "1.5 MB"),
        (107_374_182, "102.4 MiB"),
        (999, "999 B"),
        (0, "0 B"),
        (-2048, "-2 KiB"),
    ],
)
def test_format_bytes(amount: int, text: str) -> None:
    assert format_bytes(amount) == text


@given(st.integers(0, 2**62))
def test_formatted_bytes_read_back_nearly(amount: int) -> None:
    assert math.isclose(parse_bytes(format_bytes(amount)), amount, rel_tol=0.005)


@given(st.integers(1, 999), st.sampled_from(sorted(BYTE_UNITS)))
def test_whole_units_read_back_exactly(number: int, unit: str) -> None:
    amount = number * BYTE_UNITS[unit]
    if amount < 2**63:
        assert parse_bytes(format_bytes(amount)) == amount


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("4h", 14_400),
        ("90 s", 90),
        ("90", 90),
        ("1d12h", 129_600),
        ("1 d 12 h", 129_600),
        ("1 day 12 hours", 129_600),
        ("2w", 1_209_600),
        ("1.5 hours", 5_400),
        ("250 ms", 0.25),
        ("1h30m15s", 5_415),
        ("30 MIN", 1_800),
        (90, 90),
        (0.5, 0.5),
        ("0", 0),
    ],
)
def test_duration(text: str | float, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    "text",
    [
        *("", "  ", "h", "4x", "4h 4h", "1d 12", "12 1d", "-4h", "1:30:00", "4h,", "inf", "1e999", "9" * 100),
        *(math.inf, math.nan, -1, pytest.param(10**5000, id="huge"), True, None),
    ],
)
def test_duration_refuses(text: object) -> None:
    with pytest.raises(InputError) as caught:
        parse_duration(text, where="here")  # type: ignore[arg-type]
    assert str(caught.value).startswith("here: ")
    assert "4h" in caught.value.hint


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (129_600, "1d 12h"),
        (90, "1m 30s"),
        (0, "0s"),
        (0.25, "0.25s"),
        (59.9999, "1m"),
        (86_400 * 400, "400d"),
        (-90, "-1m 30s"),
        (math.inf, "inf"),
    ],
)
def test_format_duration(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text


@given(st.integers(0, 10**10))
def test_formatted_whole_seconds_read_back(seconds: int) -> None:
    assert parse_duration(format_duration(seconds)) == seconds


def test_a_year_has_365_days() -> None:
    assert parse_duration("1y") == 365 * 86_400
    assert parse_duration("1 year 2d") == 367 * 86_400


@pytest.mark.parametrize(("text", "share"), [("50%", 0.5), ("0.5", 0.5), (0.25, 0.25), ("150 %", 1.5)])
def test_shares(text: str | float, share: float) -> None:
    assert parse_share(text) == share


@pytest.mark.parametrize("text", ["half", "-1%", "%", "nan", ""])
def test_what_is_no_share(text: str) -> None:
    with pytest.raises(InputError, match="is not a share"):
        parse_share(text, where="--thin")
