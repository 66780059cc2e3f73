"""The programs of bench/truth.py, each some 1 to 3 s of CPU.

usage: truth_work.py PROGRAM [--no-gc]

They differ in the work between two events: some only call, some compute in C, some call thousands of
functions once, some start processes. Four are packages from PyPI (bench/requirements.txt); two need
large ones that are installed by hand (distributed, torch). With --no-gc garbage collection is off.
"""

import argparse
import ast
import asyncio
import concurrent.futures
import dataclasses
import functools
import gc
import inspect
import json
import math
import multiprocessing
import pathlib
import random
import re
import subprocess
import sys
import sysconfig
import textwrap
import tokenize
import typing
from collections.abc import Callable, Iterator
from typing import Any

STANDARD_LIBRARY = pathlib.Path(sysconfig.get_path("stdlib"))


def sources(*names: str) -> list[str]:
    return [(STANDARD_LIBRARY / name).read_text(encoding="utf-8") for name in names]


def fib(n: int = 31) -> int:
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def objects() -> None:
    """Small methods, attributes and properties."""

    class Vector:
        def __init__(self, x: float, y: float) -> None:
            self.x, self.y = x, y

        def __add__(self, other: "Vector") -> "Vector":
            return Vector(self.x + other.x, self.y + other.y)

        def scaled(self, factor: float) -> "Vector":
            return Vector(self.x * factor, self.y * factor)

        @property
        def length(self) -> float:
            return math.sqrt(self.x * self.x + self.y * self.y)

    total, place = 0.0, Vector(0.0, 0.0)
    for number in range(400_000):
        place = (place + Vector(number % 7, number % 11)).scaled(0.99)
        total += place.length


def loops() -> None:
    """Few calls with long loops inside."""

    def row(y: int, width: int) -> int:
        inside = 0
        for x in range(width):
            c = complex(3 * x / width - 2, 2 * y / width - 1)
            z = 0j
            for _ in range(20):
                z = z * z + c
                if abs(z) > 2:
                    break
            else:
                inside += 1
        return inside

    for y in range(300):
        row(y, 300)


def generators() -> None:
    """Chains of generators, comprehensions and sort keys."""

    def numbers(count: int) -> Iterator[int]:
        seed = 1
        for _ in range(count):
            seed = seed * 1103515245 + 12345 & 0x7FFFFFFF
            yield seed

    def pairs(values: Iterator[int]) -> Iterator[tuple[int, int]]:
        for value in values:
            yield value % 1000, value

    for _ in range(6):
        chosen = [pair for pair in pairs(numbers(100_000)) if pair[0] % 3]
        chosen.sort(key=lambda pair: (pair[0], -pair[1]))


def parse() -> None:
    """Recursive descent over JSON in pure Python, and tokenize."""
    text = json.dumps([{"id": i, "name": f"n{i}", "tags": list(range(i % 9))} for i in range(6000)])
    decoder = json.decoder.JSONDecoder()
    decoder.scan_once = json.scanner.py_make_scanner(decoder)  # type: ignore[attr-defined]
    decoder.parse_string = json.decoder.py_scanstring  # type: ignore[attr-defined]
    for _ in range(4):
        decoder.decode(text)
    for source in sources("argparse.py", "typing.py", "inspect.py"):
        lines = iter(source.splitlines(keepends=True))
        for _ in tokenize.generate_tokens(functools.partial(next, lines, "")):
            pass


def unparse() -> None:
    """Visitors over syntax trees: many small functions that call each other."""
    for source in sources("argparse.py", "typing.py", "inspect.py", "pathlib/__init__.py"
                          if (STANDARD_LIBRARY / "pathlib").is_dir() else "pathlib.py"):
        ast.unparse(ast.parse(source))
    for source in sources("ast.py", "dataclasses.py", "enum.py"):
        ast.unparse(ast.parse(source))


def tasks() -> None:
    """Coroutines that hand items to each other."""

    async def produce(queue: "asyncio.Queue[int]", count: int) -> None:
        for number in range(count):
            await queue.put(number)

    async def consume(queue: "asyncio.Queue[int]", count: int) -> None:
        for _ in range(count):
            await queue.get()
            await asyncio.sleep(0)

    async def main() -> None:
        queues: list[asyncio.Queue[int]] = [asyncio.Queue(10) for _ in range(20)]
        work = [part(queue, 1500) for queue in queues for part in (produce, consume)]
        await asyncio.gather(*work)

    asyncio.run(main())


def threads() -> None:
    """Four threads over regular expressions and small functions."""
    text = " ".join(f"key{number}=value{number}" for number in range(2000))
    pattern = re.compile(r"(\w+)=(\w+)")

    def count(match: "re.Match[str]") -> str:
        return f"{match[2]}={match[1]}"

    def work(_: int) -> int:
        return len(pattern.sub(count, text))

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(300)))


def black_() -> None:
    import black

    for source in sources("argparse.py", "dataclasses.py"):
        black.format_str(source, mode=black.Mode())


def pygments_() -> None:
    import pygments
    import pygments.formatters
    import pygments.lexers

    for source in sources("argparse.py", "typing.py", "inspect.py", "ast.py"):
        pygments.highlight(source, pygments.lexers.PythonLexer(), pygments.formatters.HtmlFormatter())


def docutils_() -> None:
    import docutils.core

    random.seed(3)
    words = ["the", "quick", "*brown*", "fox", "``jumps``", "over", "**a**", "lazy", "dog"]
    parts = []
    for number in range(250):
        title = f"Section {number}"
        parts += [title, "=" * len(title), "", " ".join(random.choice(words) for _ in range(60)), "",
                  *(f"* item {random.choice(words)}" for _ in range(6)), ""]  # fmt: skip
    docutils.core.publish_string("\n".join(parts), writer_name="html5",
                                 settings_overrides={"report_level": 5})  # fmt: skip


def networkx_() -> None:
    import networkx

    graph = networkx.gnm_random_graph(500, 1500, seed=1)
    networkx.betweenness_centrality(graph)
    networkx.greedy_color(graph)
    list(networkx.connected_components(graph))


def tree() -> None:
    """A wide call tree: tens of thousands of call paths, most of them visited a few times."""
    for module in (json, textwrap, ast, argparse, typing, dataclasses):
        source = inspect.getsource(module)
        lines = iter(source.splitlines(keepends=True))
        for _ in tokenize.generate_tokens(functools.partial(next, lines, "")):
            pass
        ast.dump(ast.parse(source))
        ast.unparse(ast.parse(source))


# For workers.
FILES = ("argparse.py", "typing.py", "inspect.py", "ast.py", "dataclasses.py", "enum.py") * 2


def unparse_file(name: str) -> int:
    return len(ast.unparse(ast.parse(*sources(name))))


def pool() -> None:
    """Forked workers."""
    with multiprocessing.get_context("fork").Pool(2) as workers:
        workers.map(unparse_file, FILES, chunksize=1)
        workers.close()
        workers.join()


def spawn() -> None:
    """Workers started by spawn, which import this file."""
    spawned = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=spawned) as workers:
        list(workers.map(unparse_file, FILES))


def children() -> None:
    """Other programs, which import much and do little."""
    text = "import argparse, asyncio, dataclasses, email.message, http.client, unittest, xml.dom.minidom"
    for _ in range(6):
        subprocess.run([sys.executable, "-c", text], check=True)


def dask_() -> None:
    import distributed

    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with cluster, distributed.Client(cluster) as client:
        client.gather(client.map(unparse_file, FILES, pure=False))


class Rows:
    """The data set of a DataLoader: rows created in Python."""

    def __len__(self) -> int:
        return 2000

    def __getitem__(self, index: int) -> list[float]:
        if index >= len(self):
            raise IndexError(index)
        return [self.value(index, column) for column in range(100)]

    def value(self, index: int, column: int) -> float:
        return float(index * column % 17)


def dataloader() -> None:
    import torch.utils.data

    for _ in torch.utils.data.DataLoader(Rows(), batch_size=32, num_workers=2):
        pass


PROGRAMS: dict[str, Callable[[], Any]] = {
    function.__name__.rstrip("_"): function
    for function in (fib, objects, loops, generators, parse, unparse, tasks, threads,
                     black_, pygments_, docutils_, networkx_,
                     tree, pool, spawn, children, dask_, dataloader)
}  # fmt: skip

# Programs that are also measured with --profile.
PROFILED = ("tree", "pool", "spawn", "children", "dask", "dataloader")

# Modules that some programs need, which have to be installed.
PACKAGES = {"black": "black", "pygments": "pygments", "docutils": "docutils", "networkx": "networkx",
            "dask": "distributed", "dataloader": "torch"}  # fmt: skip

if __name__ == "__main__":
    if "--no-gc" in sys.argv:
        gc.disable()
    PROGRAMS[sys.argv[1]]()
