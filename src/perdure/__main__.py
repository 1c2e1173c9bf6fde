"""The installed command: a hook starts in milliseconds, everything else by `surfaces/cli/main.py`."""

from __future__ import annotations

import sys


def run() -> None:
    """Run this process's command line; never returns."""
    if len(sys.argv) > 1 and sys.argv[1] == "hook" and not {"--help", "-h"} & set(sys.argv[2:]):
        from perdure.contrib.assistants.client import main

        main(sys.argv[2:])
    from perdure.surfaces.cli.main import run as run_command

    run_command()


if __name__ == "__main__":
    run()
