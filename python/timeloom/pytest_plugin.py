"""The pytest plugin: ``pytest --timeloom`` measures the tests, and checks their limits.

All tests of a session become regions of one run, a profile. A test with limits has a separate run, and its limits are
checked when it ends; with ``--timeloom-traces`` every test has a separate run, with a trace. docs/pytest.md describes
it. Without ``--timeloom`` only the marker is registered.
"""

from __future__ import annotations

import timeloom
from timeloom import _core, _pytest_memory
from timeloom._launch import _read_pyproject as read_pyproject
from timeloom._text import duration, without_id

with _core.unrecorded():
    import contextlib
    import json
    import os
    import re
    import time
    import warnings
    from collections.abc import Generator, Mapping
    from pathlib import Path
    from typing import Any

    import pytest

_MARKER = """\
timeloom(max_total=None, max_visits=None, peak=None, leaks=None): with --timeloom, the most time that the test may \
take ("2s", "300ms", or seconds as a number; a dictionary sets it by region), and how often it may call \
regions ({"shop.load": 3}); with --timeloom-memory, the most memory that it may hold at its peak and at its end more \
than before ("100MB", "64MiB", or bytes as a number)."""
_FRAMES = ["_pytest.*", "pluggy.*"]  # lie between a measurement and the test
_RUN = "timeloom_run"  # properties of a test report, which xdist passes on
_JOINED = "timeloom_joined"
_UNCHECKED = "timeloom_unchecked"
_MEASURED = "timeloom_measured"
_SECONDS = "timeloom_seconds"  # of the test alone, without starting and weaving a run for it
_PARTS = Path("spool", "parts")  # the spools of a session's processes; src/run/spools.hpp
_MOST_SLOW = 10


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options ``--timeloom``, ``--timeloom-traces`` and ``--timeloom-memory``."""
    group = parser.getgroup("timeloom", "measuring with Timeloom")
    group.addoption("--timeloom", action="store_true",
                    help="measure the tests, and hold each to the limits of its timeloom marker")
    group.addoption("--timeloom-traces", action="store_true",
                    help="the same with a run for each test, which has a trace")
    group.addoption("--timeloom-memory", action="store_true",
                    help="the same as --timeloom, with allocations of memory: for the limits peak and leaks")


@pytest.hookimpl(wrapper=True, tryfirst=True)  # before pytest captures output
def pytest_load_initial_conftests(early_config: pytest.Config) -> Generator[None, Any, Any]:
    """With ``--timeloom-memory``, begin again with the library that sees allocations.

    Raises UsageError if that cannot be.
    """
    if early_config.known_args_namespace.timeloom_memory:
        problem = _pytest_memory.begin_again([str(word) for word in early_config.invocation_params.args])
        if problem:
            raise pytest.UsageError(f"timeloom: --timeloom-memory: {problem} [TL644]")
    return (yield)


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker; with ``--timeloom`` also the plugin that measures.

    Raises UsageError if a setting of Timeloom is invalid.
    """
    config.addinivalue_line("markers", _MARKER)
    traces = bool(config.getoption("--timeloom-traces"))
    memory = bool(config.getoption("--timeloom-memory"))
    if not traces and not memory and not config.getoption("--timeloom"):
        return
    try:
        output = _core.output_of_block({}, read_pyproject())
    except timeloom.Error as error:
        raise pytest.UsageError(f"timeloom: {error}") from None
    config.pluginmanager.register(_Session(config, output, traces, memory), "timeloom-session")


def _limits_of(item: pytest.Item) -> tuple[list[_Limit], dict[str, int]]:
    """Return the rules of a test, and the limits of its memory."""
    limits: list[_Limit] = []
    memory: dict[str, int] = {}
    for marker in item.iter_markers("timeloom"):
        wanted = dict(marker.kwargs)
        total, visits = wanted.pop("max_total", None), wanted.pop("max_visits", None)
        for name, most in _pytest_memory.limits_of(wanted).items():
            memory[name] = min(most, memory.get(name, most))
        if marker.args or wanted:
            raise ValueError("the marker takes max_total, max_visits, peak and leaks, by their names")
        if total is not None:
            named = total if isinstance(total, Mapping) else {item.nodeid: total}
            limits += [_Limit("total", name, _time(value)) for name, value in named.items()]
        if visits is not None:
            if not isinstance(visits, Mapping):
                raise ValueError('max_visits takes regions and numbers, such as {"shop.load": 3}')
            limits += [_Limit("visits", name, _number(value)) for name, value in visits.items()]
    return limits, memory


def _time(value: Any) -> str:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < float("inf"):
        return f"{value!r}s"
    if isinstance(value, str) and re.fullmatch(r"\s*[0-9.]+\s*(ns|us|µs|ms|s|min)\s*", value):
        return value.strip()
    raise ValueError(f"max_total takes seconds, or a time such as '300ms', not {value!r}")


def _number(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return str(value)
    raise ValueError(f"max_visits takes whole numbers, not {value!r}")


class _Limit:
    """One limit of a test, as a rule of ``timeloom check``."""

    def __init__(self, quantity: str, region: str, most: str) -> None:
        if not isinstance(region, str):
            raise ValueError(f"a limit is for a region by its name, not for {region!r}")
        self.quantity, self.region, self.most = quantity, region, most

    @property
    def rule(self) -> str:
        name = self.region.replace("\\", "\\\\").replace('"', '\\"')
        return f'{self.quantity}("{name}") <= {self.most}'

    def broken(self, verdict: dict[str, Any], test: str) -> list[str]:
        """Return a line for each region that exceeds the limit."""
        if verdict["outcome"] in ("error", "undecided"):
            return [f"{self.region}: {verdict['text']}"]
        return [self._line("the test" if one["name"] == test else one["name"], one["measured"])
                for one in verdict["regions"] if not one["holds"]]

    def _line(self, what: str, measured: float) -> str:
        if self.quantity == "total":
            return f"{what} took {duration(measured, 4)}, allowed are {self.most}"
        return f"{what} was visited {measured:g} times, allowed are {self.most}"


def _verdicts(run: str, limits: list[_Limit]) -> list[dict[str, Any]]:
    done = _pytest_memory.timeloom("check", "--json", run, *(limit.rule for limit in limits))
    if not done.stdout:
        raise timeloom.Error(done.stderr.strip() or f"timeloom check ended with status {done.returncode} [TL642]")
    rules: list[dict[str, Any]] = json.loads(done.stdout)["rules"]
    return rules


def _failed(what: str) -> BaseException:
    return pytest.fail.Exception(f"timeloom: {what}", pytrace=False)


class _Part:
    """The tests that one process records, as regions of one measurement."""

    def __init__(self, memory: bool) -> None:
        self._measurement: timeloom.Measurement | None = None
        self._number = 0
        self._memory = memory

    @property
    def running(self) -> bool:
        """True while this measurement is running."""
        return self._measurement is not None

    def enter(self, parts: Path) -> None:
        """Begin to record a test. Raises timeloom.Error or OSError on failure."""
        if self._measurement is None:
            self._measurement = self._start(parts)
        _core.enable_recording()

    def leave(self) -> None:
        """The test has ended; nothing is recorded up to the next."""
        _core.disable_recording()

    def finish(self) -> None:
        """End the measurement, so that another one can begin."""
        measurement, self._measurement = self._measurement, None
        if measurement is not None:
            _core.enable_recording()  # for later measurements
            measurement.finish()

    def _start(self, parts: Path) -> timeloom.Measurement:
        parts.mkdir(parents=True, exist_ok=True)
        self._number += 1
        output = parts / f"{os.getpid()}-{self._number}"
        return timeloom.Measurement(output=str(output), exclude=_FRAMES, profile=True, weave=False,
                                    memory=self._memory).start()


def _weave(directory: Path) -> str | None:
    """Create the run from the records of a session's processes; return the errors."""
    done = _pytest_memory.timeloom("weave", str(directory))
    return None if done.returncode == 0 else done.stderr.strip()


def _run_as_region(item: pytest.Item) -> Generator[None, Any, Any]:
    """Run the test as a region of its name, and note its exclusive time."""
    begin = time.perf_counter()
    try:
        with timeloom.region(item.nodeid):
            return (yield)
    finally:
        item.user_properties.append((_SECONDS, repr(time.perf_counter() - begin)))


class _Session:
    """Measures the tests of one pytest process, and summarizes them in the process that reports."""

    def __init__(self, config: pytest.Config, output: str, traces: bool, memory: bool) -> None:
        here = config.invocation_params.dir
        worker = getattr(config, "workerinput", None)
        name = output or time.strftime("timeloom-pytest-%Y%m%d-%H%M%S")
        self._here = here
        self._directory = Path(worker["timeloom_directory"]) if worker else here / name
        self._made = False  # this process has created the directory
        self._is_worker = worker is not None
        self._traces = traces
        self._memory = memory
        self._part = _Part(memory)
        self._problem: str | None = None
        self._found: dict[str, list[tuple[float, str]]] = {
            _RUN: [], _JOINED: [], _UNCHECKED: [], _MEASURED: []}
        self._durations: list[tuple[float, str]] = []

    @pytest.hookimpl(tryfirst=True)  # before xdist starts workers
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        if not self._is_worker and not self._traces and not session.config.option.collectonly:
            with contextlib.suppress(OSError):  # the first test reports the reason
                self._directory = _claimed(self._directory)
                self._made = True

    def pytest_unconfigure(self) -> None:
        if self._made:
            with contextlib.suppress(OSError):  # nothing was recorded if it is empty
                self._directory.rmdir()

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:  # of xdist: a worker begins
        node.workerinput["timeloom_directory"] = str(self._directory)

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        try:
            limits, memory = _limits_of(item)
        except ValueError as error:
            raise _failed(f"{error} [TL643]") from None
        if memory and not self._memory:
            raise _failed("peak and leaks are limits of memory, which pytest --timeloom-memory records [TL645]")
        if not limits and not memory and not self._traces and (self._part.running or not _core.running()):
            return (yield from self._as_region(item))
        self._part.finish()
        if _core.running():  # `timeloom run` measures the whole session
            result = yield from _run_as_region(item)
            if totals := _core.so_far():
                item.user_properties.append((_JOINED, totals["run"]))
            if limits or memory:
                item.user_properties.append((_UNCHECKED, "limits need runs of their own"))
            return result
        measurement = self._start(item, bool(limits or memory))
        if measurement is None:
            return (yield)
        try:
            result = yield from _run_as_region(item)
        finally:
            run = measurement.finish()
            if run is not None:
                item.user_properties.append((_RUN, run))
        self._judge(item, run, limits, memory)
        return result

    def _as_region(self, item: pytest.Item) -> Generator[None, Any, Any]:
        try:
            self._part.enter(self._directory / _PARTS)
        except (timeloom.Error, OSError) as error:
            self._warn(item, error)
            return (yield)
        item.user_properties.append((_MEASURED, item.nodeid))
        try:
            return (yield from _run_as_region(item))
        finally:
            self._part.leave()

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        self._part.finish()
        if not self._is_worker and not self._traces and (self._directory / _PARTS).exists():
            self._problem = _weave(self._directory)

    @staticmethod
    def _warn(item: pytest.Item, error: Exception) -> None:
        text = f"timeloom: {item.nodeid} is not measured: {without_id(error)} [TL640]"
        warnings.warn(pytest.PytestWarning(text), stacklevel=2)

    def _start(self, item: pytest.Item, has_limits: bool) -> timeloom.Measurement | None:
        try:
            output = str(self._claim(item.nodeid))
            settings = {} if self._traces else {"profile": True}
            return timeloom.Measurement(output=output, exclude=_FRAMES, memory=self._memory, **settings).start()
        except (timeloom.Error, OSError) as error:
            if has_limits:
                raise _failed(f"the limits of the test cannot be checked: {without_id(error)} [TL642]") from None
            self._warn(item, error)
            return None

    def _claim(self, test: str) -> Path:
        """Return an empty directory for the run of a test."""
        name = re.sub(r"[^\w.=+-]+", "-", test).strip("-.")[-100:] or "test"
        return _claimed(self._directory / name)

    def _judge(self, item: pytest.Item, run: str | None, limits: list[_Limit], memory: dict[str, int]) -> None:
        if not limits and not memory:
            return
        if run is None:
            raise _failed("the limits of the test cannot be checked: its measurement has no run [TL642]")
        try:
            lines = _pytest_memory.broken(run, memory) if memory else []
            verdicts = _verdicts(run, limits) if limits else []
        except (timeloom.Error, OSError, ValueError, _pytest_memory.Unreadable) as error:
            raise _failed(f"the limits of the test cannot be checked: {without_id(error)} [TL642]") from None
        lines += [line for limit, verdict in zip(limits, verdicts) if verdict["outcome"] != "pass"
                  for line in limit.broken(verdict, item.nodeid)]
        if lines:
            head = f"timeloom: {item.nodeid} is beyond its limits"
            pytest.fail("\n  ".join([head, *lines, f"run: {self._shown(run)}"]), pytrace=False)

    def _shown(self, run: str) -> str:
        path = os.path.relpath(run, self._here)
        return run if path.startswith("..") else path

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when != "call":
            return
        properties = {name: str(value) for name, value in report.user_properties}
        seconds = float(properties.get(_SECONDS, report.duration))
        if any(name in self._found for name in properties):
            self._durations.append((seconds, report.nodeid))
        for name, value in properties.items():
            if name in self._found:
                self._found[name].append((seconds, value))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        lines = self._slowest()
        if measured := self._found[_MEASURED]:
            directory = self._shown(str(self._directory))
            lines.append(f"{_tests(measured)} measured as regions of the run {directory}")
            lines.append(f"! {self._problem}" if self._problem else f"next: timeloom report {directory}")
        if runs := self._found[_RUN]:
            lines.append(f"{_tests(runs)} measured, each run in {self._shown(str(self._directory))}")
            lines.append(f"next, of the longest: timeloom report {self._shown(max(runs)[1])}")
        if joined := self._found[_JOINED]:
            lines.append(f"{_tests(joined)} measured as regions of the run {self._shown(joined[0][1])}")
        if unchecked := self._found[_UNCHECKED]:
            lines.append(f"! the limits of {_tests(unchecked)} were not checked: that needs a run for each "
                         "test, so a pytest that is not itself under timeloom run [TL641]")
        if lines:
            terminalreporter.write_sep("-", "timeloom")
        for line in lines:
            terminalreporter.write_line(line)


    def _slowest(self) -> list[str]:
        tests = sorted(self._durations, reverse=True)
        if len(tests) < 2:
            return []
        return ["slowest tests:", *(f"{duration(length, 4):>10}  {test}" for length, test in tests[:_MOST_SLOW])]


def _claimed(path: Path) -> Path:
    """Create a new directory: at the path, or with a number if that exists."""
    path.parent.mkdir(parents=True, exist_ok=True)
    number = 1
    place = path
    while True:
        try:
            place.mkdir()
        except FileExistsError:
            number += 1
            place = path.with_name(f"{path.name}-{number}")
        else:
            return place


def _tests(found: list[tuple[float, str]]) -> str:
    return "1 test" if len(found) == 1 else f"{len(found)} tests"
