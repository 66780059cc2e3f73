"""`timeloom view`: a server that answers what the events of a run say, and nobody without the token."""

import json
import os
import random
import shutil
import signal
import socket
import struct
import subprocess
import time

import pytest
from archives import MAIN, WORKER, make_archive
from converted import calls_of, each_run, recorded
from view_client import COLUMNS, EVER, NONE, Viewer

pytestmark = pytest.mark.any_python

__all__ = ["each_run"]


@pytest.fixture
def run(each_run, tmp_path):
    """A copy: an index is written beside it."""
    return shutil.copytree(each_run, tmp_path / "run")


@pytest.fixture
def one_run(program, tmp_path):
    return shutil.copytree(recorded("threads", program), tmp_path / "run")


@pytest.fixture
def viewer(program, run):
    with Viewer(program, run) as viewer:
        yield viewer.wait()


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
    """By call path, as names: what the calls give, each looked at."""
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
    return {path: tuple(row) for path, row in table.items()}


def named_table(viewer, description, *arguments):
    """A table by call path, as names."""
    paths, regions = viewer.paths(), description["regions"]

    def names(path):
        parent, region = paths[path]
        return (() if parent == NONE else names(parent)) + (regions[region]["name"],)

    table = {}
    for path, row in viewer.table(*arguments).items():
        known = table.get(names(path))  # regions may have the same name
        sums = [a + b for a, b in zip(row[:5], known[:5], strict=True)] if known else row[:5]
        shortest, longest = known[5:] if known else row[5:]
        table[names(path)] = (*sums, min(shortest, row[5]), max(longest, row[6]))
    return table


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
            values = {one["name"].replace("timeloom::", ""): one["value"] for one in call["parameters"]}
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


# ---- the server


def test_nobody_else_is_answered(program, one_run):
    with Viewer(program, one_run) as viewer:
        viewer.wait()
        token = {"X_Timeloom_Token": viewer.token}
        status, headers, page = viewer.request("GET", "/")
        assert status == 200 and page.startswith(b"<!doctype html>")
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy

        def status_of(method, path, body=b"", **more):
            return viewer.request(method, path, body, **more)[0]

        assert status_of("POST", "/api/run") == 401
        assert status_of("POST", "/api/run", X_Timeloom_Token="A" * len(viewer.token)) == 401
        assert status_of("POST", "/api/run", X_Timeloom_Token=viewer.token[:-1]) == 401
        assert status_of("POST", "/api/run", **token) == 200
        assert status_of("GET", "/api/run", **token) == 405
        assert status_of("POST", "/", **token) == 405
        assert status_of("POST", "/api/nothing", **token) == 404
        assert status_of("GET", "/../../etc/passwd", **token) == 404
        assert status_of("GET", "/", Host="evil.example") == 403
        assert status_of("GET", f"http://evil.example:{viewer.port}/") == 403
        for host in (f"localhost:{viewer.port}", "127.0.0.1", "[::1]:5"):
            assert status_of("POST", "/api/run", Host=host, **token) == 200
        assert status_of("POST", "/api/run", Host="localhost:7", Origin="http://localhost:7", **token) == 200
        assert status_of("POST", "/api/run", Host="localhost:7", Origin="http://localhost:8", **token) == 403
        assert status_of("POST", "/api/run", Origin="null", **token) == 403
        assert status_of("POST", "/api/run", Sec_Fetch_Site="cross-site", **token) == 403
        assert status_of("POST", "/api/run", Sec_Fetch_Site="same-origin", **token) == 200


def test_what_is_no_question_is_refused(program, one_run):
    with Viewer(program, one_run) as viewer:
        viewer.wait()
        nan, much = float("nan"), 2**32 - 1
        for name, body in [
            ("run", b"x"),
            ("tiles", b"12345"),
            ("tiles", struct.pack("<6I", 0, 29, 0, 0, 0, 1)),
            ("tiles", struct.pack("<6I", 1000, 3, 0, 0, 0, 1)),
            ("tiles", struct.pack("<6I", 0x80000001, 3, 0, 0, 0, 1)),
            ("tiles", struct.pack("<6I", 0, 3, 0, 0, 0, 4097)),
            ("tiles", struct.pack("<6I", 0, 3, 0, 0, 0, 1) * 513),
            ("calls", struct.pack("<4I2d", 0, 0, 1, 0, 0, 1)),
            ("calls", struct.pack("<4I2d", 0, 0, 1, 100_001, 0, 1)),
            ("calls", struct.pack("<4I2d", 0, 0, 1, 100_000, 0, 1) * 11),
            ("calls", struct.pack("<4I2d", 0, 0, 1, 1, nan, 1)),
            ("table", struct.pack("<2d2I", 0, 1, much, 0)),
            ("table", struct.pack("<2d3I", 0, 1, 1, 0, 1000)),
            ("table", struct.pack("<2d3I", 0, 1, 0, 0, 0)),
            ("find", struct.pack("<2I4d2I", 3, 1, 0, 1, 0, 1, 0, 0)),
            ("find", struct.pack("<2I4d2I", 0, 1, 0, 1, 0, 1, 0, much)),
            ("call", struct.pack("<2Id", 1000, 0, 0)),
        ]:
            status, _, answer = viewer.request("POST", f"/api/{name}", body, X_Timeloom_Token=viewer.token)
            assert (status, answer.count(b"\n")) == (400, 1), (name, body[:40], answer)
        # What makes sense and has no answer is none.
        assert viewer.calls(0, 5, 5) == []
        assert viewer.table(9, 3) == {}
        assert viewer.tile(0, 28, 2**63).rows == 1
        assert viewer.call(0, 999, 0)["call"] is None


def test_requests_are_bounded(program, one_run):
    with Viewer(program, one_run) as viewer:
        def answer_to(text):
            with socket.create_connection(("127.0.0.1", int(viewer.port)), timeout=60) as connection:
                connection.sendall(text)
                connection.shutdown(socket.SHUT_WR)
                return connection.makefile("rb").read().split(b"\r\n")[0]

        host = b"Host: localhost\r\n"
        assert answer_to(b"GET / HTTP/1.1\r\n" + host + b"Connection: close\r\n\r\n") == b"HTTP/1.1 200 OK"
        assert answer_to(b"\x16\x03\x01\x02\x00" * 10) == b"HTTP/1.1 400 Bad Request"
        assert answer_to(b"GET / HTTP/1.1\r\n\r\n").startswith(b"HTTP/1.1 403")
        assert answer_to(b"GET / HTTP/1.1\r\n" + host * 2 + b"\r\n").startswith(b"HTTP/1.1 403")
        assert answer_to(b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\n\r\n").startswith(b"HTTP/1.1 413")
        long = b"Content-Length: 1048577\r\n\r\n"
        assert answer_to(b"POST /api/run HTTP/1.1\r\n" + host + long).startswith(b"HTTP/1.1 413")
        assert answer_to(b"GET / HTTP/1.1\r\nHost: local") == b""
        # Two requests at once are two answers.
        two = b"GET / HTTP/1.1\r\n" + host + b"\r\nGET /x HTTP/1.1\r\n" + host + b"Connection: close\r\n\r\n"
        with socket.create_connection(("127.0.0.1", int(viewer.port)), timeout=60) as connection:
            connection.sendall(two)
            answers = connection.makefile("rb").read()
        assert answers.count(b"HTTP/1.1 200") == 1 and answers.count(b"HTTP/1.1 404") == 1


def test_a_socket_in_place_of_a_port(program, one_run, tmp_path):
    path = tmp_path / "socket"
    with Viewer(program, one_run, "--socket", str(path)) as viewer:
        assert path.stat().st_mode & 0o777 == 0o600
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(path))
            connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            assert connection.makefile("rb").read().startswith(b"HTTP/1.1 200 OK")
        assert viewer.stop() == (0, "")
    assert not path.exists()


def test_other_names_of_the_host_are_allowed_one_by_one(program, one_run):
    with Viewer(program, one_run, "--allow-host", "hub.example") as viewer:
        answer = viewer.request("GET", "/", Host="hub.example:8000")
        assert answer[0] == 200
        assert viewer.request("GET", "/", Host="other.example")[0] == 403


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it(program, one_run, number):
    with Viewer(program, one_run) as viewer:
        viewer.wait()
        assert viewer.stop(number) == (0, "")


def test_the_browser_learns_the_address_from_a_file(program, one_run, tmp_path):
    browser, seen = tmp_path / "browser", tmp_path / "seen"
    browser.write_text(f'#!/bin/sh\nstat -c %a "$1" > {seen}.new\ncat "$1" >> {seen}.new\nmv {seen}.new {seen}\n')
    browser.chmod(0o755)
    with Viewer(program, one_run, browser=True, BROWSER=str(browser), XDG_RUNTIME_DIR=str(tmp_path)) as viewer:
        while not seen.exists():
            time.sleep(0.01)
        mode, page = seen.read_text().split("\n", 1)
        assert mode == "600" and f"{viewer.address}/#t={viewer.token}" in page
        assert viewer.stop() == (0, "")
    assert not list(tmp_path.glob("timeloom-view-*"))


def test_a_browser_that_is_missing(program, one_run):
    with Viewer(program, one_run, browser=True, BROWSER="/nowhere/browser") as viewer:
        assert viewer.request("GET", "/")[0] == 200
        assert "open the address yourself" in viewer.stop()[1]


def test_it_ends_when_nobody_asks(program, one_run):
    with Viewer(program, one_run, "--idle", "0.02") as viewer:
        assert viewer.process.wait(timeout=60) == 0


# ---- the index


def test_an_index_is_made_once(program, one_run):
    index = one_run / "view.timeloom"
    with Viewer(program, one_run) as viewer:
        viewer.wait()
        table = viewer.table()
        before = index.stat()
        assert not (one_run / ".view.timeloom").exists()
    with Viewer(program, one_run) as viewer:
        assert json.loads(viewer.ask("progress"))["state"] == "ready"
        assert viewer.table() == table
    assert (index.stat().st_ino, index.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@pytest.mark.parametrize("damage", ["cut", "changed", "empty", "directory", "link"])
def test_an_index_that_is_none_is_made_again(program, one_run, tmp_path, damage):
    index = one_run / "view.timeloom"
    with Viewer(program, one_run) as viewer:
        viewer.wait()
        description, table = viewer.description(), named_table(viewer, viewer.description())
    good = index.read_bytes()
    if damage == "cut":
        index.write_bytes(good[:-8])
    elif damage == "changed":
        index.write_bytes(good[:8] + b"\x07" + good[9:])
    elif damage == "empty":
        index.write_bytes(b"")
    else:
        index.unlink()
        if damage == "directory":
            index.mkdir()
        else:
            (tmp_path / "other").write_bytes(b"of somebody else")
            index.symlink_to(tmp_path / "other")
    with Viewer(program, one_run, XDG_CACHE_HOME=str(tmp_path / "cache")) as viewer:
        viewer.wait()
        assert named_table(viewer, description) == table
    if damage == "link":
        assert (tmp_path / "other").read_bytes() == b"of somebody else"


def test_an_archive_that_changed_gets_another_index(program, one_run):
    with Viewer(program, one_run) as viewer:
        viewer.wait()
    before = (one_run / "view.timeloom").read_bytes()
    events = next((one_run / "traces").glob("*.evt"))
    os.utime(events, ns=(1, 1))
    with Viewer(program, one_run) as viewer:
        viewer.wait()
    assert (one_run / "view.timeloom").read_bytes() != before


def test_two_viewers_at_once(program, one_run):
    with Viewer(program, one_run) as one, Viewer(program, one_run) as other:
        first, second = one.wait(), other.wait()
        description = first.description()
        assert named_table(first, description) == named_table(second, description)


def test_a_run_without_a_trace(timeloom, one_run):
    for name in ("traces.otf2", "traces.def"):
        (one_run / name).unlink()
    shutil.rmtree(one_run / "traces")
    said = timeloom("view", str(one_run), "--no-browser", status=1).stderr
    assert said.startswith("timeloom: ") and "trace" in said


def test_wrong_options(timeloom):
    for words in (["--port", "0"], ["--port", "70000"], ["--idle", "x"], ["--port", "80", "--socket", "x"]):
        assert timeloom("view", *words, status=2).stderr.count("\n") <= 2


def test_an_index_goes_with_its_run(program, one_run, timeloom):
    with Viewer(program, one_run) as viewer:
        viewer.wait()
    assert (one_run / "view.timeloom").exists()
    assert "view.timeloom" in timeloom("info", str(one_run)).stdout


def test_no_port_twice(program, one_run, timeloom):
    with Viewer(program, one_run) as viewer:
        done = subprocess.run([program, "view", str(one_run), "--no-browser", "--port", viewer.port],
                              capture_output=True, text=True, timeout=60)  # fmt: skip
        assert done.returncode == 1 and "cannot listen at port" in done.stderr
