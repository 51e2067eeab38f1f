"""Kubernetes: an API server over a simulated cluster, for kube-scheduler and everything else that speaks its API."""
