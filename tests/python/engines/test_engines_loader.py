"""Batches of PyTorch's DataLoader.

Small modules with the names of PyTorch's stand in for it, which is too large here. Where it is installed (with Debian 12
by PYTHONPATH=/usr/lib/python3/dist-packages and Python 3.11), it is tried itself.
"""

import json

import pytest
from process_runs import measure  # noqa: F401

import timeloom as package

pytestmark = pytest.mark.any_python

# Modules of torch.utils.data. A worker gets (number, indices) from its queue.
MODULES = {
    "_utils/fetch.py": """
class _MapDatasetFetcher:
    def __init__(self, dataset):
        self.dataset = dataset
    def fetch(self, possibly_batched_index):
        return [self.dataset[index] for index in possibly_batched_index]
""",
    "_utils/worker.py": """
from types import SimpleNamespace
from torch.utils.data._utils import fetch
_worker_info = None

def LOOP(dataset, indices, results, worker_id):
    global _worker_info
    _worker_info = SimpleNamespace(id=worker_id)
    fetcher = fetch._MapDatasetFetcher(dataset)
    while (got := indices.get()) is not None:
        NUMBER, index = got
        results.put((NUMBER, fetcher.fetch(index)))
""",
    "dataloader.py": """
import multiprocessing
from torch.utils.data._utils import fetch, worker

class LOADER:
    def __init__(self, dataset, batches, workers, method):
        context = multiprocessing.get_context(method)
        self.results = context.Queue()
        self.indices = [context.Queue() for _ in range(workers)]
        self.workers = [context.Process(target=worker.LOOP, args=(dataset, queue, self.results, number))
                        for number, queue in enumerate(self.indices)]
        for process in self.workers:
            process.start()
        for number, batch in enumerate(batches):
            self.indices[number % workers].put((number, batch))
        self.rest = len(batches)

    def _get_data(self):
        return self.results.get()

    def __iter__(self):
        for _ in range(self.rest):
            yield self._get_data()
        for process, queue in zip(self.workers, self.indices):
            queue.put(None)
            process.join()

class _SingleProcessDataLoaderIter:
    def __init__(self, dataset, batches):
        self.fetcher, self.batches = fetch._MapDatasetFetcher(dataset), batches

    def __iter__(self):
        return map(self.fetcher.fetch, self.batches)
""",
}
# The loop of a worker, the number of a batch in it, and the class that waits, as versions call them.
VERSIONS = {
    "earlier": ("_worker_loop", "idx", "_MultiProcessingDataLoaderIter"),
    "later": ("_base_worker_loop", "task_id", "_ParallelDataLoaderIter"),
}
PROGRAM = """
from torch.utils.data.dataloader import LOADER, _SingleProcessDataLoaderIter

class Squares:
    def __getitem__(self, n):
        return n * n

if __name__ == "__main__":
    batches = [range(n, n + 4) for n in range(0, 20, 4)]
    loader = LOADER(Squares(), batches, 2, METHOD)
    print(sum(sum(values) for number, values in loader), sum(map(sum, _SingleProcessDataLoaderIter(Squares(), batches))))
"""


@pytest.mark.parametrize(("version", "method"), [("earlier", "fork"), ("later", "spawn")])
def test_batches(measure, tmp_path, timeloom, version, method):
    def adapted(text):
        for name, value in zip(("LOOP", "NUMBER", "LOADER", "METHOD"), (*VERSIONS[version], repr(method))):
            text = text.replace(name, value)
        return text

    (tmp_path / "torch/utils/data/_utils").mkdir(parents=True)
    for package_directory in ("torch", "torch/utils", "torch/utils/data", "torch/utils/data/_utils"):
        (tmp_path / package_directory / "__init__.py").touch()
    for name, text in MODULES.items():
        (tmp_path / "torch/utils/data" / name).write_text(adapted(text))
    run, output = measure(adapted(PROGRAM))
    assert output == "2470 2470\n"
    rows = json.loads(timeloom("report", "--by", "worker", "--json", run.directory).stdout)["rows"]
    assert {row["name"]: row["tasks"] for row in rows} == {"DataLoader worker 0": 3, "DataLoader worker 1": 2}
    tasks = package.read(run.directory).tasks()
    assert sorted((task["key"], task["prefix"]) for task in tasks) == [(str(n), "batch") for n in range(5)]
    assert sum(run.visits("wait for a batch")) == run.visits("wait for a batch")[0] == 5
    rows = package.read(run.directory).flat
    assert sum(row["visits"] for row in rows if row["name"].endswith("Squares.__getitem__")) == 40


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_batches_of_pytorch(measure, timeloom, method):
    pytest.importorskip("torch")
    run, output = measure(f"""
import torch
from torch.utils.data import DataLoader, Dataset

class Squares(Dataset):
    def __len__(self):
        return 20
    def __getitem__(self, n):
        return torch.tensor([n * n])

if __name__ == "__main__":
    loader = DataLoader(Squares(), batch_size=4, num_workers=2, multiprocessing_context={method!r})
    print(*(sum(int(batch.sum()) for batch in loader) for _ in range(2)))
""")  # fmt: skip
    assert output == "2470 2470\n"
    rows = json.loads(timeloom("report", "--by", "worker", "--json", run.directory).stdout)["rows"]
    assert {row["name"]: row["tasks"] for row in rows} == {"DataLoader worker 0": 6, "DataLoader worker 1": 4}
    tasks = package.read(run.directory).tasks()
    assert sorted((task["key"], task["prefix"]) for task in tasks) == sorted(2 * [(str(n), "batch") for n in range(5)])
    assert sum(run.visits("wait for a batch")) >= 10
    rows = package.read(run.directory).flat
    assert sum(row["visits"] for row in rows if row["name"].endswith("Squares.__getitem__")) == 40
