"""Readers of cluster descriptions."""

from schedlab.cluster.read import read_cluster

__all__ = ["read_cluster"]
