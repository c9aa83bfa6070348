"""The notebooks run, on a part of their positions, and are committed with their outputs."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
NOTEBOOKS = sorted(path.name for path in FOLDER.glob("*.ipynb"))


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_runs(name, program, monkeypatch):
    monkeypatch.setenv("AZIMUTH_NOTEBOOK_SHARE", "0.1")
    monkeypatch.setenv("AZIMUTH_TRAIN", program("azimuth-train"))
    notebook = nbformat.read(FOLDER / name, as_version=4)
    resources = {"metadata": {"path": str(FOLDER)}}
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources=resources).execute()


def test_the_notebooks_are_committed_with_their_outputs():
    assert len(NOTEBOOKS) == 4
    for name in NOTEBOOKS:
        assert (FOLDER / name).stat().st_size < 600_000, name
        cells = [
            c for c in nbformat.read(FOLDER / name, as_version=4).cells if c.cell_type == "code"
        ]
        assert all(cell.execution_count for cell in cells), name
        outputs = [output for cell in cells for output in cell.outputs]
        assert any("image/png" in output.get("data", {}) for output in outputs), name
        assert not any(output.output_type == "error" for output in outputs), name
        assert "/root" not in str(outputs), f"{name}: a path of the machine"
