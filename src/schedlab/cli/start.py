"""Where every `schedlab …` begins. `schedlab batsim` can be a program of its own, which needs none of the imports."""

from __future__ import annotations

import os
import sys


def main() -> None:
    # Arrow's own allocator keeps what columns of a row group needed, once for each size: twice the memory, no faster.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    if sys.argv[1:2] == ["batsim"]:
        from schedlab.cli.batsim_program import take_our_place

        take_our_place(sys.argv[2:])
    from schedlab.model.little_memory import be_careful, shortage

    be_careful()
    try:
        from schedlab.cli.main import main as command_line

        command_line()
    except Exception as error:
        said = shortage(error)
        if said is None:
            raise
        sys.stderr.write(f"error: {said}\n")  # there may be no memory for the libraries that print
        sys.exit(said.exit_code)
