"""`timeloom convert` to formats with every event: the same calls, times, values and arrows as the trace."""

import collections
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from archives import make_archive
from converted import (
    Chrome,
    Firefox,
    Perfetto,
    Speedscope,
    calls_of,
    convert,
    converter,
    each_run,
    events_of,
    others_of,
    read_json,
    recorded,
)
from npm_packages import npm_file

pytestmark = pytest.mark.any_python

READERS: dict[str, Any] = {"chrome": Chrome, "perfetto": Perfetto}
__all__ = ["convert", "each_run"]


@pytest.mark.parametrize("format", READERS)
def test_every_call_with_its_time_depth_and_arguments(convert, each_run, format):
    assert READERS[format](convert(format)).calls == calls_of(each_run)


def test_speedscope_has_every_call(convert, each_run):
    several = len({process for process, _ in events_of(each_run)}) > 1
    expected = {
        f"{process}: {thread}" if several else thread: [(*call[:4], {}) for call in calls]
        for (process, thread), calls in calls_of(each_run).items()
    }
    assert Speedscope(convert("speedscope")).calls == expected


def stretches_of(events):
    """(begin, stack, duration) of each time with one stack, and (end, no stack, 0) where the last call ends."""
    found, stack, since = [], [], 0
    for kind, time, *words in events:
        if kind not in ("enter", "leave"):
            continue
        if stack and time > since:
            found.append((since, tuple(stack), time - since))
        since = time
        stack.append(words[0]) if kind == "enter" else stack.pop()
        if not stack:
            found.append((time, (), 0))
    return found


def test_firefox_has_every_stack_and_what_was_marked(convert, each_run):
    read = Firefox(convert("firefox"))
    assert read.stretches == {place: stretches_of(events) for place, events in events_of(each_run).items()}
    for place, calls in calls_of(each_run).items():
        given = [(name, begin, end, ", ".join(f"{key}={value}" for key, value in arguments.items()))
                 for name, begin, end, _, arguments in calls if arguments]  # fmt: skip
        assert sorted(one for one in read.markers[place] if "=" in one[3]) == sorted(given)
        values = [("residual", time, None, f"{value:g}") for time, _, value in counters_of(each_run).get(place, [])]
        assert [one for one in read.markers[place] if one[0] == "residual"] == values


def counters_of(run):
    return {
        place: [(time, name, value) for time, values in metrics for name, value in values]
        for place, metrics in others_of(run, "metric").items()
        if metrics
    }


def test_counters(program, tmp_path):
    run = recorded("threads", program)
    convert = converter(program, run, tmp_path)
    expected = counters_of(run)
    assert sorted(len(values) for values in expected.values()) == [1, 3, 3]
    assert Perfetto(convert("perfetto")).counters == expected
    chrome = {
        place: [(time, f"{name} ({place[1]})", ("value", value)) for time, name, value in values]
        for place, values in expected.items()
    }
    assert Chrome(convert("chrome")).counters == chrome


def arrows_of(run):
    """Return the two ends of each arrow, in order: from creation to start, from end to wait, from wake to
    continuation."""
    ends = collections.defaultdict(dict)
    for kind, name, end in [("create", 0, "s"), ("begin", 0, "f"), ("end", 1, "s"), ("wait", 1, "f"),
                            ("wakes", 2, "s"), ("woken", 2, "f")]:  # fmt: skip
        for place, events in others_of(run, kind).items():
            for time, number in events:
                ends[name, number][end] = (place, time)
    return sorted(map(sorted, (one.items() for one in ends.values())))


@pytest.mark.parametrize("name", ["threads", "tasks", "pool"])
@pytest.mark.parametrize("format", READERS)
def test_arrows_between_threads_and_tasks(program, tmp_path, name, format):
    run = recorded(name, program)
    flows = READERS[format](converter(program, run, tmp_path)(format)).flows
    assert sorted(sorted(one.items()) for one in flows.values()) == arrows_of(run)
    woken = collections.Counter(place for place, list_ in others_of(run, "woken").items() for _ in list_)
    assert {place[1]: count for place, count in woken.items()} == (
        {"leaf 1 (leaf)": 1, "leaf 2 (leaf)": 1, "Task-1 (main)": 1} if name == "tasks" else {})  # fmt: skip


@pytest.mark.parametrize("format", READERS)
def test_markers_and_kinds_of_regions(program, tmp_path, timeloom, format):
    run = recorded("threads", program)
    read = READERS[format](converter(program, run, tmp_path)(format))
    (marker,) = json.loads(timeloom("info", "--json", run).stdout)["markers"]
    assert marker["text"] == 'hier,\n"jetzt"'
    (place,) = [place for place in read.instants if place[1] == "MainThread"]
    (time,) = [time for time, name in read.instants[place] if name == marker["text"]]
    assert time == round(marker["time_s"] * 1e9)
    user = 'ein;\n"Käse" {x, y}\\ \t1'
    assert (read.categories[user], read.categories["__main__.step"]) == ("user", "function")


def test_perfetto_says_where_a_function_is_and_when_the_run_began(program, tmp_path, timeloom):
    run = recorded("threads", program)
    read = Perfetto(converter(program, run, tmp_path)("perfetto"))
    file, function, line = read.sources["__main__.step"]
    assert (Path(file).name, function, line) == ("program.py", "__main__.step", 4)
    assert read.clocks[6] == 0 and 1.7e18 < read.clocks[1] < 3e18
    packets = collections.Counter(packet.trusted_packet_sequence_id for packet in read.trace.packet)
    assert len(packets) == len(events_of(run)) + 2  # descriptions, and the marker


def test_perfetto_is_small(timeloom, tmp_path):
    """Names are written once: 20 bytes an event are enough."""
    calls = [(time, "region" if time % 2 == 0 else None) for time in range(10_000)]
    timeloom("convert", make_archive(tmp_path / "run", {"a": calls}), "--to", "perfetto", "-o", tmp_path / "out")
    assert (tmp_path / "out").stat().st_size / len(calls) < 20


def test_threads_and_tasks_are_tracks_of_their_process(program, tmp_path):
    run = recorded("tasks", program)
    read = Perfetto(converter(program, run, tmp_path)("perfetto"))
    tracks = [packet.track_descriptor for packet in read.trace.packet if packet.HasField("track_descriptor")]
    threads = [one.thread.thread_name for one in tracks if one.HasField("thread")]
    tasks = [one.name for one in tracks if not one.HasField("thread") and not one.HasField("process")]
    assert threads == ["MainThread"]
    assert {"leaf 0 (leaf)", "leaf 1 (leaf)", "leaf 2 (leaf)"} < set(tasks)
    numbers = {(one.thread.pid, one.thread.tid) for one in tracks if one.HasField("thread")}
    assert len(numbers) == len(threads)


def test_gzip_by_name(program, tmp_path):
    run = recorded("threads", program)
    convert = converter(program, run, tmp_path)
    packed = convert("chrome", name="out.json.gz")
    assert packed.read_bytes()[:2] == b"\x1f\x8b"
    assert Chrome(packed).calls == Chrome(convert("chrome")).calls
    assert gzip.decompress(packed.read_bytes()).startswith(b"{")


def test_speedscope_keeps_its_schema(program, tmp_path):
    import fastjsonschema

    schema = json.loads(npm_file("speedscope@1.25.0", "dist/release/file-format-schema.json"))
    convert = converter(program, recorded("threads", program), tmp_path)
    for options in ([], ["--paths"]):
        fastjsonschema.validate(schema, read_json(convert("speedscope", *options)))
