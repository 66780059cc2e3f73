"""Packed traces of MPI programs and of GPUs: every answer as from the OTF2 trace of the same records."""

import re
import shutil
from pathlib import Path

import mpi_runs
import pytest
from gpu_runs import SCRIPT, libraries, run_gpu  # noqa: F401
from mpi_runs import PATTERNS, SLOW_RANK, each_library
from test_packed import answer, evt_files

QUESTIONS = (
    "report", "report --full", "report --json", "report --slowest", "info --all", "score",
    "convert --to csv --events -o -", "convert --to json --events -o -", "convert --to chrome -o -",
    "convert --to speedscope -o -",
)  # fmt: skip
# The page has the number that the index of the trace is known by.
VIEW = "view --html FILE"


def in_both_forms(run, timeloom):
    """Weaves the records of the run, in directories whose runs have one name."""
    places = []
    for form in ("otf2", "packed"):
        place = run.parent / form / "run"
        place.parent.mkdir()
        shutil.copytree(run, place)
        timeloom("weave", "--trace-format", form, place)
        places.append(place)
    otf2, packed = places
    assert (packed / "traces.packed").exists() and (otf2 / "traces.otf2").exists()
    assert not (packed / "traces.otf2").exists() and not (packed / "traces").exists()
    return otf2, packed


def check(run, questions, program, timeloom, tmp_path):
    otf2, packed = in_both_forms(run, timeloom)
    for question in (*QUESTIONS, *questions):
        expected = answer(program, otf2, question, tmp_path / "written")
        assert expected[0] == 0, (question, expected)
        assert answer(program, packed, question, tmp_path / "written") == expected, question
    pages = [answer(program, one, VIEW, tmp_path / "page.html") for one in (otf2, packed)]
    assert pages[0][0] == pages[1][0] == 0 and len(pages[0][3]) > 10_000
    assert abs(len(pages[0][3]) - len(pages[1][3])) < len(pages[0][3]) / 50
    timeloom("convert", packed, "--to", "otf2", "-o", tmp_path / "archive")
    assert evt_files(tmp_path / "archive") == evt_files(otf2)
    timeloom("pack", otf2)
    for question in questions:
        assert answer(program, otf2, question, tmp_path / "written") == answer(program, packed, question, tmp_path / "written")


@pytest.mark.one_python
@pytest.mark.parametrize("pattern", ["ring", "slow"])
@each_library
def test_ranks(mpi, pattern, tmp_path, program, timeloom):
    words = (SLOW_RANK,) if pattern == "slow" else (PATTERNS, pattern)
    mpi_runs.run(mpi, 2, tmp_path, *words, options=("--no-weave", "--pack-early"))
    check(tmp_path / "run", ("report --mpi", "report --mpi --json"), program, timeloom, tmp_path)


@pytest.mark.one_python
@each_library
def test_ranks_that_are_recorded_packed(mpi, tmp_path, timeloom):
    """Of any number of ranks there is one file of a trace."""
    mpi_runs.run(mpi, 4, tmp_path, PATTERNS, "neighbours", options=("--trace-format", "packed"))
    run = tmp_path / "run"
    assert not (run / "spool").exists()
    files = sorted(str(path.relative_to(run)) for path in run.rglob("*") if path.is_file())
    assert [name for name in files if name.startswith("traces")] == ["traces.packed"]
    assert len(files) <= 5
    assert re.search(r"\b4 ranks?\b|\b4 processes\b", timeloom("report", run).stdout)


@pytest.mark.any_python
def test_gpus(run_gpu, tmp_path, program, timeloom):
    run_gpu(SCRIPT, "--no-weave", "--pack-early")
    check(Path(tmp_path / "run"), ("report --gpu", "report --gpu --json"), program, timeloom, tmp_path)
