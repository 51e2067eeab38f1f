"""`schedlab serve-policy`: a policy of ours drives another simulator."""

from __future__ import annotations

from typing import Annotated

import typer


def serve_policy(
    policy: Annotated[
        str,
        typer.Argument(
            metavar="POLICY",
            help="Any policy, as [b]schedlab run --policy[/b] has it: [b]easy[/b], [b]conservative:order=sjf[/b], "
            "[b]mine.py:Mine[/b]; [b]schedlab policies[/b] lists them.",
            show_default=False,
        ),
    ],
    socket: Annotated[
        str, typer.Option("--socket", "-s", metavar="ENDPOINT", help="Where to listen for the simulator (ZeroMQ).")
    ] = "tcp://127.0.0.1:28000",
) -> None:
    """Let a policy drive a simulator that speaks Batsim's protocol, for one simulation.

    [b]schedlab serve-policy easy --socket tcp://127.0.0.1:28000[/b]   and then   [b]batsim -p platform.xml -w workload.json -e out/[/b]
    """  # noqa: E501 - commands that can be copied
    from schedlab.analysis.written import duration
    from schedlab.bridge.batsim.serve import serve_policy as serve
    from schedlab.cli.output import console, messages
    from schedlab.policy.spec import parse_policy

    text = parse_policy(policy).text  # a mistake is said now, not when the simulator comes
    served = serve(
        text, socket, lambda place: messages().print(f"{text} listens at {place}", style="dim", soft_wrap=True)
    )
    console().print(
        f"{text}: {served.submitted:,} jobs in {duration(served.time)}, {served.started:,} started, "
        f"{served.rejected:,} rejected, {served.messages:,} messages answered",
        soft_wrap=True,
    )
