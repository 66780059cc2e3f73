"""OpenMP of libraries from PyPI: scikit-learn, which brings its own copy of libgomp, and numba, which uses the system's.

The libraries tell how many parallel regions they have run: by their iterations, and by the calls of the program.
"""

import json
import os
import shutil
import subprocess
import sys
from collections import Counter

import pytest
from spool_reader import spools_of
from streams import environment

pytestmark = pytest.mark.compiled_suite

SETS = """
import numpy
points = numpy.random.default_rng(1).normal(size=(2000, 8))
labels = points[:, 0] + points[:, 1] > 0
"""
KMEANS = """
from sklearn.cluster import KMeans

def cluster():
    return KMeans(n_clusters=3, n_init=1, init=points[:3], random_state=1, max_iter=7, tol=0, algorithm="lloyd").fit(points)

found = cluster()
print("kmeans", found.n_iter_)
"""
BOOSTING = """
from sklearn.ensemble import HistGradientBoostingClassifier

model = HistGradientBoostingClassifier(max_iter=4, early_stopping=False, random_state=1).fit(points, labels)

def predict():
    return model.predict(points)

predict()
predict()
print("trees", model.n_iter_)
"""
PRANGE = """
import numba

@numba.njit(parallel=True)
def total(values):
    result = 0.0
    for i in numba.prange(values.shape[0]):
        result += values[i]
    return result

def sums():
    for _ in range(5):
        total(column)

column = points[:, 0].copy()
total(column)
sums()
print("prange", numba.threading_layer())
"""


@pytest.fixture
def measured(tmp_path, timeloom_program):
    """Runs parts of the program above; gives the run, and the numbers that the program has printed."""

    def measured(*parts, modules=("sklearn",), options=()):
        for module in modules:
            pytest.importorskip(module)
        (tmp_path / "app.py").write_text(SETS + "".join(parts))
        variables = {"OMP_NUM_THREADS": "2", "NUMBA_NUM_THREADS": "2", "NUMBA_THREADING_LAYER": "omp"}
        done = subprocess.run(
            [timeloom_program, "run", "--quiet", "--thread", "omp", "--keep-spool", "--only-my-code", "-o", "run", *options,
             "app.py"],
            cwd=tmp_path, capture_output=True, text=True, timeout=900,
            env=environment({"TIMELOOM_PYTHON": sys.executable, "PYTHONPATH": os.environ.get("PYTHONPATH", ""), **variables}),
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")
        return tmp_path / "run", dict(line.split() for line in done.stdout.splitlines())

    return measured


def forks_of(run):
    """Teams that were forked, by the innermost Python function."""
    (spool,) = spools_of(run)
    forks, open_teams, members = Counter(), Counter(), Counter()
    for location in spool.locations():
        path = []
        for kind, name, value, _ in spool.events(location):
            if kind == "enter":
                path.append(name)
            elif kind == "leave":
                assert path.pop() == name
            elif kind == "team fork":
                function = next((name for name in reversed(path) if name.startswith("__main__")), "")
                forks[function.rpartition(".")[2]] += 1
                open_teams[value] += 1
            elif kind == "team join":
                open_teams[value] -= 1
            elif kind == "team begin":
                members[value] += 1
    assert not +open_teams and set(members) == set(open_teams)
    return forks, Counter(members.values())


def assert_readable(run, timeloom, teams, members):
    """The archive and the report have as many teams as the spool; returns the calls of each parallel region."""
    facts = json.loads(timeloom("report", "--omp", "--json", run).stdout)
    assert sum(row["calls"] for row in facts["regions"]) == teams
    assert facts["omp_num_threads"] == "2"
    calls = {row["name"].removeprefix("!$omp parallel "): row["calls"] for row in facts["regions"]}
    if shutil.which("otf2-print") is None:
        return calls
    printer = subprocess.run(["otf2-print", run / "traces.otf2"], capture_output=True, text=True, check=True)
    kinds = Counter(line.split()[0] for line in printer.stdout.splitlines() if line.startswith("THREAD_"))
    expected = {"FORK": teams, "JOIN": teams, "TEAM_BEGIN": members, "TEAM_END": members}
    assert {kind: kinds[f"THREAD_{kind}"] for kind in expected} == expected
    return calls


LLOYD = "sklearn.cluster._k_means_lloyd.lloyd_iter_chunked_dense"
PREDICTOR = "sklearn.ensemble._hist_gradient_boosting._predictor._predict_from_raw_data"


def test_kmeans_of_scikit_learn(measured, timeloom):
    run, printed = measured(KMEANS)
    forks, sizes = forks_of(run)
    calls = assert_readable(run, timeloom, sum(forks.values()), sum(size * count for size, count in sizes.items()))
    # A region for each iteration of Lloyd's algorithm, and one that labels the points at the end.
    assert calls[LLOYD] == int(printed["kmeans"]) + 1
    assert forks == {"cluster": sum(calls.values())}


def test_gradient_boosting_of_scikit_learn(measured, timeloom):
    run, printed = measured(BOOSTING)
    forks, sizes = forks_of(run)
    calls = assert_readable(run, timeloom, sum(forks.values()), sum(size * count for size, count in sizes.items()))
    # A region for each tree.
    assert calls[PREDICTOR] == forks["predict"] == 2 * int(printed["trees"])


def test_prange_of_numba(measured, timeloom):
    run, printed = measured(PRANGE, modules=("numba",))
    assert printed["prange"] == "omp"
    forks, sizes = forks_of(run)
    assert forks["sums"] == 5 and set(sizes) == {2}
    assert_readable(run, timeloom, sum(forks.values()), sum(size * count for size, count in sizes.items()))


def test_two_libraries_with_a_libgomp_each(measured, timeloom):
    run, printed = measured(KMEANS, PRANGE, modules=("sklearn", "numba"))
    forks, sizes = forks_of(run)
    (spool,) = spools_of(run)
    assert len([name for name in spool.threads.values() if name.startswith("libgomp")]) == 2
    calls = assert_readable(run, timeloom, sum(forks.values()), sum(size * count for size, count in sizes.items()))
    assert calls[LLOYD] == int(printed["kmeans"]) + 1 and forks["sums"] == 5
