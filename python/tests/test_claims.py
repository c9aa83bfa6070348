"""The script that measures the documents' claims."""

import re
import subprocess
import sys

from conftest import REPOSITORY


def test_the_table_of_the_claims_is_measured(program, tmp_path):
    data, document = tmp_path / "games.azd", tmp_path / "space.md"
    games = REPOSITORY / "tests/data/games.pgn.zst"
    subprocess.run(
        [program("azimuth-train"), "data", games, "--out", data], check=True, capture_output=True
    )
    document.write_text("# Before\n\n<!-- claims:begin -->\nold\n<!-- claims:end -->\n\nAfter.\n")
    command = [sys.executable, REPOSITORY / "scripts/measure-claims", "--data", data]
    command += ["--games", REPOSITORY / "bench/results/timed-10ms-shipped.pgn.zst"]
    command += ["--positions", "600", "--paths", "20", "--most-games", "8", "--out", document]
    subprocess.run(command, check=True, capture_output=True)
    text = document.read_text()
    assert text.startswith("# Before\n") and text.endswith("\nAfter.\n") and "old" not in text
    rows = {
        name: re.findall(r"-?\d+\.\d+", cells)
        for name, cells in re.findall(r"^\| ([^|]+) \|(.*)\|$", text, re.MULTILINE)
    }
    correlations = rows["distance: rank correlation with the difference in win probability"]
    # A value with its interval, for each of the two embedded spaces.
    assert len(correlations) == 6 and float(correlations[0]) > 0.5
    assert float(correlations[1]) < float(correlations[0]) < float(correlations[2])
    nearest, random = (
        rows[name]
        for name in [
            "mean difference in win probability to the 10 nearest",
            "the same to random positions",
        ]
    )
    assert float(nearest[0]) < float(random[0]) / 2
    again = subprocess.run([*command[:-1], tmp_path / "none.md"], capture_output=True, text=True)
    assert again.returncode != 0 and "none.md" in again.stderr
