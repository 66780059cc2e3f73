"""Runs to convert, their events as another tool reads them, and the events in converted files.

A call is (name, begin, end, depth, arguments), in nanoseconds since the start of the run. The calls of a run are listed
by timeline, in the order of their starts: {(process, thread): [call, ...]}.
"""

import functools
import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import streams
from archives import DEBIAN_PYTHON
from streams import environment

# Of the tasks of engines and pools: they belong to a visit, and do not divide call paths.
KNOWN_PARAMETERS = {
    "timeloom::key": "task key", "timeloom::queued_ns": "task queued ns", "timeloom::stage": "task stage",
    "timeloom::partition": "task partition", "timeloom::attempt": "task attempt",
}  # fmt: skip
READER = Path(__file__).parent / "foreign" / "foreign_reader.py"

COMMON = """
import os, signal, sys, threading, timeloom

def step(n):
    timeloom.parameter_int("n", n)
    return inner(n)

def inner(n):
    return fib(2)

def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

def late(n):
    inner(n)
    timeloom.parameter_string("result", "käse \\"%d\\"" % n)
"""

PROGRAMS = {
    # Names with all characters that a format may use in its syntax.
    "threads": ([], 0, """
def odd():
    with timeloom.region('ein;\\n"Käse" {x, y}\\\\ \\t1'):
        timeloom.counter("residual", 1.5)
        step(3)
    timeloom.marker('hier,\\n"jetzt"')

def work():
    for n in range(3):
        step(n)
        timeloom.counter("residual", n / 4)
    late(7)

threads = [threading.Thread(target=work, name=name) for name in ("wörker;1", 'a "b", c')]
for one in threads: one.start()
for one in threads: one.join()
odd()
"""),
    "pool": (["--only-my-code"], 0, """
import multiprocessing
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(step, range(6), chunksize=1) == [1] * 6
        pool.close()
        pool.join()
"""),
    "tasks": (["--only-my-code", "--async-tasks", "--task-layout", "locations"], 0, """
import asyncio
async def leaf(n):
    await asyncio.sleep(0.001 * n)
    step(n)
async def main():
    await asyncio.gather(*[asyncio.create_task(leaf(n), name=f"leaf {n}") for n in range(3)])
asyncio.run(main())
"""),
    "killed": (["--only-my-code"], -9, """
def end(n):
    if n: return end(n - 1)
    os.kill(os.getpid(), signal.SIGKILL)
step(1)
end(3)
"""),
}  # fmt: skip


# Categories of marks.
TRANSFERS = ("mpi", "io")


def made_once(name, make):
    """Return the directory that make(directory) has filled, for all workers of the session."""
    final = streams.REFERENCES[0] / f"converted-{name}"
    if not final.exists():
        making = final.with_name(f"{final.name}.{os.getpid()}")
        making.mkdir()
        make(making)
        try:
            making.rename(final)
        except OSError:  # another worker was faster
            assert final.exists()
    return final


def recorded(name, program):
    """A run of PROGRAMS, woven."""
    options, status, text = PROGRAMS[name]

    def make(directory):
        (directory / "program.py").write_text(COMMON + text)
        command = [sys.executable, "-m", "timeloom", "--quiet", "-o", "run", *options, "program.py"]
        done = subprocess.run(command, cwd=directory, env=environment(), capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (status, "")
        subprocess.run([program, "weave", "run"], cwd=directory, check=True, capture_output=True)
        with open(directory / "events.json", "w") as file:
            subprocess.run([DEBIAN_PYTHON, READER, "run/traces.otf2"], cwd=directory, stdout=file, check=True)

    return made_once(name, make) / "run"


@functools.cache
def events_of(run):
    """{(process, thread): [[KIND, NANOSECONDS, ...], ...]}, as another tool reads the trace."""
    locations = json.loads((run.parent / "events.json").read_text())["locations"].values()
    events = {(one["process"], one["name"]): one["events"] for one in locations}
    assert len(events) == len(locations), "the timelines of these runs have names of their own"
    return events


def shown_parameter(name):
    """The name of a parameter as converted files have it."""
    return KNOWN_PARAMETERS.get(name, name.replace("timeloom::", ""))


@functools.cache
def calls_of(run):
    """The calls with their arguments; late ones also belong to the call."""
    calls = {}
    for place, events in events_of(run).items():
        calls[place], open_calls = [], []
        for kind, time, *words in events:
            if kind == "enter":
                open_calls.append([words[0], time, None, len(open_calls), {}])
                calls[place].append(open_calls[-1])
            elif kind == "leave":
                open_calls.pop()[2] = time
            elif kind == "parameter" and open_calls:
                open_calls[-1][4][shown_parameter(words[0])] = words[1]
        assert not open_calls
    return {place: list(map(tuple, one)) for place, one in calls.items()}


def others_of(run, kind):
    """{place: [[NANOSECONDS, ...], ...]} of all events of that kind."""
    return {place: [words for known, *words in events if known == kind] for place, events in events_of(run).items()}


class Nest:
    """Builds the calls of one timeline from their starts and ends."""

    def __init__(self):
        self.calls, self._open = [], []

    def begin(self, name, time, arguments):
        self._open.append([name, time, None, len(self._open), dict(arguments)])
        self.calls.append(self._open[-1])

    def end(self, time, arguments=()):
        call = self._open.pop()
        call[2] = time
        call[4].update(arguments)

    def result(self):
        assert not self._open
        return list(map(tuple, self.calls))


def converter(program, run, directory):
    """Converts the run, and returns the path of the file."""

    def convert(format, *options, name="out"):
        file = directory / name
        done = subprocess.run(
            [program, "convert", run, "--to", format, "-o", file, "--force", *map(str, options)],
            capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return file

    return convert


@pytest.fixture(params=list(PROGRAMS))
def each_run(request, program):
    return recorded(request.param, program)


@pytest.fixture
def convert(each_run, program, tmp_path):
    return converter(program, each_run, tmp_path)


def read_json(file):
    data = file.read_bytes()
    return json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)


class Chrome:
    """Read a file in Chrome's format: calls, counters, instants (transfers with their arguments), flows by timeline."""

    def __init__(self, file):
        data = read_json(file)
        self.other = data["otherData"]
        events = data["traceEvents"]
        facts = [one for one in events if one["ph"] == "M"]
        processes = {one["pid"]: one["args"]["name"] for one in facts if one["name"] == "process_name"}
        threads = {(one["pid"], one["tid"]): one["args"]["name"] for one in facts if one["name"] == "thread_name"}
        self.places = {key: (processes[key[0]], name) for key, name in threads.items()}
        nests = {place: Nest() for place in self.places.values()}
        self.counters, self.instants, self.flows, self.categories, self.transfers = {}, {}, {}, {}, {}
        for one in events:
            assert one["name"]  # which some readers ask of every event
            if one["ph"] == "M":
                continue
            place, time = self.places[one["pid"], one["tid"]], round(one["ts"] * 1000)
            if one["ph"] == "B":
                nests[place].begin(one["name"], time, one.get("args", {}))
                self.categories[one["name"]] = one["cat"]
            elif one["ph"] == "E":
                nests[place].end(time, one.get("args", {}))
            elif one["ph"] == "C":
                self.counters.setdefault(place, []).append((time, one["name"], *one["args"].items()))
            elif one["ph"] == "i":
                self.instants.setdefault(place, []).append((time, one["name"]))
                if one["cat"] in TRANSFERS:
                    self.transfers.setdefault(place, []).append((time, one["name"], one["args"]))
            else:
                self.flows.setdefault((one["name"], one["id"]), {})[one["ph"]] = (place, time)
        self.calls = {place: nest.result() for place, nest in nests.items()}


def _submitted(event):
    """Return the ids in the extension gpu_correlation of a TrackEvent, which the package's schema does not have."""
    from google.protobuf.unknown_fields import UnknownFieldSet

    numbers = []
    for field in UnknownFieldSet(event):
        if field.field_number == 3000:
            shift = value = 0
            in_value = False
            for byte in field.data:
                if not in_value:
                    assert byte == 1 << 3
                    in_value, shift, value = True, 0, 0
                    continue
                value |= (byte & 0x7F) << shift
                shift += 7
                if byte < 0x80:
                    numbers.append(value)
                    in_value = False
    return numbers


class Perfetto:
    """Read a file of Perfetto with its own schema: the same, and the clocks and packets."""

    def __init__(self, file):
        from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace

        self.trace = Trace()
        self.trace.ParseFromString(file.read_bytes())
        self.counters, self.instants, self.flows, self.categories, self.sources = {}, {}, {}, {}, {}
        self.transfers, self.steps = {}, {}  # steps: all places of a flow
        self.places, self._nests, self._counter_names, self._sequences = {}, {}, {}, {}
        self._processes, self._pids = {}, {}
        self.works, self.launches = {}, []  # typed records of GPUs by their ids, and the calls that started them
        for packet in self.trace.packet:
            self._read(packet)
        self.calls = {place: nest.result() for place, nest in self._nests.items()}

    def _read(self, packet):
        sequence = self._sequences.setdefault(packet.trusted_packet_sequence_id, {"time": 0, "names": {}})
        if packet.sequence_flags & 1 and packet.HasField("trace_packet_defaults"):
            assert packet.clock_snapshot.clocks[1].is_incremental
            assert packet.trace_packet_defaults.timestamp_clock_id == packet.clock_snapshot.clocks[1].clock_id == 64
            sequence["track"] = packet.trace_packet_defaults.track_event_defaults.track_uuid
        elif packet.HasField("clock_snapshot"):
            self.clocks = {one.clock_id: one.timestamp for one in packet.clock_snapshot.clocks}
        if packet.HasField("track_descriptor"):
            self._read_track(packet.track_descriptor)
        for field in ("event_categories", "event_names", "debug_annotation_names"):
            for one in getattr(packet.interned_data, field):
                sequence["names"][field, one.iid] = one.name
        for one in packet.interned_data.debug_annotation_string_values:
            sequence["names"]["text", one.iid] = one.str.decode()
        for one in packet.interned_data.gpu_specifications:
            sequence["names"]["specification", one.iid] = one.name
        for one in packet.interned_data.graphics_contexts:
            assert one.api == one.CUDA
            sequence["names"]["process", one.iid] = self._pids[one.pid]
        for one in packet.interned_data.source_locations:
            sequence["names"]["source", one.iid] = (one.file_name, one.function_name, one.line_number)
        if packet.HasField("gpu_render_stage_event"):
            assert (packet.timestamp_clock_id, packet.sequence_flags) == (6, 2)
            self._read_work(packet.gpu_render_stage_event, packet.timestamp, sequence["names"])
        if packet.HasField("track_event"):
            if packet.timestamp_clock_id:
                assert packet.timestamp_clock_id == 6
                time = packet.timestamp
            else:
                assert packet.sequence_flags == 2
                time = sequence["time"] = sequence["time"] + packet.timestamp
            self._read_event(packet.track_event, time, sequence)

    def _read_track(self, track):
        if track.HasField("process"):
            self._processes[track.uuid] = self._pids[track.process.pid] = track.process.process_name
        elif track.HasField("counter"):
            above = self.places.get(track.parent_uuid) or (self._processes[track.parent_uuid], None)
            self._counter_names[track.uuid] = (above, track.name)
        else:
            name = track.thread.thread_name if track.HasField("thread") else track.name
            self.places[track.uuid] = (self._processes[track.parent_uuid], name)
            self._nests[self.places[track.uuid]] = Nest()

    def _read_work(self, event, time, names):
        place = (names["process", event.context], names["specification", event.hw_queue_iid])
        name = names["event_names", event.name_iid]
        nest = self._nests.setdefault(place, Nest())
        nest.begin(name, time, {})
        nest.end(time + event.duration)
        facts = {one.name: one.value for one in event.extra_data}
        assert event.event_id not in self.works
        self.works[event.event_id] = (place, time, name, names["specification", event.stage_iid], event.gpu_id, facts)

    def _read_event(self, event, time, sequence):
        names = sequence["names"]
        arguments = {}
        for one in event.debug_annotations:
            value = getattr(one, one.WhichOneof("value"))
            if one.HasField("string_value_iid"):
                value = names["text", value]
            arguments[names["debug_annotation_names", one.name_iid]] = value
        track = event.track_uuid or sequence["track"]
        if event.type == event.TYPE_COUNTER:
            place, name = self._counter_names[track]
            value = event.double_counter_value if event.HasField("double_counter_value") else event.counter_value
            self.counters.setdefault(place, []).append((time, name, value))
            return
        place = self.places[track]
        if event.type == event.TYPE_SLICE_BEGIN:
            name = names["event_names", event.name_iid]
            self._nests[place].begin(name, time, arguments)
            self.categories[name] = names["event_categories", event.category_iids[0]]
            if event.source_location_iid:
                self.sources[name] = names["source", event.source_location_iid]
        elif event.type == event.TYPE_SLICE_END:
            self._nests[place].end(time, arguments)
        else:
            assert event.type == event.TYPE_INSTANT
            self.instants.setdefault(place, []).append((time, event.name))
            if event.category_iids and names["event_categories", event.category_iids[0]] in TRANSFERS:
                self.transfers.setdefault(place, []).append((time, event.name, arguments))
            if submitted := _submitted(event):
                self.launches.append((place, time, submitted))
            for number in event.flow_ids:
                self.flows.setdefault(number, {})["s"] = (place, time)
                self.steps.setdefault(number, []).append((place, time))
            for number in event.terminating_flow_ids:
                self.flows.setdefault(number, {})["f"] = (place, time)


class Speedscope:
    """A file of speedscope: the calls by timeline, without arguments."""

    def __init__(self, file):
        self.data = read_json(file)
        frames = self.data["shared"]["frames"]
        self.calls = {}
        for profile in self.data["profiles"]:
            nest = Nest()
            for event in profile["events"]:
                if event["type"] == "O":
                    nest.begin(frames[event["frame"]]["name"], event["at"], {})
                else:
                    nest.end(event["at"])
            self.calls[profile["name"]] = nest.result()


class Firefox:
    """A file of the Firefox Profiler: by timeline, stretches of time with one stack, and markers."""

    def __init__(self, file):
        self.data = read_json(file)
        self.stretches, self.markers = {}, {}
        for thread in self.data["threads"]:
            place = (thread["processName"], thread["name"])
            for name in ("samples", "markers", "stackTable", "frameTable", "funcTable", "nativeSymbols"):
                table = thread[name]
                assert {len(column) for column in table.values() if isinstance(column, list)} == {table["length"]}
            self.stretches[place] = [
                (round(time * 1e6), self._stack(thread, stack), round(weight * 1e6))
                for stack, time, weight in zip(*(thread["samples"][key] for key in ("stack", "time", "weight")))
            ]
            table, strings = thread["markers"], thread["stringArray"]
            self.markers[place] = [
                (strings[name], round(begin * 1e6), None if end is None else round(end * 1e6), data["name"])
                for name, begin, end, data in zip(table["name"], table["startTime"], table["endTime"], table["data"])
            ]

    @staticmethod
    def _stack(thread, stack):
        names = []
        while stack is not None:
            function = thread["frameTable"]["func"][thread["stackTable"]["frame"][stack]]
            names.append(thread["stringArray"][thread["funcTable"]["name"][function]])
            stack = thread["stackTable"]["prefix"][stack]
        return tuple(reversed(names))
