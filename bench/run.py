"""Runs the benchmarks on each interpreter and writes bench/RESULTS.md.

usage: python bench/run.py [--rounds N] [--scratch DIR] [--no-long-weave] [--estimates | --no-estimates] PYTHON...

Each PYTHON is the interpreter of an environment that has Timeloom and
bench/requirements.txt installed. Run it on an idle machine: the figures are
single nanoseconds. The last part of RESULTS.md, on the estimates of the overhead
(estimates.py), can be measured alone (--estimates), or left out (--no-estimates).
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile

import estimates
from estimates import table
from limits import Check, Figures, check, check_profile, check_scale, has_monitoring
from machine import compiler_version, cpu_model, file_system, output_of

HERE = pathlib.Path(__file__).resolve().parent
RESULTS = HERE / "RESULTS.md"
LONG_WEAVE_BYTES = 3_000_000_000


def package_versions(python: str) -> str:
    code = (
        "import importlib.metadata as m, sys\n"
        "found = {d.name.lower(): d.version for d in m.distributions()}\n"
        "print(', '.join(f'{n} {found.get(n, \"absent\")}' for n in ('timeloom', 'viztracer')))"
    )
    return output_of([python, "-c", code])


def revision() -> str:
    """The measured commit, with a + if files differ from it."""
    git = ["git", "-C", str(HERE)]
    try:
        return output_of([*git, "describe", "--always", "--dirty=+"])
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def machine_lines(arguments: argparse.Namespace) -> list[str]:
    return [
        f"* date: {datetime.date.today().isoformat()}",
        f"* machine: {cpu_model()}, {os.cpu_count()} cores, {platform.machine()}",
        f"* kernel: {platform.system()} {platform.release()}",
        f"* revision: {revision()}",
        f"* compiler: {compiler_version()}",
        f"* file system of the runs: {file_system(arguments.scratch)}",
    ]


def cell(value: float | None) -> str:
    return "–" if value is None else f"{value:g}"


def flat(figures: Figures, prefix: str = "") -> Figures:
    """The figures by key; keys of nested objects are `outer.inner`."""
    result: Figures = {}
    for key, value in figures.items():
        if isinstance(value, dict):
            result.update(flat(value, f"{prefix}{key}."))
        elif key != "python":
            result[prefix + key] = value
    return result


def figures_table(all_figures: list[Figures]) -> list[str]:
    columns = [flat(figures) for figures in all_figures]
    names = list(dict.fromkeys(name for column in columns for name in column))
    rows = [[f"`{name}`", *(cell(column.get(name)) for column in columns)] for name in names]
    return table(["figure", *(figures["python"] for figures in all_figures)], rows)


def clock_lines(all_figures: list[Figures]) -> list[str]:
    """The least cost of a call with two time stamps, beside the cost of a call under Timeloom."""
    rows = []
    for figures in all_figures:
        for hook, with_clock in (("monitoring", "floor-clock"), ("frame", "floor-frame-clock")):
            added = {**figures["added_ns"], **figures["extra"]["added_ns"]}
            found = [added.get(name) for name in (f"floor-{hook}", with_clock, f"timeloom-{hook}")]
            values = [value for value in found if value is not None]
            if len(values) == len(found):
                times = [f"{value / values[0]:.2f}" for value in values[1:]]
                rows.append([figures["python"], hook, *map(cell, values), *times])
    head = ["Python", "hook", "empty, ns", "reads the clock twice", "records: Timeloom"]
    head += ["clock / empty", "Timeloom / empty"]
    return ["## The share of the clock", "", *table(head, rows), ""]


def check_lines(figures: Figures, checks: list[Check]) -> list[str]:
    verdict = {True: "yes", False: "**no**", None: "not measured"}
    rows = [[one.what, one.measured, one.limit, verdict[one.holds]] for one in checks]
    return [f"### Python {figures['python']}", ""] + table(["what", "measured", "limit", "holds"], rows)


def run_long_weave(python: str, scratch: str) -> Figures | None:
    if shutil.disk_usage(scratch).free < LONG_WEAVE_BYTES:
        print(f"run.py: {scratch} has too little space for the long weave", file=sys.stderr)
        return None
    command = [python, str(HERE / "weave_memory.py"), "--scratch", scratch]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else None


def measure(script: str, python: str, arguments: argparse.Namespace, *options: str) -> Figures:
    """The figures that a benchmark prints."""
    print(f"run.py: {script} on {python}", file=sys.stderr)
    command = [python, str(HERE / script), "--json", "--scratch", arguments.scratch, *options]
    figures: Figures = json.loads(output_of(command))
    return figures


def measure_all(python: str, arguments: argparse.Namespace) -> tuple[Figures, list[Check]]:
    """The figures of an interpreter, and limits for those that overhead.py does not measure."""
    figures = measure("overhead.py", python, arguments, "--rounds", str(arguments.rounds))
    checks: list[Check] = []
    if has_monitoring(figures):  # the limits of the other benchmarks need it
        others = (("scale", "scale.py", check_scale), ("profile", "profile_mode.py", check_profile))
        for name, script, check_one in others:
            figures[name] = measure(script, python, arguments)
            del figures[name]["limits"]
            checks += check_one(figures[name])
    return figures, checks


def estimate_lines(arguments: argparse.Namespace) -> list[str]:
    lines = [estimates.HEADING, "", *machine_lines(arguments), ""]
    for python in arguments.python:
        version = output_of([python, "-c", "import platform; print(platform.python_version())"])
        figures = {}
        for script in estimates.SCRIPTS:
            figures[script] = measure(script, python, arguments)
        lines += estimates.lines_of(version, figures)
    return lines


def report(arguments: argparse.Namespace) -> tuple[str, list[str]]:
    """The text of RESULTS.md, and a line for each limit that is exceeded."""
    all_figures, all_checks, packages = [], [], []
    for python in arguments.python:
        figures, checks = measure_all(python, arguments)
        all_figures.append(figures)
        all_checks.append(checks)
        packages.append(
            f"* Python {figures['python']}: {package_versions(python)}; other programs used "
            f"{figures['extra']['other_load_cores']:g} cores meanwhile"
        )
    long_weave = None
    if arguments.long_weave:
        long_weave = run_long_weave(arguments.python[-1], arguments.scratch)
    lines = ["# Results of the benchmarks", ""]
    lines += ["`make bench` writes this file; the docstrings of overhead.py, scale.py and profile_mode.py "
              "describe the method."]  # fmt: skip
    lines += ["", *machine_lines(arguments), *packages, "", "## Limits", ""]
    failing = []
    for figures, more in zip(all_figures, all_checks):
        checks = check(figures, long_weave) + more
        failing += [f"Python {figures['python']}: {one.what}: {one.measured}, {one.limit}"
                    for one in checks if one.holds is False]  # fmt: skip
        lines += [*check_lines(figures, checks), ""]
    lines += [*clock_lines(all_figures), "## Figures", "", *figures_table(all_figures)]
    if long_weave:
        lines += ["", "A long run: " + ", ".join(f"`{k}` {v:g}" for k, v in long_weave.items()) + "."]
    return "\n".join(lines) + "\n", failing


def old_limits(results: pathlib.Path) -> tuple[str, list[str]]:
    """The text that report() has written, without the estimates."""
    return results.read_text(encoding="utf-8").partition("\n" + estimates.HEADING)[0], []


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("python", nargs="+", help="interpreters to measure")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scratch", default=tempfile.gettempdir(), help="where runs are written")
    parser.add_argument("--no-long-weave", dest="long_weave", action="store_false",
                        help="leave out the weave of 100 million events")  # fmt: skip
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--estimates", dest="only_estimates", action="store_true")
    which.add_argument("--no-estimates", dest="estimates", action="store_false")
    parser.add_argument("--output", type=pathlib.Path, default=RESULTS)
    arguments = parser.parse_args()
    text, failing = old_limits(arguments.output) if arguments.only_estimates else report(arguments)
    if arguments.estimates:
        text += "\n" + "\n".join(estimate_lines(arguments))
    arguments.output.write_text(text, encoding="utf-8")
    print(text)
    print(f"run.py: wrote {arguments.output}; {len(failing)} limits do not hold", file=sys.stderr)
    for line in failing:
        print(f"run.py: {line}", file=sys.stderr)


if __name__ == "__main__":
    main()
