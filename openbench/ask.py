"""Creates workloads on an OpenBench server and waits for their end, for scripts/try-openbench.

    ask.py DATABASE create test|datagen NAME=VALUE...
    ask.py DATABASE wait NUMBER MINUTES MAX_GAMES

Each NAME=VALUE is a field of the form of the page `/test/new/` or `/datagen/new/`. NUMBER is that
of the workload: the server counts from 1. OPENBENCH_SERVER, OPENBENCH_USERNAME and
OPENBENCH_PASSWORD name the server and the user, as for OpenBench's client.
"""

import os
import sqlite3
import sys
import time

import requests

database, command, *arguments = sys.argv[1:]
server = os.environ["OPENBENCH_SERVER"]

ROW = "test_mode, games, wins, losses, draws, LL, LD, DD, DW, WW, lowerllr, currentllr, upperllr, passed, failed, finished"


def rows(query: str, *values: object) -> list[sqlite3.Row]:
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=30)
    connection.row_factory = sqlite3.Row
    try:
        return connection.execute(query, values).fetchall()
    finally:
        connection.close()


def post(session: requests.Session, page: str, form: dict[str, str]) -> str:
    """Sends the form of a page, as a browser does."""
    session.get(f"{server}/{page}/").raise_for_status()
    form["csrfmiddlewaretoken"] = session.cookies["csrftoken"]
    response = session.post(f"{server}/{page}/", data=form)
    response.raise_for_status()
    return response.text


def create(kind: str, *fields: str) -> None:
    before = len(rows("SELECT id FROM OpenBench_test"))
    session = requests.Session()
    names = {name: os.environ["OPENBENCH_" + name.upper()] for name in ("username", "password")}
    post(session, "login", names)
    answer = post(session, f"{kind}/new", dict(field.split("=", 1) for field in fields))
    if len(rows("SELECT id FROM OpenBench_test")) == before:
        sys.exit(f"ask.py: the server created no {kind}; it answered: {answer}")


def wait(number: str, minutes: str, max_games: str) -> None:
    """Prints each change of the results until the workload ends."""
    end, last = time.monotonic() + 60 * float(minutes), ""
    while True:
        [row] = rows(f"SELECT {ROW} FROM OpenBench_test WHERE id = ?", number)
        line = f"workload {number}: {described(row)}"
        if line != last:
            print(time.strftime("%H:%M:%S"), line, flush=True)
            last = line
        # Only workers' errors have a machine.
        for [error] in rows("SELECT summary FROM OpenBench_logevent WHERE machine_id != 0"):
            sys.exit(f"ask.py: a worker reports: {error}")
        if row["finished"]:
            return
        if row["games"] >= int(max_games):
            sys.exit(f"ask.py: no decision in {max_games} games")
        if time.monotonic() > end:
            sys.exit(f"ask.py: no end in {minutes} minutes")
        time.sleep(2)


def described(row: sqlite3.Row) -> str:
    text = f"{row['games']} games, +{row['wins']} ={row['draws']} -{row['losses']}"
    if row["test_mode"] == "SPRT":
        pairs = ", ".join(str(row[name]) for name in ("LL", "LD", "DD", "DW", "WW"))
        low, now, high = (row[name] for name in ("lowerllr", "currentllr", "upperllr"))
        text += f", pairs [{pairs}], LLR {now:.2f} ({low:.2f} to {high:.2f})"
    return text + (", passed" if row["passed"] else ", failed" if row["failed"] else "")


{"create": create, "wait": wait}[command](*arguments)
