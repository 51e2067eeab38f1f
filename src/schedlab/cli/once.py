"""Commands whose options take one value and are given once: a second value must not win without a word."""

from __future__ import annotations

from collections import Counter
from typing import Any

from typer.core import TyperCommand, TyperOption

from schedlab.model.errors import InputError


class OnceCommand(TyperCommand):
    """A command that refuses an option which is given again, unless it may be (`--policy A --policy B`)."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not ctx.resilient_parsing:
            _, _, order = self.make_parser(ctx).parse_args(args=list(args))
            given = Counter(option for option in order if _takes_one_value(option))
            for option, times in given.items():
                if times > 1:
                    hint = "give it once; to compare several, make several runs, or a study (schedlab experiment)"
                    raise InputError(f"is given {times} times, and takes one value", where=option.opts[0], hint=hint)
        found: list[str] = super().parse_args(ctx, args)
        return found


def _takes_one_value(option: object) -> bool:
    return isinstance(option, TyperOption) and not (option.multiple or option.is_flag or option.count)
