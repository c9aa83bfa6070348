"""The command ``azimuth``: the program that the Rust build calls ``azimuth``."""

import signal
import sys

from ._native import run_program


def main() -> None:
    """Runs the program with the command line of this process, and exits."""
    # Python's handler would only set a flag, which nobody reads while the program runs.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(run_program(["azimuth", *sys.argv[1:]]))
