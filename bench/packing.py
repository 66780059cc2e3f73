"""Records ten programs, and measures their traces: bytes an event in each form, and the processor time of weaving and
reading them. The forms take turns on the same records. The last row has the medians; the worst packed trace is named.

    build/venv-3.13/bin/python -m bench.packing [ROUNDS] [--only WORD]

Packages of bench/requirements.txt and mpirun add what needs them: templates of Django, ranks of MPI, and the sizes of
viztracer's files of the same calls (its functions of C are left out, as ours are).
"""

import argparse
import gzip
import importlib.util
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import textwrap
import typing

ROUNDS = 3
PROGRAMS = {
    "ast and tokenize of six modules": """
        import ast, io, os, tokenize
        folder = os.path.dirname(ast.__file__)
        for name in ("ast", "tokenize", "inspect", "typing", "dataclasses", "enum"):
            with open(os.path.join(folder, name + ".py"), encoding="utf-8") as file:
                text = file.read()
            list(tokenize.generate_tokens(io.StringIO(text).readline))
            ast.unparse(ast.parse(text))
    """,
    "four threads": """
        import json, threading
        def work(n):
            for i in range(n):
                json.loads(json.dumps({"a": [i, {"b": str(i)}], "c": None}))
        threads = [threading.Thread(target=work, args=(15_000,)) for _ in range(4)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
    """,
    "tasks": """
        import asyncio
        async def one(n):
            for _ in range(n): await asyncio.sleep(0)
        async def main():
            await asyncio.gather(*(one(300) for _ in range(100)))
        asyncio.run(main())
    """,
    "5,000 functions": """
        import random
        names = {}
        for i in range(5_000):
            exec(f"def f{i}(n): return n and g(n - 1)", globals(), names)
        functions = list(names.values())
        def g(n): return random.choice(functions)(n)
        for _ in range(20_000): g(5)
    """,
    "short calls": """
        def nothing(): pass
        for _ in range(500_000): nothing()
    """,
    "Django's templates": """
        import django
        from django.conf import settings
        settings.configure(TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates"}])
        django.setup()
        from django.template import Context, Engine
        template = Engine().from_string("{% for row in rows %}<tr>{% for cell in row %}<td>{{ cell|upper }}</td>"
                                        "{% if cell|length > 2 %}{{ forloop.counter }}{% endif %}"
                                        "{% endfor %}</tr>{% endfor %}")
        rows = [[f"cell {i}", str(i), "<b>"] for i in range(60)]
        for _ in range(40): template.render(Context({"rows": rows}))
    """,
    "recursion": """
        def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
        fib(24)
        def deep(n): return n and deep(n - 1)
        for _ in range(500): deep(400)
    """,
    "generators and long calls": """
        import random
        random.seed(1)
        def numbers(n):
            for i in range(n): yield i * i
        def wait(n): return sum(numbers(n))
        for _ in range(20_000): wait(random.randrange(1, 40))
    """,
    "tasks with parameters": """
        import asyncio, timeloom
        async def get(queue):
            while (n := await queue.get()) is not None:
                with timeloom.region("handle"):
                    timeloom.parameter_int("n", n % 64)
        async def main():
            queue = asyncio.Queue(8)
            readers = [asyncio.create_task(get(queue)) for _ in range(4)]
            for n in range(20_000): await queue.put(n)
            for _ in readers: await queue.put(None)
            await asyncio.gather(*readers)
        asyncio.run(main())
    """,
    "two ranks of MPI": """
        from mpi4py import MPI
        world = MPI.COMM_WORLD
        other = 1 - world.Get_rank()
        def exchange(n):
            return world.sendrecv(n, other, source=other)
        def step(n):
            exchange(n)
            return world.allreduce(n)
        for n in range(10_000): step(n)
    """,
}
OPTIONS = {"tasks": ["--async-tasks"], "tasks with parameters": ["--async-tasks"]}
NEEDS = {"Django's templates": "django", "two ranks of MPI": "mpi4py"}
RANKS = {"two ranks of MPI": 2}
FORMS = ("otf2", "packed")


class Seconds(typing.NamedTuple):
    weaving: float
    reading: float


def processor_time(*words: object) -> float:
    """Of a command and its children, in seconds."""
    before = os.times()
    subprocess.run([str(word) for word in words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def size_of(run: pathlib.Path) -> int:
    files = [run / "traces.packed", run / "traces.otf2", run / "traces.def", *(run / "traces").glob("*")]
    return sum(file.stat().st_size for file in files if file.exists())


def compressed_size(run: pathlib.Path) -> int:
    """By zstd -3, each file by itself."""
    files = [run / "traces.def", *(run / "traces").glob("*")]
    outputs = (subprocess.run(["zstd", "-3", "-c", "-q", file], check=True, capture_output=True) for file in files)
    return sum(len(output.stdout) for output in outputs)


def measure(program: str, recorded: pathlib.Path, run: pathlib.Path, form: str) -> Seconds:
    shutil.rmtree(run, ignore_errors=True)
    shutil.copytree(recorded, run, copy_function=os.link)
    weaving = processor_time(program, "weave", "--threads", 1, "--trace-format", form, run)
    reading = processor_time(program, "report", "--slowest", run)
    return Seconds(weaving, reading)


def launcher(name: str) -> list[str]:
    ranks = RANKS.get(name)
    return [] if ranks is None else ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(ranks)]


def is_there(name: str) -> bool:
    package = NEEDS.get(name)
    found = package is None or importlib.util.find_spec(package) is not None
    return found and (name not in RANKS or shutil.which("mpirun") is not None)


def viztracer_sizes(name: str, script: pathlib.Path) -> tuple[float, float] | None:
    """Bytes an event of viztracer's JSON, as it is and by gzip; a call is two events."""
    source = script.read_text(encoding="utf-8")
    if importlib.util.find_spec("viztracer") is None or name in RANKS or "timeloom" in source:
        return None
    file = script.with_suffix(".json")
    words = ["--quiet", "--ignore_c_function", "--tracer_entries", "10000000", "-o", str(file), str(script)]
    subprocess.run([sys.executable, "-m", "viztracer", *words], check=True, stdout=subprocess.DEVNULL)
    text = file.read_bytes()
    calls = text.count(b'"ph":"X"') + text.count(b'"ph": "X"')
    return len(text) / calls / 2, len(gzip.compress(text, 6)) / calls / 2


class Row(typing.NamedTuple):
    name: str
    events: int
    bytes_of: list[float | None]  # an event, in the order of SIZES
    nanoseconds: list[float]  # an event: weaving in each form, reading in each form


SIZES = ("viztracer", "its .gz", "Perfetto", "OTF2", "OTF2, zstd -3", "packed")


def facts_of(name: str, program: str, directory: pathlib.Path, rounds: int) -> Row:
    script = directory / "program.py"
    script.write_text(textwrap.dedent(PROGRAMS[name]), encoding="utf-8")
    recorded = directory / "recorded"
    options = ["--quiet", "--no-weave", "-o", str(recorded), *OPTIONS.get(name, [])]
    subprocess.run([*launcher(name), program, "run", *options, script], check=True)
    seconds: dict[str, list[Seconds]] = {form: [] for form in FORMS}
    for _ in range(rounds):
        for form in FORMS:
            seconds[form].append(measure(program, recorded, directory / form, form))
    info = json.loads(subprocess.check_output([program, "info", "--json", directory / "otf2"]))
    events = sum(location["events"] for location in info["locations"])
    subprocess.run([program, "convert", directory / "packed", "--to", "perfetto", "-o", directory / "perfetto"],
                   check=True, stderr=subprocess.DEVNULL)  # fmt: skip
    sizes = [(directory / "perfetto").stat().st_size, size_of(directory / "otf2"), compressed_size(directory / "otf2"),
             size_of(directory / "packed")]  # fmt: skip
    nanoseconds = [statistics.median(one[part] for one in seconds[form]) * 1e9 / events
                   for part in range(2) for form in FORMS]  # fmt: skip
    others = viztracer_sizes(name, script) or (None, None)
    return Row(name, events, [*others, *(size / events for size in sizes)], nanoseconds)


def median_of(values: typing.Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def line_of(row: Row) -> str:
    sizes = ("–" if size is None else f"{size:.2f}" for size in row.bytes_of)
    cells = [row.name, f"{row.events:,}", *sizes, *(f"{time:.0f}" for time in row.nanoseconds)]
    return "| " + " | ".join(cells) + " |"


def median_row(rows: list[Row]) -> Row:
    sizes = [median_of(row.bytes_of[i] for row in rows) for i in range(len(SIZES))]
    times = [statistics.median(row.nanoseconds[i] for row in rows) for i in range(2 * len(FORMS))]
    return Row("median", int(statistics.median(row.events for row in rows)), sizes, times)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench.packing", description="Sizes and times of packed traces.")
    parser.add_argument("rounds", nargs="?", type=int, default=ROUNDS)
    parser.add_argument("--only", default="", metavar="WORD", help="programs whose name has it")
    return parser.parse_args()


def main() -> None:
    chosen = arguments()
    program = str(pathlib.Path(sys.executable).with_name("timeloom"))
    times = (f"{step} {form}, ns" for step in ("weave", "read") for form in ("OTF2", "packed"))
    head = ["program", "events", *SIZES, *times]
    print("| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|")
    rows: list[Row] = []
    for name in PROGRAMS:
        if chosen.only not in name:
            continue
        if not is_there(name):
            print(f"packing.py: {name}: left out, without {NEEDS[name]} or mpirun", file=sys.stderr)
            continue
        with tempfile.TemporaryDirectory(prefix="timeloom-packing-") as directory:
            rows.append(facts_of(name, program, pathlib.Path(directory), chosen.rounds))
        print(line_of(rows[-1]), flush=True)
    if len(rows) > 1:
        print(line_of(median_row(rows)))
        worst = max(rows, key=lambda row: row.bytes_of[-1] or 0)
        print(f"\nThe largest packed trace for its events: {worst.name}, {worst.bytes_of[-1]:.2f} bytes an event.")


if __name__ == "__main__":
    main()
