"""The ids of locations: dense in Timeloom's layout of runs, Score-P's in Score-P's layout."""

import json
import subprocess
import sys
import textwrap

import pytest
from streams import environment

PROGRAM = textwrap.dedent("""
    import os, threading

    def work():
        pass

    def with_thread():
        thread = threading.Thread(target=work, name="second")
        thread.start()
        thread.join()

    with_thread()
    if os.fork() == 0:
        with_thread()
        os._exit(0)
    os.wait()
""")


def ids_of(tmp_path, timeloom, *words, **variables):
    """(rank of the process, name, id) of each location, sorted by id; the names of the event files."""
    (tmp_path / "app.py").write_text(PROGRAM)
    subprocess.run([sys.executable, "-m", *words, "app.py"], cwd=tmp_path, check=True, capture_output=True,
                   env={**environment(), **variables})  # fmt: skip
    info = json.loads(timeloom("info", "--json", tmp_path / "run").stdout)
    files = {int(file.stem) for file in (tmp_path / "run" / "traces").glob("*.evt")}
    assert files == {one["id"] for one in info["locations"]}
    return [(one["group"], one["id"]) for one in info["locations"]]


@pytest.mark.parametrize("options", [(), ("--async-tasks",)])
def test_ids_are_dense(tmp_path, timeloom, options):
    found = ids_of(tmp_path, timeloom, "timeloom", "-o", "run", *options)
    groups = [0, 0, 1, 1]
    assert found == list(zip(groups, range(len(groups))))


@pytest.mark.any_python
def test_ids_are_those_of_score_p(tmp_path, timeloom):
    found = ids_of(tmp_path, timeloom, "scorep", SCOREP_ENABLE_TRACING="true", SCOREP_EXPERIMENT_DIRECTORY="run")
    second = 1 << 32
    assert found == [(0, 0), (1, 1), (0, second), (1, second + 1)]
