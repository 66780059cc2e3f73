"""`timeloom pack` on archives of other tools: each of their records comes back, or the archive stays as it was."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from archives import DEBIAN_PYTHON, MAIN, WORKER, make_archive

pytestmark = pytest.mark.any_python

DATA = Path(__file__).parents[2] / "data"
FOREIGN = Path(__file__).parents[1] / "helpers" / "foreign"
MESSAGES = [
    [[1, "enter", "MPI_Send"], [2, "send", 1, 5, 100], [3, "leave"], [4, "isend", 1, 5, 100, 7], [9, "collective", "BARRIER", None, 0, 8]],
    [[1, "enter", "MPI_Recv"], [4, "recv", 0, 5, 100], [5, "leave"], [6, "request", 8], [7, "irecv", 0, 5, 100, 8]],
]  # fmt: skip
QUESTIONS = (
    "report", "report --full", "report --json", "report --slowest", "info --all", "score", "convert --to csv --events -o -",
    "convert --to chrome -o -", "convert --from 0ms --to otf2 -o selected",
)  # fmt: skip


def written(script, directory, *words, text=None):
    subprocess.run([DEBIAN_PYTHON, FOREIGN / script, directory, *words], input=text, text=True, check=True)
    return directory


def score_p(name):
    return lambda directory: Path(shutil.copytree(DATA / name, directory))


ARCHIVES = {
    "score-p": score_p("scorep-fib"),
    "score-p-user-regions": score_p("scorep-user-regions"),
    "threads": lambda directory: make_archive(directory, {"main": MAIN, "worker": WORKER}),
    "messages": lambda directory: written("message_archive.py", directory, text=json.dumps(MESSAGES)),
    "metrics": lambda directory: written("metric_archive.py", directory),
    "scaled": lambda directory: written("metric_archive.py", directory, "scaled"),
    "definitions": lambda directory: written("records_archive.py", directory, "definitions"),
}


def files(directory):
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def otf2_print(archive, *options):
    """The records as the tool of OTF2's project shows them."""
    return subprocess.run(["otf2-print", *options, archive / "traces.otf2"], capture_output=True, timeout=60)


def printed(archive, *options):
    done = otf2_print(archive, *options)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


def answers(program, run):
    told = []
    for question in QUESTIONS:
        done = subprocess.run([program, *question.split(), run.name], cwd=run.parent, capture_output=True, timeout=60)
        lines = [line for line in done.stdout.splitlines() if b"traces" not in line]  # their sizes differ
        told.append((question, done.returncode, lines, done.stderr))
        if "otf2" in question:
            told.append(printed(run.parent / "selected"))
            shutil.rmtree(run.parent / "selected")
    return told


@pytest.mark.parametrize("name", ARCHIVES)
def test_every_record_comes_back(name, program, timeloom, tmp_path):
    run = ARCHIVES[name](tmp_path / "run")
    events, definitions = printed(run), printed(run, "-G")
    others = set(files(run)) - {"traces.otf2", "traces.def"}
    expected = answers(program, run)
    timeloom("pack", run)
    assert set(files(run)) == {"traces.packed", *(name for name in others if not name.startswith("traces/"))}
    assert answers(program, run) == expected
    back = tmp_path / "back"
    timeloom("convert", run, "--to", "otf2", "-o", back)
    assert printed(back) == events
    assert printed(back, "-G") == definitions
    assert sorted(path.name for path in back.iterdir()) == ["traces", "traces.def", "traces.otf2"]
    # An archive that came back is packed like the first one.
    timeloom("pack", back)
    timeloom("convert", back, "--to", "otf2", "-o", tmp_path / "again")
    assert printed(tmp_path / "again", "-G") == definitions


REFUSED = {
    "flush": "BufferFlush",
    "attribute": "AttributeList",
    "fork": "ThreadFork and 1 more kind",
    "window": "RmaWinCreate",
    "io": "IoCreateHandle",
    "sample": "CallingContextSample",
}


@pytest.mark.parametrize("kind", REFUSED)
def test_a_record_without_a_place_is_named(kind, timeloom, tmp_path):
    run = written("records_archive.py", tmp_path / "run", kind)
    before = files(run)
    assert "timeloom pack, if it can: traces of about " in timeloom("info", run).stdout
    said = timeloom("pack", run, status=1).stderr
    assert said.endswith(f"with records that a packed one cannot have: {REFUSED[kind]} [TL487]\n"), said
    assert said.count("\n") == 1
    assert files(run) == before and not list(run.glob(".*"))


def test_the_same_archive_without_it_is_packed(timeloom, tmp_path):
    run = written("records_archive.py", tmp_path / "run", "nothing")
    timeloom("pack", run)
    assert set(files(run)) == {"traces.packed"}


def test_files_that_are_not_read_are_not_removed(timeloom, tmp_path):
    run = ARCHIVES["score-p"](tmp_path / "run")
    (run / "traces" / "0.snap").write_bytes(b"a snapshot")
    before = files(run)
    said = timeloom("pack", run, status=1).stderr
    assert said.endswith("cannot have: files of no location [TL487]\n") and files(run) == before


def test_the_description_of_the_run_stays(timeloom, tmp_path):
    """Score-P writes a file of the same name as Timeloom."""
    run = ARCHIVES["score-p"](tmp_path / "run")
    (run / "MANIFEST.md").write_text("of Score-P")
    timeloom("pack", run)
    assert (run / "MANIFEST.md").read_text() == "of Score-P"


def damaged(content):
    for part in range(8):
        place = len(content) * part // 8
        yield content[:place]
        yield content[:place] + bytes([content[place] ^ 0x55]) + content[place + 1 :]


@pytest.mark.parametrize("name", ["traces.otf2", "traces.def", "traces/0.evt", "traces/0.def"])
def test_damaged_archives_lose_nothing(name, program, timeloom, tmp_path):
    """Cut, and with changed bytes: refused in one line, or all that otf2-print shows of them comes back."""
    whole = ARCHIVES["score-p-user-regions"](tmp_path / "whole")
    refused = 0
    for i, content in enumerate(damaged((whole / name).read_bytes())):
        run = Path(shutil.copytree(whole, tmp_path / f"run{i}"))
        (run / name).write_bytes(content)
        before, shown = files(run), otf2_print(run)
        done = subprocess.run([program, "pack", run], capture_output=True, text=True, timeout=60)
        if done.returncode != 0:
            refused += 1
            assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
            assert files(run) == before
        elif shown.returncode == 0:
            timeloom("convert", run, "--to", "otf2", "-o", tmp_path / f"back{i}")
            assert otf2_print(tmp_path / f"back{i}").stdout == shown.stdout
    assert refused >= 4


LOST = "1 damaged or missing part of the packed trace left out [TL167]"


def test_a_packed_trace_with_damaged_definitions_of_another_tool(timeloom, tmp_path):
    """They are not needed for reading: the loss is counted, and an archive gets Timeloom's own definitions."""
    run = ARCHIVES["score-p"](tmp_path / "run")
    timeloom("pack", run)
    report = timeloom("report", "--full", run).stdout
    content = bytearray((run / "traces.packed").read_bytes())
    second = content.index(b"TLPK", 4)
    content[second + 100] ^= 1
    (run / "traces.packed").write_bytes(content)
    lines = timeloom("report", "--full", run).stdout.splitlines()
    assert [line for line in lines if not line.endswith(LOST)] == report.splitlines() and len(lines) > len(report.splitlines())
    assert timeloom("convert", run, "--to", "otf2", "-o", tmp_path / "back").stderr.splitlines()[0].endswith(LOST)
    assert "fib" in printed(tmp_path / "back")


def test_an_archive_of_another_name_is_refused(timeloom, tmp_path):
    run = ARCHIVES["score-p"](tmp_path / "run")
    (run / "profile.cubex").unlink()
    for suffix in ("", ".otf2", ".def"):
        (run / f"traces{suffix}").rename(run / f"other{suffix}")
    before = files(run)
    assert timeloom("pack", run, status=1).stderr.endswith("its trace is not called traces.otf2 [TL487]\n")
    assert files(run) == before
