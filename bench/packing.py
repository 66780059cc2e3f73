"""Records programs, and measures their traces: bytes an event in each form, and the processor time of weaving and of
reading them. The forms take turns on the same records.

    build/venv-3.13/bin/python -m bench.packing [ROUNDS]
"""

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
}
OPTIONS = {"tasks": ["--async-tasks"]}
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


def facts_of(name: str, program: str, directory: pathlib.Path, rounds: int) -> list[str]:
    """The cells of a row."""
    script = directory / "program.py"
    script.write_text(textwrap.dedent(PROGRAMS[name]), encoding="utf-8")
    recorded = directory / "recorded"
    options = ["--quiet", "--no-weave", "-o", str(recorded), *OPTIONS.get(name, [])]
    subprocess.run([program, "run", *options, script], check=True)
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
    cells = [name, f"{events:,}", *(f"{size / events:.2f}" for size in sizes)]
    for part in range(2):
        for form in FORMS:
            cells.append(f"{statistics.median(one[part] for one in seconds[form]) * 1e9 / events:.0f}")
    return cells


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    program = str(pathlib.Path(sys.executable).with_name("timeloom"))
    head = ["program", "events", "Perfetto", "OTF2", "OTF2, zstd -3", "packed", "weave OTF2, ns", "weave packed, ns",
            "read OTF2, ns", "read packed, ns"]  # fmt: skip
    print("| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|")
    for name in PROGRAMS:
        with tempfile.TemporaryDirectory(prefix="timeloom-packing-") as directory:
            print("| " + " | ".join(facts_of(name, program, pathlib.Path(directory), rounds)) + " |", flush=True)


if __name__ == "__main__":
    main()
