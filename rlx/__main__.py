"""The `rlx` command: `python -m rlx` and the console script."""

import signal
import sys

TERMINATED = 128 + signal.SIGTERM
"""The exit code that shells expect of what was asked to end."""


def main() -> None:
    """Run the command line and exit with its code."""
    from rlx.cli.app import run

    # By itself Python ends at once, and leaves temporary folders and children behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
