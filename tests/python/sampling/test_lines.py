"""Samples on source lines: `report --lines`, the lines of a function, lines.csv, and the source of the viewer."""

import csv
import json
import math
import subprocess
import sys
import textwrap
from collections import Counter
from pathlib import Path

import pytest
from html_page import sections_of
from streams import environment

NATIVE = Path(__file__).resolve().parents[2] / "native"
needs_monitoring = pytest.mark.skipif(sys.version_info < (3, 12), reason="needs sys.monitoring")
ways = pytest.mark.parametrize(
    "options",
    [("--sample", "1ms"), ("--sample", "1ms", "--profile"), pytest.param(("--sampling",), marks=needs_monitoring)],
    ids=["sample", "profile", "sampling"],
)

# A line for each name; what each takes is measured by the program itself.
COMMON = """\
import ctypes, json, sys, time
busy = ctypes.CDLL("./busy.so")
for function in (busy.sixty, busy.thirty, busy.ten):
    function.argtypes = [ctypes.c_long]
    function.restype = None
taken = dict.fromkeys(("sixty", "thirty", "ten"), 0)

def timed(name, before):
    taken[name] += time.thread_time_ns() - before
    return time.thread_time_ns()

def until(cpu_seconds, call):
    while time.thread_time() < cpu_seconds:
        call()

"""


def line_of(text, part):
    """The number of the only line that has this part."""
    (number,) = [number for number, line in enumerate(text.splitlines(), 1) if part in line]
    return number


class Lines:
    def __init__(self, run, text, program):
        self.run, self.text, self.program = run, text, program

    def output(self, *words):
        done = subprocess.run([self.program, *map(str, words)], capture_output=True, text=True, cwd=self.run.parent)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def of(self, function):
        """The nanoseconds of each line of a function; 0: not known."""
        with open(self.run / "lines.csv", newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["function"].endswith(f".{function}")]
        return {int(row["source line"]): int(row["nanoseconds"]) for row in rows}

    def number(self, part):
        return line_of(self.text, part)


@pytest.fixture
def lines(tmp_path, timeloom_program):
    """Runs a program, and returns its lines and its output."""
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", NATIVE / "busy.c", "-o", tmp_path / "busy.so"], check=True)

    def lines(text, *options):
        text = COMMON + textwrap.dedent(text)
        (tmp_path / "program.py").write_text(text)
        command = [sys.executable, "-m", "timeloom", "--quiet", "-o", tmp_path / "run", *options, "program.py"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, env=environment())
        assert done.returncode == 0 and "samples are taken" not in done.stderr, done.stderr
        return Lines(tmp_path / "run", text, timeloom_program), done.stdout

    return lines


THREE_LINES = """
def work():
    before = time.thread_time_ns()
    busy.sixty(10)
    before = timed("sixty", before)
    busy.thirty(10)
    before = timed("thirty", before)
    busy.ten(10)
    before = timed("ten", before)

until(1.5, work)
print(json.dumps(taken))
"""


def assert_shares(found, numbers, taken):
    """The lines have the shares that the program has measured, within what so few samples allow."""
    all_found, all_taken = sum(found.values()), sum(taken.values())
    samples = all_found / 1_000_000  # at least: a timer of the kernel ticks less often
    for name, number in numbers.items():
        expected = taken[name] / all_taken
        error = 4 * math.sqrt(expected * (1 - expected) / min(samples, 150)) + 0.02
        assert abs(found.get(number, 0) / all_found - expected) < error, (name, number, found, taken)


@ways
def test_lines_of_a_function_have_their_shares(lines, options):
    run, out = lines(THREE_LINES, *options)
    numbers = {name: run.number(f"busy.{name}(10)") for name in ("sixty", "thirty", "ten")}
    assert_shares(run.of("work"), numbers, json.loads(out))


@ways
def test_lines_add_up_to_the_sampled_own_time(lines, options):
    run, _ = lines(THREE_LINES, *options)
    with open(run.run / "samples.csv", newline="") as file:
        own = Counter()
        for row in csv.DictReader(file):
            own[row["function"]] += int(row["nanoseconds"])
    with open(run.run / "lines.csv", newline="") as file:
        by_line, samples = Counter(), 0
        for row in csv.DictReader(file):
            by_line[row["function"]] += int(row["nanoseconds"])
            samples += int(row["samples"])
    assert by_line["__main__.work"] == own["__main__.work"] > 0
    assert all(own[function] == time for function, time in by_line.items())
    report = json.loads(run.output("report", "--function", "work", "--json", "run"))
    assert sum(line["seconds"] for line in report["lines"]) == pytest.approx(own["__main__.work"] * 1e-9)
    every = json.loads(run.output("report", "--lines", "--json", "run"))
    assert sum(line["samples"] for line in every["lines"]) == samples
    assert run.output("report", "--lines", "--csv", "run") == (run.run / "lines.csv").read_text()


@ways
def test_loops_calls_and_multi_line_statements(lines, options):
    """A line is the one that runs, also in a loop, after a jump, and in a call over several lines."""
    run, _ = lines(
        """
        def work():
            for _ in range(3):
                if _ == 1:
                    continue
                busy.sixty(
                    3,  # sixty
                )
            try:
                busy.thirty(3), 1 / 0  # thirty
            except ZeroDivisionError:
                busy.ten(30)  # ten

        until(1, work)
        """,
        *options,
    )
    found = run.of("work")
    hot = {number: time for number, time in found.items() if time > 0.03 * sum(found.values())}
    assert set(hot) == {run.number("busy.sixty("), run.number("# thirty"), run.number("# ten")}, found


@ways
def test_line_that_calls_what_is_not_recorded_has_its_time(lines, options):
    """The excluded function is in the file, too, but its lines are not lines of the caller."""
    run, _ = lines(
        """
        def hidden():
            busy.ten(10)  # inside

        def work():
            hidden()  # outside
            busy.ten(5)

        until(1, work)
        """,
        *options,
        "--exclude",
        "*hidden*",
    )
    found = run.of("work")
    assert run.number("# inside") not in found and run.of("hidden") == {}
    assert found[run.number("# outside")] > 0.5 * sum(found.values())


@ways
def test_generators_comprehensions_threads_and_recursion(lines, options):
    run, _ = lines(
        """
        import threading

        def values(count):
            for _ in range(count):
                busy.ten(4)  # generator
                yield 1

        def recursive(level):
            if level == 0:
                return busy.ten(8)  # innermost
            recursive(level - 1)  # on the way

        def both():
            sum(values(2))
            recursive(20)

        thread = threading.Thread(target=until, args=(0.7, both))
        thread.start()
        until(0.7, both)
        thread.join()
        """,
        *options,
    )
    of_generator, of_recursion = run.of("values"), run.of("recursive")
    assert of_generator[run.number("# generator")] > 0.8 * sum(of_generator.values())
    assert of_recursion[run.number("# innermost")] > 0.6 * sum(of_recursion.values()) > 0.05e9


@pytest.mark.parametrize("options", [("--sample", "1ms")])
def test_block_of_the_api_has_no_lines(lines, options):
    run, _ = lines(
        """
        import timeloom

        def work():
            with timeloom.region("block"):
                busy.sixty(3)  # in the block
            busy.ten(3)  # behind it

        until(1, work)
        """,
        *options,
    )
    with open(run.run / "lines.csv", newline="") as file:
        assert {row["function"] for row in csv.DictReader(file)} & {"block"} == set()
    assert run.of("work")[run.number("# behind it")] > 0.5 * sum(run.of("work").values())


@needs_monitoring
def test_throttled_function_has_lines(lines):
    """Of a function whose calls are recorded no more, samples have its own lines."""
    run, _ = lines(
        """
        def small(n):
            total = 0
            for i in range(n):
                total += i * i % 7  # hot
            return total

        def work():
            for _ in range(1000):
                small(30)

        until(3, work)
        """,
        "--overhead",
        "5%",
        "--sample",
        "1ms",
    )
    found = run.of("small")
    hot = found[run.number("# hot")] + found.get(run.number("range(n)"), 0)
    assert hot > 0.6 * sum(found.values()) > 0.3e9


def test_report_in_a_terminal(lines):
    run, _ = lines(THREE_LINES, "--sample", "1ms")
    sixty = run.number("busy.sixty(10)")
    text = run.output("report", "--lines", "run")
    assert "source line" in text and f"program.py:{sixty}" in text.splitlines()[1]
    text = run.output("report", "--function", "work", "run")
    assert "own time by source line, from samples" in text
    first = text[text.index("own time by source line") :].splitlines()[1]
    assert first.endswith(f"line {sixty}") and first.split()[0].endswith("%")
    source = run.output("report", "--function", "work", "--with-source", "run").splitlines()
    (heated,) = [line for line in source if "busy.sixty(10)" in line]
    assert heated.split()[0].endswith("%") and f" {sixty} " in heated
    (cold,) = [line for line in source if "def work" in line]
    assert "%" not in cold
    answer = json.loads(run.output("report", "--function", "work", "--with-source", "--json", "run"))
    assert {"line", "samples", "seconds"} == set(answer["source"]["times"][0])


def test_report_on_functions_in_two_files_has_no_lines(lines):
    run, _ = lines(
        """
        code = "def work(busy):\\n    busy.sixty(10)\\n    busy.ten(10)\\n"
        for name in ("first", "second"):
            with open(f"{name}.py", "w") as file:
                file.write(code)
        sys.path.insert(0, ".")
        import first, second
        until(0.5, lambda: first.work(busy) or second.work(busy))
        """,
        "--sample",
        "1ms",
    )
    text = run.output("report", "--function", "*.work", "run").splitlines()
    (reason,) = [line for line in text if line.startswith("no source lines: the functions are in 2 files (")]
    assert reason.endswith("first.py, " + reason.split("(")[1].split("first.py")[0] + "second.py); --function FILE:LINE chooses one")
    assert "own time by source line, from samples" in run.output("report", "--function", "first.work", "run")


def test_page_in_a_file_has_the_times_of_lines(lines):
    run, _ = lines(THREE_LINES, "--sample", "1ms")
    run.output("view", "--html", "page.html", "--with-source", "run")
    sections = dict(sections_of((run.run.parent / "page.html").read_text()))
    found = {}
    for source in json.loads(sections[4]).values():
        for one in source.get("times", []):
            found[source["file"], one["line"]] = found.get((source["file"], one["line"]), 0) + round(one["seconds"] * 1e9)
    with open(run.run / "lines.csv", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["file"].endswith("program.py")]
    expected = {}
    for row in rows:
        key = row["file"], int(row["source line"])
        expected[key] = expected.get(key, 0) + int(row["nanoseconds"])
    assert len(expected) >= 3 and expected.items() <= found.items()


@pytest.mark.any_python
def test_run_without_samples_and_wrong_options(lines, timeloom_program):
    run, _ = lines("until(0.01, lambda: None)\n")
    for words, message in (
        (["--lines"], "TL443"),
        (["--lines", "--thread", "MainThread"], "TL443"),
        (["--lines", "--native"], "TL401"),
        (["--lines", "--full"], "TL401"),
    ):
        done = subprocess.run([timeloom_program, "report", run.run, *words], capture_output=True, text=True)
        assert done.returncode != 0 and message in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr


@pytest.mark.any_python
@pytest.mark.parametrize("text", ["", "function,file\n", "function,file,line,source line,samples,nanoseconds\nf,x,1,-2,3,4\n"])
def test_damaged_file_is_named(lines, timeloom_program, text):
    run, _ = lines(THREE_LINES.replace("1.5", "0.1"), "--sample", "1ms")
    (run.run / "lines.csv").write_text(text)
    done = subprocess.run([timeloom_program, "report", "--lines", run.run], capture_output=True, text=True)
    assert done.returncode == 1 and "TL442" in done.stderr
    shown = subprocess.run([timeloom_program, "view", "--text", run.run], capture_output=True, text=True)
    assert shown.returncode == 0 and "TL442" in shown.stderr
