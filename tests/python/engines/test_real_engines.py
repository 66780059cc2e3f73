"""Workers of the engines themselves, if they are installed: their names, and the files of functions that are sent to
them. test_worker_names.py tests the same rules with stand-ins for the engines."""

import json
import re

import pytest
from process_runs import measure  # noqa: F401

pytestmark = pytest.mark.any_python


def flat_rows(timeloom, run):
    return json.loads(timeloom("report", "--json", run.directory).stdout)["flat"]["rows"]


def test_cloudpickle(measure, timeloom, tmp_path):
    pytest.importorskip("cloudpickle")
    run, output = measure("""
        import cloudpickle, subprocess
        def ship(n): return n + 1
        code = "import pickle, sys; print(sum(map(pickle.load(sys.stdin.buffer), range(3))))"
        ship(0)
        for _ in range(2):
            subprocess.run([sys.executable, "-c", code], input=cloudpickle.dumps(ship), check=True)
        """, "--follow", "all")  # fmt: skip
    assert (run.visits("__main__.ship"), output) == ([1, 3, 3], "6\n6\n")
    rows = [row for row in flat_rows(timeloom, run) if row["name"] == "__main__.ship"]
    assert [(row["visits"], row["file"]) for row in rows] == [(7, str(tmp_path / "program.py"))]


@pytest.mark.one_python
def test_dask(measure, timeloom, tmp_path):
    pytest.importorskip("distributed")
    run, output = measure("""
        from distributed import Client, LocalCluster
        def ship(n): return n + 1
        if __name__ == "__main__":
            with LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as cluster:
                with Client(cluster) as client:
                    print(sum(client.gather(client.map(ship, range(20)))))
        """, "--follow", "all")  # fmt: skip
    names = [re.sub(r":\d+$", ":PORT", name) for name in run.names if name.startswith("Dask")]
    assert (names, output) == (["Dask worker 0 tcp://127.0.0.1:PORT", "Dask worker 1 tcp://127.0.0.1:PORT"], "210\n")
    rows = [row for row in flat_rows(timeloom, run) if row["name"].endswith(".ship")]
    assert [(row["visits"], row["file"]) for row in rows] == [(20, str(tmp_path / "program.py"))]
