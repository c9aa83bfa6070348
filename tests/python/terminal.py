"""Starts a program in a terminal, types the lines after --, and prints the program's output."""

import os
import pty
import sys

separator = sys.argv.index("--")
program, lines = sys.argv[1:separator], sys.argv[separator + 1 :]
process, terminal = pty.fork()
if process == 0:
    os.execv(program[0], program)
shown = b""


def read():
    """The next output of the program; empty when it has ended."""
    try:
        return os.read(terminal, 4096)
    except OSError:
        return b""


for line in lines:
    # The program writes before the first line and after each line.
    shown += read()
    os.write(terminal, line.encode() + b"\n")
while part := read():
    shown += part
os.waitpid(process, 0)
sys.stdout.write(shown.decode().replace("\r\n", "\n"))
