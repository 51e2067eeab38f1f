from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.native_keys import native_key
from tests.oracle.jobs import evaluate

from schedlab.model.errors import InputError
from schedlab.model.request import SINGLE_CORE
from schedlab.policy.backfills import BACKFILLS, KEYS
from schedlab.policy.catalogue import catalogue
from schedlab.policy.estimates import LARGEST_FACTOR, Estimate, parse_estimate
from schedlab.policy.orders import ORDERS, Order, parse_order
from schedlab.policy.placements import PLACEMENTS, Placement, parse_placement
from schedlab.policy.spec import PolicySpec, parse_policy

SEMANTICS = Path(__file__).parents[2] / "docs" / "semantics.md"
FCFS = Order("fcfs", (("eligible", 0.0),), dynamic=False)
SJF = Order("sjf", (("estimate", 0.0),), dynamic=False)


def test_easy() -> None:
    assert parse_policy("easy") == PolicySpec("easy", "easy", FCFS, None, Placement("first-fit"), False, None, 1)


def test_every_key() -> None:
    text = "easy:reservations=3, depth=10, nodes=exclusive, place=random(4), scan=sjf, order=lxf"
    spec = parse_policy(text)
    assert str(spec) == "easy:order=lxf,scan=sjf,place=random(4),nodes=exclusive,depth=10,reservations=3"
    assert (spec.backfill, spec.order.text, spec.scan) == ("easy", "lxf", SJF)
    assert (spec.place, spec.exclusive, spec.depth, spec.reservations) == (Placement("random", 4), True, 10, 3)
    assert spec.order.dynamic


@pytest.mark.parametrize(
    ("text", "canonical", "folder"),
    [
        ("easy", "easy", "easy"),
        ("fcfs", "fcfs", "fcfs"),
        ("none", "fcfs", "fcfs"),
        ("none:order=fcfs", "fcfs", "fcfs"),
        ("none:order=sjf", "sjf", "sjf"),
        ("none:place=best-fit", "none:place=best-fit", "none-place=best-fit"),
        (" easy : order = sjf , place=best-fit ", "easy:order=sjf,place=best-fit", "easy-order=sjf,place=best-fit"),
        ("random", "random(0)", "random-0"),
        ("random( 3 )", "random(3)", "random-3"),
        ("easy:place=random", "easy:place=random(0)", "easy-place=random-0"),
        ("skip:order=random(7),place=random(2)",) * 2 + ("skip-order=random-7,place=random-2",),
        ("easy:order=sjf,scan=sjf", "easy:order=sjf", "easy-order=sjf"),
        ("easy:nodes=shared,reservations=1,place=first-fit,order=fcfs", "easy", "easy"),
        ("skip:depth=0", "skip:depth=0", "skip-depth=0"),
        ("easy-strict:scan=saf", "easy-strict:scan=saf", "easy-strict-scan=saf"),
        ("reject", "reject", "reject"),
    ],
)
def test_canonical_text_and_folder(text: str, canonical: str, folder: str) -> None:
    spec = parse_policy(text)
    assert (str(spec), spec.folder) == (canonical, folder)
    assert parse_policy(canonical) == spec


def test_commas_in_parentheses_belong_to_the_value() -> None:
    spec = parse_policy("easy:order=max(cores, min(count, 2)) * estimate,depth=3")
    assert str(spec) == "easy:order=max(cores,min(count,2))*estimate,depth=3"
    assert spec.depth == 3


def test_folders_of_expressions_differ_and_are_friendly() -> None:
    texts = ["cores*2", "cores/2", "cores**2", "-cores*2", "max(cores,2)", "+".join(["cores"] * 40)]
    folders = [parse_policy(f"easy:order={text}").folder for text in texts]
    assert len(set(folders)) == len(folders)
    assert folders[0].startswith("easy-order=cores_2-")
    for folder in folders:
        assert re.fullmatch(r"[A-Za-z0-9=,._-]{1,110}", folder)
        assert folder[0] not in ".-"


def test_hand_computed_keys() -> None:
    job = {"submit": 1000, "runtime": 100, "limit": 100, "count": 4}  # it waits for 200 s
    expected = {
        "fcfs": 1000.0,
        "sjf": 100.0,
        "ljf": -100.0,
        "smallest": 4.0,
        "largest": -4.0,
        "saf": 400.0,
        "lxf": -3.0,  # (200 + 100) / 100
        "wfp3": -32.0,  # 2**3 * 4
        "unicef": -1.0,  # 200 / (2 * 100)
        "f1": 2618.0,  # 2 * 4 + 870 * 3
        "f2": 76_840.0,  # 10 * 4 + 25600 * 3
        "f3": 20_580_400.0,  # 400 + 6860000 * 3
        "f4": 1_590_200.0,  # 100 * 2 + 530000 * 3
        "filler": -0.5,  # it takes all 4 free cores, it is the only one that waits, and the second of the workload
    }
    assert list(expected) == list(ORDERS)
    for name, key in expected.items():
        order = parse_order(name)
        assert native_key(name, job, SINGLE_CORE, start=1200) == pytest.approx(key, rel=1e-15)
        assert order.dynamic == (name in ("lxf", "wfp3", "unicef", "filler"))


def test_small_jobs_do_not_break_an_order() -> None:
    job = {"submit": 0.0, "eligible": 0.0, "estimate": 0.0, "cores": 0.0, "wait": 0.0, "now": 0.0}
    job |= {"fill": 0.0, "waiting": 1.0, "sequence": 0.0}
    for name in ORDERS:
        assert evaluate(ORDERS[name].formula, job) == 0.0


def test_the_documentation_has_the_table_of_orders() -> None:
    rows = re.findall(r"^\| `([a-z0-9]+)` \| `([^`]+)` \|", SEMANTICS.read_text(), re.MULTILINE)
    documented = [row for row in rows if row[0] in ORDERS]
    assert documented == [(order.name, order.formula) for order in ORDERS.values()]


def test_the_documentation_names_everything() -> None:
    text = SEMANTICS.read_text()
    for name in BACKFILLS:
        assert f"**{name}**" in text
    for name in (*PLACEMENTS, *KEYS, "limit", "exact", "last-two", "user-mean", "nearest"):
        assert re.search(rf"`{name}(?:\(seed\)|\(k\)|=[^`]*)?`", text), name


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("esy", "there is no policy 'esy'", "did you mean 'easy'? backfills: none, skip, easy"),
        ("EASY", "there is no policy 'EASY'", "did you mean 'easy'?"),
        ("sfj", "there is no policy 'sfj'", "did you mean 'sjf'?"),
        ("conservativ:order=sjf", "there is no policy 'conservativ'", "did you mean 'conservative'?"),
        ("", "the policy is empty", "backfills: none, skip, easy"),
        ("-cores*estimate", "there is no policy", "write none:order=-cores*estimate"),
        ("easy-strct", "there is no policy 'easy-strct'", "did you mean 'easy-strict'?"),
        ("random(x)", "there is no policy 'random(x)'", "random(seed)"),
        ("sjf:place=best-fit", "'sjf' is an order", "write none:order=sjf,place=best-fit"),
        ("easy:ordr=sjf", "there is no key 'ordr'", "did you mean 'order'? easy takes order, scan, place, nodes"),
        ("skip:scan=sjf", "skip has no key 'scan'", "skip takes order, place, nodes, depth"),
        ("none:depth=3", "none has no key 'depth'", "none takes order, place, nodes"),
        (
            "easy-strict:reservations=2",
            "easy-strict has no key 'reservations'",
            "takes order, scan, place, nodes, depth",
        ),
        ("conservative:scan=sjf", "conservative has no key 'scan'", "conservative takes order, place, nodes"),
        ("reject:order=sjf", "reject has no key 'order'", "reject takes no keys"),
        ("easy:", "found nothing where key=value was expected", "easy:order=sjf"),
        ("easy:order=sjf,", "found nothing where key=value was expected", "easy:order=sjf"),
        ("easy:order", "found 'order' where key=value was expected", "easy:order=sjf"),
        ("easy:order=", "found 'order=' where key=value was expected", "easy:order=sjf"),
        ("easy:order=sjf,order=sjf", "the key 'order' appears twice", "once"),
        ("easy:order=max(cores,2", "a '(' without its ')'", "every ( needs its )"),
        ("easy:order=2),depth=3", "a ')' too many", "every ( needs its )"),
        ("easy:depth=-1", "depth: '-1' is not a whole number from 0", "depth=100"),
        ("easy:depth=many", "depth: 'many' is not a whole number from 0", "depth=100"),
        ("easy:depth=99999999999", "depth: '99999999999' is not a whole number", "depth=100"),
        ("easy:reservations=0", "reservations: '0' is not a whole number from 1", "reservations="),
        ("easy:nodes=exclusiv", "nodes: 'exclusiv' is not", "did you mean 'exclusive'?"),
        (
            "easy:place=bestfit",
            "place: there is no placement 'bestfit'",
            "did you mean 'best-fit'? placements: first-fit",
        ),
        ("easy:place=random(x)", "place: 'random(x)' does not name a seed", "random(7)"),
        ("easy:place=random(99999999999999999999)", "does not name a seed", "random(7)"),
        ("easy:place=spread(2)", "spread takes no parameter", "write spread"),
        ("easy:order=sjff", "order: there is no order 'sjff'", "did you mean 'sjf'? orders: fcfs, sjf"),
        ("easy:order=estimat", "order: there is no order 'estimat'", "did you mean 'estimate'?"),
        ("easy:scan=random(-1)", "scan: random takes a seed", "random(7)"),
        ("easy:order=2*cors", "order: there is no column 'cors'\n    2*cors\n      ^^^^", "did you mean 'cores'?"),
    ],
)
def test_mistakes(text: str, message: str, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_policy(text)
    assert message in caught.value.message
    assert hint in caught.value.hint
    assert caught.value.where == f"policy '{text}'"


ORDER_TEXTS = st.one_of(
    st.sampled_from([*ORDERS, "random"]),
    st.integers(0, 2**53 - 1).map(lambda seed: f"random({seed})"),
    st.sampled_from(["-cores*estimate", "max(cores, 2) * (wait+1)", "sequence", "1e30", "-(-now)**2 / .5"]),
)
PLACE_TEXTS = st.one_of(st.sampled_from(list(PLACEMENTS)), st.integers(0, 99).map(lambda seed: f"random({seed})"))
VALUES = {
    "every": st.sampled_from(["30s", "60"]),
    "backfill_every": st.sampled_from(["120", "2min"]),
    "keys_every": st.sampled_from(["5min", "0.5"]),
    "half_life": st.sampled_from(["14d", "7d"]),
    "order": ORDER_TEXTS,
    "scan": ORDER_TEXTS,
    "place": PLACE_TEXTS,
    "nodes": st.sampled_from(["shared", "exclusive"]),
    "depth": st.integers(0, 1000).map(str),
    "reservations": st.integers(1, 100).map(str),
    "backfill": st.just("easy"),
    "fraction": st.sampled_from(["1/2", "1/4", "0.5", "2/3"]),
    "threshold": st.just("0"),
}


@st.composite
def policies(draw: st.DrawFn) -> str:
    backfill = draw(st.sampled_from(list(BACKFILLS.values())))
    keys = draw(st.permutations([key.name for key in backfill.keys]))
    chosen = keys[: draw(st.integers(0, len(keys)))]
    items = ",".join(f"{key}={draw(VALUES[key])}" for key in chosen)
    return f"{backfill.name}:{items}" if items else backfill.name


@given(policies())
def test_the_canonical_text_means_the_same(text: str) -> None:
    spec = parse_policy(text)
    assert parse_policy(str(spec)) == spec
    assert hash(parse_policy(str(spec))) == hash(spec)
    assert re.fullmatch(r"[A-Za-z0-9=,._-]+", spec.folder)


@given(st.text("easynorder:=,()sjf-random1*2 ", max_size=30))
def test_any_text_is_understood_or_refused(text: str) -> None:
    try:
        spec = parse_policy(text)
    except InputError as error:
        assert error.hint
        assert error.where
    else:
        assert parse_policy(str(spec)) == spec


def test_placements() -> None:
    assert parse_placement(" random ( 12 ) ") == Placement("random", 12)
    assert {name: str(parse_placement(name)) for name in PLACEMENTS} == {
        name: "random(0)" if name == "random" else name for name in PLACEMENTS
    }


@pytest.mark.parametrize(
    ("text", "estimate", "canonical"),
    [
        ("limit", Estimate("limit"), "limit"),
        ("exact", Estimate("exact"), "exact"),
        ("last-two", Estimate("last-two"), "last-two"),
        ("limit*0.5", Estimate("limit", 0.5), "limit*0.5"),
        (" limit × 2 ", Estimate("limit", 2.0), "limit*2"),
        ("limit*1.0", Estimate("limit"), "limit"),
        ("limit*1e-3", Estimate("limit", 0.001), "limit*0.001"),
    ],
)
def test_estimates(text: str, estimate: Estimate, canonical: str) -> None:
    assert parse_estimate(text) == estimate
    assert str(estimate) == canonical


@given(st.floats(min_value=0, exclude_min=True, max_value=LARGEST_FACTOR))
def test_an_estimate_reads_back(factor: float) -> None:
    estimate = Estimate("limit", factor)
    assert parse_estimate(str(estimate)) == estimate


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("limits", "there is no such estimate", "did you mean 'limit'? estimates: limit, limit*F, exact, last-two"),
        ("last-tow", "there is no such estimate", "did you mean 'last-two'?"),
        ("", "there is no such estimate", "estimates: limit"),
        ("0.5*limit", "there is no such estimate", "estimates: limit"),
        ("limit*0", "the factor is not a number above 0", "limit*0.5"),
        ("limit*-1", "the factor is not a number above 0", "limit*0.5"),
        ("limit*x", "the factor is not a number above 0", "limit*0.5"),
        ("limit*1.2.3", "the factor is not a number above 0", "limit*0.5"),
        ("limit*1e999", "the factor is not a number above 0", "limit*0.5"),
        ("limit*", "the factor is not a number above 0", "limit*0.5"),
    ],
)
def test_estimates_that_do_not_exist(text: str, message: str, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_estimate(text)
    assert message in caught.value.message
    assert hint in caught.value.hint
    assert caught.value.where == f"estimate '{text}'"


def test_catalogue() -> None:
    entries = catalogue()
    assert {entry.kind for entry in entries} == {"backfill", "order", "placement", "estimate"}
    assert len({(entry.kind, entry.name) for entry in entries}) == len(entries) == 7 + 18 + 7 + 6
    for entry in entries:
        assert entry.summary
        assert "\n" not in entry.summary
        if entry.kind == "order":
            assert entry.formula
    easy = next(entry for entry in entries if entry.name == "easy")
    assert [key.name for key in easy.parameters] == [
        *("order", "scan", "place", "nodes", "depth", "reservations"),
        *("backfill_every", "every", "keys_every", "half_life"),
    ]


def test_importing_a_policy_brings_no_large_library() -> None:
    code = "import sys, schedlab.policy.spec; print({'numpy', 'polars', 'pydantic', 'matplotlib'} & {*sys.modules})"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "set()"
