"""The server of `timeloom view`: requests without the token get no answer, and requests are bounded."""

import contextlib
import resource
import select
import signal
import socket
import struct
import subprocess
import time
from pathlib import Path

import pytest
from view_client import Viewer
from view_runs import one_run

pytestmark = pytest.mark.any_python

__all__ = ["one_run"]


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
        for host in (f"localhost:{viewer.port}", "127.0.0.1", "[::1]:5", "[::1]"):
            assert status_of("POST", "/api/run", Host=host, **token) == 200
        here = f"127.0.0.1:{viewer.port}"
        for host in (f"{here}, evil.example", f"{here},evil.example", f"{here} evil.example", f"{here}@evil.example",
                     f"{here}/evil.example", f"{here}:80", f"{here}.evil.example", "127.0.0.1:", "127.0.0.1:123456",
                     "127.0.0.1:+80", "127.0.0.1.", "[::1]evil.example", "[::1]evil:80", "[::1", "[::1]]", ":80", "",
                     "evil@127.0.0.1", "127.0.0.1.evil.example"):  # fmt: skip
            assert status_of("POST", "/api/run", Host=host, **token) == 403, host
        assert status_of("POST", "/api/run", Host="localhost:7", Origin="x://localhost:7", **token) == 403
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
        # Valid questions without data get an empty answer.
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
        for twice in (host, b"Origin: http://localhost\r\n", b"Sec-Fetch-Site: none\r\n", b"X-Timeloom-Token: x\r\n"):
            text = b"GET / HTTP/1.1\r\n" + (host if twice != host else b"") + twice * 2 + b"\r\n"
            assert answer_to(text).startswith(b"HTTP/1.1 403"), twice
        assert answer_to(b"GET / HTTP/1.1\r\nHost : localhost\r\n\r\n").startswith(b"HTTP/1.1 400")
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


def sleeps(viewer):
    """Return how often each of its threads has slept, except the first, which only waits for the end."""
    tasks = Path(f"/proc/{viewer.process.pid}/task")
    texts = {place: place.read_text() for place in tasks.glob("*/status") if place.parent.name != str(viewer.process.pid)}
    return {place: int(text.split("\nvoluntary_ctxt_switches:")[1].split()[0]) for place, text in texts.items()}


def test_a_connection_waits_while_there_are_no_descriptors(program, one_run):
    with Viewer(program, one_run) as viewer:
        viewer.wait()
        pid = viewer.process.pid
        limits = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (3, limits[1]))
        with socket.create_connection(("127.0.0.1", int(viewer.port)), timeout=60) as connection:
            # A thread that retries endlessly never sleeps.
            before = sleeps(viewer)
            end = time.monotonic() + 60
            while not any(count >= before[thread] + 5 for thread, count in sleeps(viewer).items()):
                assert time.monotonic() < end, "its thread of connections does not wait"
                time.sleep(0.05)
            resource.prlimit(pid, resource.RLIMIT_NOFILE, limits)
            connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            assert connection.makefile("rb").read().startswith(b"HTTP/1.1 200 OK")


def half_open(viewer, count, texts):
    """Open connections that have sent these, in turn, and neither continue nor read."""
    connections = []
    for i in range(count):
        connections.append(socket.create_connection(("127.0.0.1", int(viewer.port)), timeout=60))
        connections[-1].sendall(texts[i % len(texts)])
    return connections


def test_half_open_connections_keep_nobody_waiting(program, one_run):
    """A request is answered while all of them are open: none of them had to give way first."""
    with Viewer(program, one_run) as viewer, contextlib.ExitStack() as stack:
        viewer.wait()
        page = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
        idle = half_open(viewer, 400, [b"", b"GET / HT", page[:-2], page.replace(b"GET", b"POST")[:-2] +
                                       b"Content-Length: 9\r\n\r\nhalf", page * 40])  # fmt: skip
        for connection in idle:
            stack.callback(connection.close)
        assert viewer.request("GET", "/")[0] == 200
        silent = [connection for i, connection in enumerate(idle) if i % 5 != 4]
        closed, _, _ = select.select(silent, [], [], 0)
        assert closed == []
        # Those that read nothing get everything that they requested.
        answers = idle[4].makefile("rb")
        for _ in range(40):
            assert answers.readline() == b"HTTP/1.1 200 OK\r\n"
            headers = dict(line.rstrip().split(b": ", 1) for line in iter(answers.readline, b"\r\n"))
            assert len(answers.read(int(headers[b"Content-Length"]))) == int(headers[b"Content-Length"])


def test_the_oldest_of_too_many_connections_gives_way(program, one_run):
    with Viewer(program, one_run) as viewer, contextlib.ExitStack() as stack:
        idle = half_open(viewer, 600, [b"", b"GET / HT"])
        for connection in idle:
            stack.callback(connection.close)
        assert viewer.request("GET", "/")[0] == 200
        assert idle[0].recv(1) == b""
        closed, _, _ = select.select(idle[-400:], [], [], 0)
        assert closed == []


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


def test_wrong_options(timeloom):
    for words in (["--port", "0"], ["--port", "70000"], ["--idle", "x"], ["--port", "80", "--socket", "x"]):
        assert timeloom("view", *words, status=2).stderr.count("\n") <= 2


def test_no_port_twice(program, one_run, timeloom):
    with Viewer(program, one_run) as viewer:
        done = subprocess.run([program, "view", str(one_run), "--no-browser", "--port", viewer.port],
                              capture_output=True, text=True, timeout=60)  # fmt: skip
        assert done.returncode == 1 and "cannot listen at port" in done.stderr
