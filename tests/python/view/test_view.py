"""`timeloom view`: the server's answers about calls agree with the events of a run."""

import json
import random
import struct

import pytest
from archives import MAIN, WORKER, make_archive
from converted import calls_of, shown_parameter
from view_client import COLUMNS, EVER, NONE, Viewer
from view_runs import each_run, named_table, run, viewer

pytestmark = pytest.mark.any_python

__all__ = ["each_run", "run", "viewer"]


def places_of(description):
    """(process, thread) by track."""
    names = [process["name"] for process in description["processes"]]
    return [(names[track["process"]], track["name"]) for track in description["tracks"]]


def calls_by_track(description, run):
    """The calls of each track as another tool reads them: [(name, begin, end, depth), ...]."""
    known = {place: [call[:4] for call in calls] for place, calls in calls_of(run).items()}
    assert sorted(known) == sorted(places_of(description))
    return [known[place] for place in places_of(description)]


def expected_table(calls, begin, end):
    """By call path, as names: sums computed from every call."""
    table = {}
    for track in calls if begin < end else []:  # an empty range holds nothing
        stack = []
        for name, first, last, depth in track:
            del stack[depth:]
            stack.append(name)
            if not (first < end and (last > begin or first >= begin)):
                continue
            duration = min(last, end) - max(first, begin)
            row = table.setdefault(tuple(stack), [0, 0, 0, 0, 0, duration, 0])
            row[0] += 1
            row[1] += first < begin
            row[2] += last > end
            row[3] += duration
            row[4] += duration
            row[5] = min(row[5], duration)
            row[6] = max(row[6], duration)
            if len(stack) > 1 and duration:
                table[tuple(stack[:-1])][3] -= duration  # own time
    return {path: tuple(row) if is_called(path[-1]) else (0, 0, 0, *row[3:5], 0, 0) for path, row in table.items()}


def is_called(name):
    return name != "unmeasured" and not name.endswith(" (forked)")


def test_every_call_is_there(viewer, each_run):
    description = viewer.description()
    expected = calls_by_track(description, each_run)
    for number, calls in enumerate(expected):
        found = viewer.calls(number)
        assert [(description["regions"][region]["name"], *times, depth)
                for *times, _, region, depth in found] == calls  # fmt: skip
        track = description["tracks"][number]
        assert track["depth"] == max((depth + 1 for *_, depth in calls), default=0)
        if calls:
            assert track["begin"] <= calls[0][1] <= max(call[2] for call in calls) <= track["end"]


def test_tables_of_ranges_are_what_the_calls_give(viewer, each_run):
    description = viewer.description()
    calls = calls_by_track(description, each_run)
    times = [time for track in calls for call in track for time in call[1:3]]
    assert named_table(viewer, description) == expected_table(calls, 0, EVER)
    chosen = random.Random(1)
    for _ in range(20):
        begin, end = sorted(chosen.choice(times) + chosen.randrange(2) for _ in range(2))
        assert named_table(viewer, description, begin, end) == expected_table(calls, begin, end)
        number = chosen.randrange(len(calls))
        found = named_table(viewer, description, begin, end, (number,))
        assert found == expected_table([calls[number]], begin, end)


def test_the_whole_table_is_the_report(viewer, run, timeloom):
    description, paths = viewer.description(), viewer.paths()
    visits = {}
    for path, row in viewer.table().items():
        name = description["regions"][paths[path][1]]["name"]
        count, own = visits.get(name, (0, 0))
        visits[name] = count + row[0], own + row[3]
    expected = {}
    for row in json.loads(timeloom("report", "--json", "--flat", "--full", str(run)).stdout)["flat"]["rows"]:
        count, own = expected.get(row["name"], (0, 0))
        ticks = round(row["exclusive_s"] * description["ticks_per_second"])
        expected[row["name"]] = count + row["visits"], own + ticks
    assert visits == expected


def test_tiles_cover_what_calls_cover(viewer, each_run):
    description = viewer.description()
    calls = calls_by_track(description, each_run)
    level = 0
    while COLUMNS * 4**level <= description["length"]:
        level += 1
    for number, track in enumerate(calls):
        for k, index in [(level, 0), (level - 2, 0), (level - 2, 5)]:
            width, first = 4**k, index * COLUMNS * 4**k
            tile = viewer.tile(number, k, index)
            assert tile.exact and tile.rows == tile.all_rows
            for row in range(1, tile.rows):
                for column in range(COLUMNS):
                    begin, end = first + column * width, first + (column + 1) * width
                    there = [one for one in track if one[3] == row - 1 and one[1] < end
                             and (one[2] > begin or one[1] >= begin)]  # fmt: skip
                    ticks = sum(min(one[2], end) - max(one[1], begin) for one in there)
                    cover = max(1, (ticks * 255 + width - 1) // width) if there else 0
                    assert tile.cover[row][column] == cover
                    region = tile.region[row][column]
                    names = {one[0] for one in there}
                    assert (description["regions"][region]["name"] in names) if there else region == NONE


def test_tiles_of_processes_are_the_mean_of_their_tracks(viewer):
    description = viewer.description()
    level = 15
    own = [viewer.tile(number, level, rows=1).cover[0] for number in range(len(description["tracks"]))]
    groups = {0xFFFFFFFE: list(range(len(own)))}
    for number in range(len(description["processes"])):
        groups[0x80000000 + number] = [
            i for i, track in enumerate(description["tracks"]) if track["process"] == number
        ]
    for group, tracks in groups.items():
        found = viewer.tile(group, level)
        assert (found.rows, found.all_rows) == (1, 1)
        for column in range(COLUMNS):
            total = sum(own[track][column] for track in tracks)
            assert found.cover[0][column] == -(-total // len(tracks))


def test_mixtures_are_the_mean_of_any_tracks(viewer):
    tracks = tuple(range(len(viewer.description()["tracks"])))
    assert viewer.mixture(tracks, 15) == viewer.tile(0xFFFFFFFE, 15, rows=1)
    for track in tracks:
        alone, tile = viewer.mixture((track,), 12, 1), viewer.tile(track, 12, 1, rows=1)
        assert (alone.cover, alone.off, alone.region) == (tile.cover, tile.off, tile.region)
    for body in [struct.pack("<4I", 15, 0, 0, 0), struct.pack("<5I", 15, 0, 0, 1, 1 << 20), struct.pack("<5I", 15, 0, 0, 2, 0)]:
        assert viewer.request("POST", "/api/mixtures", body, X_Timeloom_Token=viewer.token)[0] == 400


def test_details_of_a_call(viewer, each_run):
    description = viewer.description()
    for number, place in enumerate(places_of(description)):
        for name, begin, end, depth, arguments in calls_of(each_run)[place][::7]:
            found = viewer.call(number, depth, begin)
            if begin == end or found["call"] is None or found["call"]["end"] != end:
                continue  # several begin at this time
            call = found["call"]
            assert description["regions"][call["region"]]["name"] == name
            assert (call["begin"], call["end"], call["depth"]) == (begin, end, depth)
            assert [caller["depth"] for caller in found["stack"]] == list(range(depth))
            values = {shown_parameter(one["name"]): one["value"] for one in call["parameters"]}
            assert values == {key: str(value) for key, value in arguments.items()}
            inside = [one for one in calls_of(each_run)[place]
                      if begin <= one[1] and one[2] <= end and one[3] > depth]  # fmt: skip
            assert call["calls"] == len(inside)
            assert call["own"] == end - begin - sum(one[2] - one[1] for one in inside if one[3] == depth + 1)


def test_searches(viewer, each_run):
    description = viewer.description()
    calls = calls_by_track(description, each_run)
    regions = {number for number, region in enumerate(description["regions"]) if "inner" in region["name"]}
    every = sorted(
        (call[1], number, call[3], call[2])
        for number, track in enumerate(calls)
        for call in track
        if "inner" in call[0]
    )
    assert every
    found, complete = viewer.find(0, 10_000, tuple(regions))
    assert complete
    assert [(begin, track, depth, end) for begin, end, track, depth, _, _ in found] == every
    assert {region for *_, region in found} <= regions
    backwards, _ = viewer.find(1, 10_000, tuple(regions))
    assert backwards == found[::-1]
    longest, _ = viewer.find(2, 3, tuple(regions))
    durations = sorted((end - begin for begin, _, _, end in every), reverse=True)
    assert [end - begin for begin, end, *_ in longest] == durations[:3]
    long, complete = viewer.find(0, 10_000, tuple(regions), shortest=durations[-1])
    assert complete and len(long) == len(durations)
    after, _ = viewer.find(0, 1, tuple(regions), span=(every[0][0] + 1, EVER))
    assert [call[0] for call in after] == sorted(begin for begin, *_ in every if begin > every[0][0])[:1]


def test_an_archive_of_another_tool(program, tmp_path):
    archive = make_archive(tmp_path / "run", {"MainThread": MAIN, "worker": WORKER})
    with Viewer(program, archive / "traces.otf2") as viewer:
        viewer.wait()
        description = viewer.description()
        names = [region["name"] for region in description["regions"]]
        ms = description["ticks_per_second"] // 1000
        base = viewer.calls(0)[0][0]
        assert [(names[region], (begin - base) // ms, (end - base) // ms, depth)
                for begin, end, _, region, depth in viewer.calls(0)] == [
            ("main", 0, 100, 0), ("Solver.step", 1, 10, 1), ("dot", 3, 7, 2), ("Solver.step", 10, 20, 1),
            ("dot", 11, 13, 2), ("fib", 20, 30, 1), ("fib", 21, 25, 2), ("fib", 22, 24, 3)]  # fmt: skip
        assert [(begin - base) // ms for begin, *_ in viewer.calls(1)] == [50]
    assert (archive / "view.timeloom").exists()
