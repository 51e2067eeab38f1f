"""Patches, by hand and against the examples of their RFCs."""

from __future__ import annotations

from typing import Any

import pytest

from schedlab.bridge.kubernetes.patches import json_patch, merge_patch, strategic_merge
from schedlab.bridge.kubernetes.status import StatusError

# Appendix A of RFC 7386.
RFC_7386: list[tuple[Any, Any, Any]] = [
    ({"a": "b"}, {"a": "c"}, {"a": "c"}),
    ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
    ({"a": "b"}, {"a": None}, {}),
    ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
    ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
    ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
    ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
    ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
    (["a", "b"], ["c", "d"], ["c", "d"]),
    ({"a": "b"}, ["c"], ["c"]),
    ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
    ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
    ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
]


@pytest.mark.parametrize(("found", "patch", "result"), RFC_7386)
def test_merge_patches(found: Any, patch: Any, result: Any) -> None:
    assert merge_patch(found, patch) == result


# Appendix A of RFC 6902.
RFC_6902: list[tuple[Any, list[dict[str, Any]], Any]] = [
    ({"foo": "bar"}, [{"op": "add", "path": "/baz", "value": "qux"}], {"baz": "qux", "foo": "bar"}),
    (
        {"foo": ["bar", "baz"]},
        [{"op": "add", "path": "/foo/1", "value": "qux"}],
        {"foo": ["bar", "qux", "baz"]},
    ),
    ({"baz": "qux", "foo": "bar"}, [{"op": "remove", "path": "/baz"}], {"foo": "bar"}),
    ({"foo": ["bar", "qux", "baz"]}, [{"op": "remove", "path": "/foo/1"}], {"foo": ["bar", "baz"]}),
    ({"baz": "qux"}, [{"op": "replace", "path": "/baz", "value": "boo"}], {"baz": "boo"}),
    (
        {"foo": {"bar": "baz", "waldo": "fred"}, "qux": {"corge": "grault"}},
        [{"op": "move", "from": "/foo/waldo", "path": "/qux/thud"}],
        {"foo": {"bar": "baz"}, "qux": {"corge": "grault", "thud": "fred"}},
    ),
    (
        {"foo": ["all", "grass", "cows", "eat"]},
        [{"op": "move", "from": "/foo/1", "path": "/foo/3"}],
        {"foo": ["all", "cows", "eat", "grass"]},
    ),
    (
        {"baz": "qux", "foo": ["a", 2, "c"]},
        [{"op": "test", "path": "/baz", "value": "qux"}, {"op": "test", "path": "/foo/1", "value": 2}],
        {"baz": "qux", "foo": ["a", 2, "c"]},
    ),
    (
        {"foo": "bar"},
        [{"op": "add", "path": "/child", "value": {"grandchild": {}}}],
        {"foo": "bar", "child": {"grandchild": {}}},
    ),
    ({"/": 9, "~1": 10}, [{"op": "test", "path": "/~01", "value": 10}], {"/": 9, "~1": 10}),
    ({"foo": ["bar"]}, [{"op": "add", "path": "/foo/-", "value": ["abc", "def"]}], {"foo": ["bar", ["abc", "def"]]}),
    ({"a": 1}, [{"op": "copy", "from": "/a", "path": "/b"}], {"a": 1, "b": 1}),
]


@pytest.mark.parametrize(("found", "patch", "result"), RFC_6902)
def test_json_patches(found: Any, patch: Any, result: Any) -> None:
    before = repr(found)
    assert json_patch(found, patch) == result
    assert repr(found) == before


@pytest.mark.parametrize(
    ("patch", "code"),
    [
        ([{"op": "test", "path": "/a", "value": 2}], 422),
        ([{"op": "remove", "path": "/b"}], 422),
        ([{"op": "replace", "path": "/b", "value": 1}], 422),
        ([{"op": "add", "path": "/l/5", "value": 1}], 422),
        ([{"op": "add", "path": "/l/-1", "value": 1}], 422),
        ([{"op": "add", "path": "/a/b", "value": 1}], 422),
        ([{"op": "add", "path": "b", "value": 1}], 422),
        ([{"op": "add", "path": "/b"}], 422),
        ([{"op": "move", "path": "/b"}], 422),
        ([{"op": "remove", "path": ""}], 422),
        ([{"op": "fly", "path": "/a"}], 422),
        ([{"op": "add"}], 400),
        ([3], 400),
        ({"op": "add"}, 400),
    ],
)
def test_json_patches_that_cannot_be(patch: Any, code: int) -> None:
    with pytest.raises(StatusError) as caught:
        json_patch({"a": 1, "l": [1, 2]}, patch)
    assert caught.value.code == code


def test_a_strategic_merge_joins_lists_by_their_keys() -> None:
    found = {
        "status": {"conditions": [{"type": "A", "status": "1"}, {"type": "B", "status": "1", "reason": "old"}]},
        "spec": {"containers": [{"name": "c", "image": "x", "args": ["1"]}], "nodeSelector": {"a": "b"}},
    }
    patch = {
        "status": {"conditions": [{"type": "B", "status": "2"}, {"type": "C", "status": "3"}]},
        "spec": {"containers": [{"name": "c", "args": ["2"]}], "nodeSelector": {"c": "d"}},
    }
    assert strategic_merge(found, patch) == {
        "status": {
            "conditions": [
                {"type": "A", "status": "1"},
                {"type": "B", "status": "2", "reason": "old"},
                {"type": "C", "status": "3"},
            ]
        },
        "spec": {"containers": [{"name": "c", "image": "x", "args": ["2"]}], "nodeSelector": {"a": "b", "c": "d"}},
    }


@pytest.mark.parametrize(
    ("found", "patch", "result"),
    [
        (
            {"taints": [{"key": "a"}, {"key": "b"}]},
            {"taints": [{"key": "a", "$patch": "delete"}]},
            {"taints": [{"key": "b"}]},
        ),
        ({"taints": [{"key": "a"}]}, {"taints": [{"key": "b"}, {"$patch": "replace"}]}, {"taints": [{"key": "b"}]}),
        ({"taints": [{"key": "a"}]}, {"taints": None}, {}),
        ({"m": {"a": 1, "b": 2}}, {"m": {"$patch": "replace", "c": 3}}, {"m": {"c": 3}}),
        ({"m": {"a": 1, "b": 2}}, {"m": {"$retainKeys": ["b"], "b": 4}}, {"m": {"b": 4}}),
        ({"finalizers": ["a"]}, {"finalizers": ["b", "a"]}, {"finalizers": ["a", "b"]}),
        ({"finalizers": ["a", "b"]}, {"$deleteFromPrimitiveList/finalizers": ["a"]}, {"finalizers": ["b"]}),
        ({"tolerations": [{"key": "a"}]}, {"tolerations": [{"key": "b"}]}, {"tolerations": [{"key": "b"}]}),
        (
            {"conditions": [{"type": "A"}]},
            {"$setElementOrder/conditions": [{"type": "A"}], "conditions": [{"type": "A", "x": 1}]},
            {"conditions": [{"type": "A", "x": 1}]},
        ),
    ],
)
def test_directives_of_strategic_merges(found: Any, patch: Any, result: Any) -> None:
    assert strategic_merge(found, patch) == result


def test_an_element_without_its_key_is_a_mistake() -> None:
    with pytest.raises(StatusError, match="no type, by which"):
        strategic_merge({}, {"conditions": [{"status": "True"}]})
