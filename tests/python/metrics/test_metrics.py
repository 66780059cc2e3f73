"""Counters of getrusage and PAPI at every enter and leave: in the trace, as OTF2's readers see it."""

import re
import shutil
from collections import Counter

import pytest
from metric_runs import NAMES, events, needs_printer, papi, printed, record, work  # noqa: F401
from streams import INSTRUMENTERS

pytestmark = pytest.mark.any_python


def check_pairs(stream, names):
    """Every enter and leave has its values before it, with the same time, and they never decrease."""
    assert len(stream) % 2 == 0 and stream
    last = dict.fromkeys(names, 0)
    for (kind, time, values), (other, at, _) in zip(stream[::2], stream[1::2]):
        assert kind == "METRIC" and other in ("ENTER", "LEAVE") and time == at
        assert list(values) == names
        assert all(values[name] >= last[name] for name in names)
        last = values
    return last


@needs_printer
@pytest.mark.parametrize("instrumenter", INSTRUMENTERS)
def test_rusage_of_threads(instrumenter, work):
    record(work, "--metric-rusage=ru_utime, ru_minflt", "--instrumenter", instrumenter)
    locations = events(work / "run")
    assert len(locations) == 2
    for stream in locations.values():
        last = check_pairs(stream, ["ru_utime", "ru_minflt"])
        assert last["ru_utime"] > 0
        # The cost of the work lies inside it: 20 MB are some 5,000 pages.
        regions = {kind + name: values for (_, _, values), (kind, _, name) in zip(stream[::2], stream[1::2])}
        inside = regions["LEAVE__main__.burn"]["ru_minflt"] - regions["ENTER__main__.burn"]["ru_minflt"]
        assert inside > 1_000


@needs_printer
def test_definitions_of_rusage(work):
    record(work, "--metric-rusage=all")
    lines = printed(work / "run", "-G")
    members = [line for line in lines if line.startswith("METRIC_MEMBER")]
    assert [re.search(r'"(\w+)"', line).group(1) for line in members] == NAMES
    field = lambda line, name: re.search(name + r": ([^,]+)", line).group(1)
    kinds = Counter((field(line, "Mode"), field(line, "Value Type"), field(line, "Base"), field(line, "Exponent")) for line in members)
    assert kinds == {
        ("ACCUMULATED_START", "UINT64", "DECIMAL", "-6"): 2,
        ("ABSOLUTE_NEXT", "UINT64", "BINARY", "10"): 1,
        ("ACCUMULATED_START", "UINT64", "BINARY", "10"): 3,
        ("ACCUMULATED_START", "UINT64", "DECIMAL", "0"): 10,
    }
    (metric_class,) = [line for line in lines if line.startswith("METRIC_CLASS")]
    assert "SYNCHRONOUS_STRICT" in metric_class and "CPU" in metric_class and "16 Members" in metric_class
    assert all("RUSAGE" in line for line in members)
    for stream in events(work / "run").values():
        check_pairs(stream, NAMES)


@needs_printer
def test_rusage_of_the_process(work, timeloom):
    record(work, "--metric-rusage=ru_stime", "--metric-rusage-per-process=ru_utime,ru_maxrss")
    lines = printed(work / "run", "-G")
    (location,) = [line for line in lines if line.startswith("LOCATION ") and "METRIC" in line]
    assert '"Per process metrics"' in location
    assert sum(line.startswith("METRIC_CLASS") for line in lines) == 2
    (instance,) = [line for line in lines if line.startswith("METRIC_INSTANCE")]
    assert "LOCATION_GROUP" in instance
    locations = events(work / "run")
    (of_process,) = [stream for stream in locations.values() if all(kind == "METRIC" for kind, _, _ in stream)]
    main = locations[0]
    check_pairs(main, ["ru_stime"])
    assert [time for kind, time, _ in main if kind != "METRIC"] == [time for _, time, _ in of_process]
    said = timeloom("info", "--all", work / "run").stdout
    for name in ("ru_stime", "ru_utime_per_process", "ru_maxrss_per_process"):
        assert re.search(rf"timeloom::total_{name} = \d+ x (10\^-6 s|2\^10 Bytes)", said), said
    assert " 2 threads" in timeloom("report", work / "run").stdout.splitlines()[0]  # that location is not a thread
    assert " in 2 threads" in timeloom("report", "--flat", work / "run").stdout


@needs_printer
def test_traces_with_metrics_are_sound(work):
    record(work, "--metric-rusage=all", "--metric-rusage-per-process=all", "--c-functions")
    printed(work / "run", "--silent", "-Werror")


def test_without_metrics_there_are_none(work, timeloom):
    record(work)
    assert "METRIC" not in "".join(printed(work / "run", "-A")) if shutil.which("otf2-print") else True
    assert "Metrics" not in timeloom("info", work / "run").stdout


@needs_printer
def test_many_events_and_small_segments(work):
    """Samples and their events stay together over segments, and in forked children."""
    (work / "app.py").write_text("""
import os
def leaf(): pass
for _ in range(30_000): leaf()
if os.fork() == 0:
    for _ in range(10_000): leaf()
    os._exit(0)
os.wait()
""")
    record(work, "--metric-rusage=ru_nvcsw,ru_minflt", "--metric-rusage-per-process=ru_utime", "--buffer-size=1M")
    streams = events(work / "run")
    threads = [stream for stream in streams.values() if any(kind == "ENTER" for kind, _, _ in stream)]
    counts = sorted(sum(event[0] == "ENTER" and event[2] == "__main__.leaf" for event in stream) for stream in threads)
    assert counts == [10_000, 30_000]
    for stream in threads:
        paired = stream
        # os._exit() leaves regions open, which weaving closes without values.
        while paired[-2][0] == "LEAVE":
            paired = paired[:-1]
        check_pairs(paired, ["ru_nvcsw", "ru_minflt"])


WRONG = {
    "--metric-rusage=ru_time": "--metric-rusage: 'ru_time' is not accepted; write all, or some of " + ", ".join(NAMES) + " [TL101]",
    "--metric-rusage-per-process=x": "--metric-rusage-per-process: 'x' is not accepted; write all, or some of " + ", ".join(NAMES) + " [TL101]",
}  # fmt: skip


@pytest.mark.parametrize("option", WRONG)
def test_unknown_names_are_refused(option, work):
    assert record(work, option, status=2).stderr == f"timeloom: {WRONG[option]}\n"
    assert not (work / "run").exists()


# --- PAPI, by a stand-in for the library ----------------------------------------------------------


@needs_printer
def test_papi(work, papi):
    record(work, "--metric-papi=TOCK:TICK", "--metric-papi-sep=:", "--metric-rusage=ru_nsignals", env=papi)
    lines = printed(work / "run", "-G")
    members = [line for line in lines if line.startswith("METRIC_MEMBER")]
    assert ["PAPI" in line for line in members] == [False, True, True]
    for stream in events(work / "run").values():
        check_pairs(stream, ["ru_nsignals", "TOCK", "TICK"])
        values = [values for kind, _, values in stream if kind == "METRIC"]
        assert [value["TOCK"] for value in values] == list(range(1, len(values) + 1))
        assert [value["TICK"] for value in values] == list(range(10, 10 * len(values) + 1, 10))


@needs_printer
def test_papi_of_the_process(work, papi):
    record(work, "--metric-papi=TOCK", "--metric-papi-per-process=TICK", env=papi)
    streams = events(work / "run")
    main = [values["TOCK"] for kind, _, values in streams[0] if kind == "METRIC"]
    of_process = next(s for s in streams.values() if all(kind == "METRIC" for kind, _, _ in s))
    assert len(main) == len(of_process) > 0
    assert main == list(range(1, len(main) + 1))


@pytest.mark.parametrize("options, env, said", [
    (["--metric-papi=TUCK"], {}, "there is no event TUCK on this machine; papi_avail and papi_native_avail list those that there are [TL056]"),
    (["--metric-papi=TICK,FORBIDDEN"], {}, "FORBIDDEN may not be counted; set /proc/sys/kernel/perf_event_paranoid to 2 or less, or leave metric-papi out [TL057]"),
    (["--metric-papi-per-process=TICK"], {"STAND_IN_FAILS": "1"}, "libpapi cannot be used here: Component failed; see what papi_avail prints, or leave metric-papi out [TL055]"),
])  # fmt: skip
def test_papi_that_cannot_count_is_refused(options, env, said, work, papi):
    assert record(work, *options, env={**papi, **env}, status=2).stderr == f"timeloom: metric-papi: {said}\n"
    assert not (work / "run").exists()


def test_no_papi(work):
    """Also with a library that lacks the event: one line in either case, and nothing is run."""
    said = record(work, "--metric-papi=NO_SUCH_EVENT", status=2).stderr
    assert said.startswith("timeloom: metric-papi: ") and said.count("\n") == 1
    assert not (work / "run").exists()
