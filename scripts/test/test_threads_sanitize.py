#!/usr/bin/env python3
"""Runs tests/python/events/test_parallel_threads.py under ThreadSanitizer.

usage: TIMELOOM_TSAN_PYTHON=/path/to/python python3 -m scripts.test.test_threads_sanitize [PYTEST_ARGUMENT...]

The interpreter is a CPython configured with --disable-gil --with-thread-sanitizer; the extension
is built with ThreadSanitizer for it, into build/tsan-python. Without one nothing is run, and one
line reports that. Fails if a test does, and on a report about Timeloom: one with a frame of Timeloom
between either access and the Python code that led to it. Reports about CPython alone are counted.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "tsan-python"
ENVIRONMENT = BUILD / "environment"
REPORTS = BUILD / "reports"

# Races of CPython 3.13 that are reached through its C API. There, two threads may intern the same string at once, and
# the hook of PEP 523 is a plain pointer.
SUPPRESSIONS = "race:intern_common\nrace:_PyInterpreterState_SetEvalFrameFunc\n"

# Properties of an interpreter: it has no GIL, and was built with the sanitizer.
ASK = (
    "import sysconfig\n"
    "words = sysconfig.get_config_var('CONFIG_ARGS') or ''\n"
    "free = sysconfig.get_config_var('Py_GIL_DISABLED')\n"
    "print(bool(free) and '--with-thread-sanitizer' in words)\n"
)


def unsuitable(python: str) -> str | None:
    """Why the tests cannot run with this interpreter; None if they can."""
    if not python:
        return "TIMELOOM_TSAN_PYTHON names no interpreter"
    try:
        said = subprocess.run([python, "-c", ASK], capture_output=True, text=True, check=False).stdout
    except OSError as error:
        return f"{python} cannot be started ({error.strerror})"
    if said.strip() != "True":
        return f"{python} is no CPython configured with --disable-gil --with-thread-sanitizer"
    return None


def fixed_addresses() -> list[str]:
    """As in test_sanitize.sh: older sanitizers need a process without address randomisation."""
    command = ["setarch", os.uname().machine, "-R"]
    usable = shutil.which("setarch") and subprocess.run([*command, "true"], check=False).returncode == 0
    return command if usable else []


def quiet_environment() -> dict[str, str]:
    """The environment for everything except the tests."""
    return {**os.environ, "TSAN_OPTIONS": "report_bugs=0"}


def install(python: str) -> pathlib.Path:
    """Builds the extension and installs it with pytest into a separate environment."""
    def run(*command: object) -> None:
        subprocess.run([str(word) for word in command], check=True, cwd=ROOT, env=quiet_environment())

    run("cmake", "-S", ROOT, "-B", BUILD, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
        "-DTIMELOOM_SANITIZE=thread", "-DTIMELOOM_BUILD_PYTHON=ON", "-DTIMELOOM_BUILD_TESTS=OFF",
        "-DTIMELOOM_BUILD_TOOLS=OFF", f"-DPython_EXECUTABLE={python}")  # fmt: skip
    run("cmake", "--build", BUILD)
    interpreter = ENVIRONMENT / "bin" / "python"
    if not interpreter.exists():
        run(*fixed_addresses(), python, "-m", "venv", "--without-pip", ENVIRONMENT)
    (packages,) = ENVIRONMENT.glob("lib/python*/site-packages")
    if not (packages / "pytest").exists():  # pure Python; under the sanitizer pip takes minutes
        run("python3", "-m", "pip", "install", "--quiet", "--target", packages, "pytest")
    for folder in (ROOT / "python", ROOT / "python" / "doors"):
        shutil.copytree(folder, packages, dirs_exist_ok=True, ignore=shutil.ignore_patterns("doors"))
    for core in (BUILD / "src" / "python").glob("_core*.so"):
        shutil.copy(core, packages / "timeloom")
    return interpreter


def accesses(report: str) -> list[list[str]]:
    """The stacks of a report's accesses, without the stacks of thread creation and allocation."""
    parts = [part.strip("\n").splitlines() for part in report.split("\n\n")]
    parts = [part[1:] if part and part[0].startswith("WARNING") else part for part in parts]
    return [part[1:] for part in parts if part and re.search(r"(?i)\b(read|write) of size ", part[0])]


def is_ours(report: str) -> bool:
    """True for a report about Timeloom: a data race, or any other such as a crash or a misused lock."""
    if "data race" not in report:
        return "timeloom" in report
    for stack in accesses(report):
        for frame in stack:
            if "_PyEval_EvalFrameDefault" in frame:
                break  # the caller of this Python code, for example a frame hook of Timeloom, does not matter
            if "timeloom" in frame or "_core." in frame:
                return True
    return False


def reports() -> list[str]:
    texts = [file.read_text(errors="replace") for file in sorted(REPORTS.iterdir())]
    parts = [part for text in texts for part in text.split("==================\n")]
    return [part for part in parts if "ThreadSanitizer:" in part and "ThreadSanitizer: reported" not in part]


def main() -> int:
    python = os.environ.get("TIMELOOM_TSAN_PYTHON", "")
    if problem := unsuitable(python):
        print(f"test_threads_sanitize: nothing was run: {problem}")
        return 1 if python else 0
    interpreter = install(python)
    shutil.rmtree(REPORTS, ignore_errors=True)
    REPORTS.mkdir()
    suppressions = BUILD / "suppressions.txt"
    suppressions.write_text(SUPPRESSIONS)
    options = f"suppressions={suppressions} log_path={REPORTS}/report exitcode=0 history_size=4"
    tests = subprocess.run(
        [*fixed_addresses(), interpreter, "-m", "pytest", "-q", "events/test_parallel_threads.py", *sys.argv[1:]],
        cwd=ROOT / "tests" / "python", env={**os.environ, "TSAN_OPTIONS": options}, check=False,
    )  # fmt: skip
    found = reports()
    ours = [report for report in found if is_ours(report)]
    print("".join(f"==================\n{report}" for report in ours), end="")
    print(f"test_threads_sanitize: {len(ours)} reports of ours, {len(found) - len(ours)} of CPython alone")
    return 1 if ours else tests.returncode


if __name__ == "__main__":
    sys.exit(main())
