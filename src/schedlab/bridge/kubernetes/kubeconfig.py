"""Kubeconfigs: where an API server is, and as whom it is spoken to."""

from __future__ import annotations

from pathlib import Path

from schedlab.files.whole_file import whole_file

NAME = "schedlab"


def address(host: str, port: int) -> str:
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}"


def kubeconfig(host: str, port: int) -> str:
    """For clients of ours: no secrets, no encryption, since it is on this machine.

    The server is its own proxy, because Kubernetes' client in Go, where there is neither encryption nor a proxy, keeps
    only two connections and makes a new one for nearly every request; with a proxy it keeps 25.
    """
    return f"""apiVersion: v1
kind: Config
clusters:
- name: {NAME}
  cluster:
    server: {address(host, port)}
    proxy-url: {address(host, port)}
    disable-compression: true
users:
- name: {NAME}
  user: {{}}
contexts:
- name: {NAME}
  context:
    cluster: {NAME}
    user: {NAME}
current-context: {NAME}
"""


def write_kubeconfig(path: Path, host: str, port: int) -> None:
    with whole_file(path) as file:
        file.write(kubeconfig(host, port).encode())
