"""`schedlab kube submit`: the same jobs on a real cluster, in real time."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from schedlab.cli.kube_options import OUTPUT, Force, Out, WorkloadOption, pods_reading, print_run
from schedlab.cli.options import BadRows, MissingLimit, OnBadRows, Reader, reading_options
from schedlab.model.errors import InputError

SLEEPER = "busybox"


def submit(
    kubeconfig: Annotated[
        Path, typer.Option(metavar="FILE", help="Where the cluster is, and as whom.", show_default=False)
    ],
    workload: WorkloadOption,
    out: Out = None,
    force: Force = False,
    namespace: Annotated[str, typer.Option(help="Where the pods are created.")] = "default",
    scheduler: Annotated[str, typer.Option(help="The scheduler of pods that name none.")] = "default-scheduler",
    image: Annotated[str, typer.Option(help="An image that has [b]sleep[/b].")] = SLEEPER,
    speed: Annotated[float, typer.Option(help="Jobs come, and run, so many times as fast.")] = 1.0,
    until: Annotated[
        str | None, typer.Option(metavar="TIME", help="Give up after that, real time.", show_default=False)
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", metavar="", help="Print errors only.", rich_help_panel=OUTPUT)
    ] = False,
    missing_limit: MissingLimit = "runtime",
    bad_rows: OnBadRows = BadRows.fail,
    reader: Reader = None,
) -> None:
    """Run jobs on a real cluster in real time: each is a pod that sleeps; leaves a run folder like any other.

    [b]schedlab kube submit --kubeconfig ~/.kube/config --workload w.json --out real[/b]
    """
    import msgspec

    from schedlab.bridge.kubernetes.accounting import accounted
    from schedlab.bridge.kubernetes.happened import as_it_happened
    from schedlab.bridge.kubernetes.pods import PodMaker, PodSettings
    from schedlab.bridge.kubernetes.submit import RealCluster, Submission
    from schedlab.cli.output import say, warn
    from schedlab.cluster.kubernetes import cluster_of
    from schedlab.engine.folder import check_target
    from schedlab.engine.simulate import simulate
    from schedlab.model.units import parse_duration
    from schedlab.workload.read import read_workload

    if not 0 < speed < float("inf"):
        raise InputError(f"cannot be {speed:g}", where="--speed", hint="a number above 0")
    if out is not None:
        check_target(out, force)
    reading = reading_options("none", "requested", missing_limit, bad_rows, reader)
    jobs = read_workload(workload, **pods_reading(workload, reading))
    settings = PodSettings(namespace=namespace, scheduler=scheduler)
    real = RealCluster(kubeconfig)
    cluster = cluster_of(msgspec.json.decode(real.nodes), kubeconfig.stem, str(kubeconfig))
    counted, machine = accounted(jobs, cluster)
    submission = Submission(real, PodMaker(counted, settings), counted, image, speed)
    if not quiet:
        say(f"{len(submission):,} jobs on {cluster.nodes:,} nodes, in real time")
    submission.run(say, float("inf") if until is None else parse_duration(until, where="--until"))
    lives = submission.lives()
    seen, policy = as_it_happened(counted, lives, f"kubernetes ({scheduler}, in real time)")
    policy.files = {"pods.csv": submission.table(), "nodes.json": real.nodes}
    run = simulate(seen, machine, policy, out=out, force=force)
    if never := [life for life in lives.values() if life.started is None or life.ended is None]:
        warn(f"{len(never):,} jobs did not come to their end, and are rejected in the run")
    if not quiet:
        print_run(run, out)
