"""`timeloom convert --to pprof`: read by protobuf's decoder and by Go's own tool."""

import shutil
import subprocess
from collections import Counter

import pytest
from converted import convert, converter, each_run, read_json, recorded
from pprof_files import read_pprof

pytestmark = pytest.mark.any_python
__all__ = ["convert", "each_run"]

def work_and_waiting(row):
    """A task that is suspended waits; time that nobody has measured, and a task's on its thread, is neither."""
    time = max(row["exclusive_ns"], 0)
    ours = not row["file"]
    if ours and row["name"] in ("unmeasured", "task"):
        return 0, 0
    waiting = time if ours and row["name"] == "suspended" else min(row["metric.waiting"] or 0, time)
    return time - waiting, waiting


def test_pprof_has_every_call_path(each_run, convert):
    profile = read_pprof(convert("pprof"))
    strings = profile.string_table
    assert strings[0] == "" and len(set(strings)) == len(strings)
    rows = {row["id"]: row for row in read_json(convert("json", name="paths.json"))}
    has_work = any("metric.waiting" in row for row in rows.values())
    types = [(strings[one.type], strings[one.unit]) for one in profile.sample_type]
    assert types == [("visits", "count"), *((name, "nanoseconds") for name in ["time", "work", "waiting"][: 1 + 2 * has_work])]
    functions = {one.id: (strings[one.name], strings[one.filename], one.start_line) for one in profile.function}
    locations = {one.id: functions[one.line[0].function_id] for one in profile.location}
    found = Counter()
    for sample in profile.sample:
        labels = {strings[one.key]: strings[one.str] if one.str else one.num for one in sample.label}
        place = (labels.pop("process"), labels.pop("task", None) or labels.pop("thread"))
        path = tuple(locations[id] for id in sample.location_id)
        found[place, path, tuple(sorted(labels.items())), *sample.value] += 1
    expected = Counter()
    for row in read_json(convert("json", name="paths.json")):
        stack: list[tuple[str, str, int]] = []
        labels, one = {}, row
        while one:
            stack.append((one["name"], one["file"], one["line"]))
            given = {k.partition(".")[2]: v for k, v in one.items() if k.startswith("parameter.") and v is not None}
            labels = {key: str(value) if value == 0 else value for key, value in given.items()} | labels
            one = rows[one["parent"]] if one["parent"] is not None else None
        key = ((row["process"], row["thread"]), tuple(stack), tuple(sorted(labels.items())))
        work = work_and_waiting(row) if has_work else ()
        expected[*key, row["visits"], row["exclusive_ns"], *work] += 1
    assert found == expected


@pytest.mark.thorough  # the first call builds pprof, for more than a minute
@pytest.mark.skipif(shutil.which("go") is None, reason="Go is not installed")
def test_go_reads_pprof(program, tmp_path):
    file = converter(program, recorded("threads", program), tmp_path)("pprof", "--only-my-code")
    command = ["go", "tool", "pprof", "-sample_index=visits", "-top", "-nodecount=1000", file]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = {line.split(None, 5)[5]: int(line.split()[0]) for line in done.stdout.splitlines() if line.endswith("step")}
    assert found == {"__main__.step": 7}
