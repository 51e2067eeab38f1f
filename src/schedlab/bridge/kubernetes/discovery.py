"""What the server says of itself: which groups, versions and resources there are."""

from __future__ import annotations

from typing import Any

from schedlab.bridge.kubernetes.kinds import KINDS, VERBS, Kind
from schedlab.bridge.kubernetes.messages import Response
from schedlab.bridge.kubernetes.status import StatusError
from schedlab.bridge.kubernetes.store import encode

# The release whose API is served. Clients compare it with their own.
RELEASE = "v1.35.0"


def answer(path: str) -> Response:
    """To a path that leads to no object."""
    plain = path.strip("/")
    if plain in ("healthz", "livez", "readyz"):
        return Response(200, b"ok", "text/plain; charset=utf-8")
    found = _document(plain)
    if found is None:
        raise StatusError(404, "the server could not find the requested resource")
    return Response(200, encode(found))


def _document(path: str) -> dict[str, Any] | None:
    groups: dict[str, list[str]] = {}  # the versions of each, the preferred one first
    for kind in KINDS:
        versions = groups.setdefault(kind.group, [])
        versions += [kind.version] if kind.version not in versions else []
    if path == "version":
        major, minor, _ = RELEASE[1:].split(".")
        return {
            "major": major,
            "minor": minor,
            "gitVersion": f"{RELEASE}+schedlab",
            "gitCommit": "",
            "gitTreeState": "clean",
            "buildDate": "1970-01-01T00:00:00Z",
            "goVersion": "",
            "compiler": "",
            "platform": "",
        }
    if path == "":
        return {
            "paths": ["/api", "/api/v1", "/apis", *(f"/apis/{name}" for name in groups if name), "/healthz", "/version"]
        }
    if path == "openapi/v3":
        served = ["api/v1", *(f"apis/{name}/{one}" for name, versions in groups.items() if name for one in versions)]
        return {"paths": {one: {"serverRelativeURL": f"/openapi/v3/{one}"} for one in served}}
    if path.startswith("openapi/v3/"):
        return _schema(path.removeprefix("openapi/v3/"))
    if path == "api":
        return {"kind": "APIVersions", "apiVersion": "v1", "versions": ["v1"], "serverAddressByClientCIDRs": []}
    if path == "apis":
        named = [_group(name, versions) for name, versions in groups.items() if name]
        return {"kind": "APIGroupList", "apiVersion": "v1", "groups": named}
    if path == "api/v1":
        return _resources("v1")
    head, _, rest = path.partition("/")
    if head != "apis":
        return None
    if rest in groups:
        return {"kind": "APIGroup", "apiVersion": "v1", **_group(rest, groups[rest])}
    group, _, version = rest.partition("/")
    return _resources(rest) if group and version in groups.get(group, ()) else None


def _schema(path: str) -> dict[str, Any] | None:
    """No more than kubectl looks for: that it may leave the checking of fields to the server."""
    group_version = path.removeprefix("apis/") if path.startswith("apis/") else path.removeprefix("api/")
    found = {
        f"/{path}/{kind.plural}/{{name}}": {
            "patch": {
                "parameters": [{"name": "fieldValidation", "in": "query", "schema": {"type": "string"}}],
                "x-kubernetes-group-version-kind": {"group": kind.group, "kind": kind.name, "version": kind.version},
            }
        }
        for kind in KINDS
        if kind.group_version == group_version
    }
    head = {"openapi": "3.0.0", "info": {"title": "schedlab", "version": RELEASE}}
    return {**head, "paths": found} if found else None


def _group(name: str, versions: list[str]) -> dict[str, Any]:
    served = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions]
    return {"name": name, "versions": served, "preferredVersion": served[0]}


def _resources(group_version: str) -> dict[str, Any]:
    found = [entry for kind in KINDS if kind.group_version == group_version for entry in _entries(kind)]
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version, "resources": found}


def _entries(kind: Kind) -> list[dict[str, Any]]:
    whole: dict[str, Any] = {
        "name": kind.plural,
        "singularName": kind.name.lower(),
        "namespaced": kind.namespaced,
        "kind": kind.name,
        "verbs": list(VERBS),
    }
    if kind.short:
        whole["shortNames"] = list(kind.short)
    if kind.plural == "pods":
        whole["categories"] = ["all"]
    parts = [
        {
            "name": f"{kind.plural}/{part}",
            "singularName": "",
            "namespaced": kind.namespaced,
            "kind": {"binding": "Binding", "eviction": "Eviction"}.get(part, kind.name),
            "verbs": ["create"] if part in ("binding", "eviction") else ["get", "patch", "update"],
        }
        for part in kind.subresources
    ]
    return [whole, *parts]
