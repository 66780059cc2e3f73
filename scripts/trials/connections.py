"""Connections to `timeloom view` that never finish their requests; requests beside them are answered, and the server
ends.

Hundreds of them are open at any time, also more than the server holds; a closed connection comes again. The server
alternates between a port and a socket. Time limits only serve to find hangs.
"""

import contextlib
import dataclasses
import pathlib
import random
import signal
import socket
import subprocess
import tempfile
import time

from scripts.trials import world

ANSWERED = 60  # seconds
COUNTS = [200, 400, 900]  # the server holds 512
GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n"
POST = b"POST /api/run HTTP/1.1\r\nHost: localhost\r\n"


@dataclasses.dataclass(frozen=True)
class Kind:
    begin: bytes
    more: bytes = b""  # sent piece by piece
    piece: int = 1


KINDS = [
    Kind(b""),
    Kind(b"GET / HT"),
    Kind(GET),
    Kind(b"", (GET + b"\r\n") * 1000),  # a byte at a time
    Kind(GET, b"X-More: and more\r\n" * 1000, 18),  # headers without end
    Kind(GET + b"X-Long: ", b"a" * 100_000, 2000),
    Kind(POST + b"Content-Length: 9\r\n\r\nhalf"),
    Kind(POST + b"Content-Length: 1000000\r\n\r\n", b"x" * 1_000_000, 100),
    Kind((GET + b"\r\n") * 40),  # reads nothing
    Kind(GET.replace(b"localhost", b"evil.example") + b"\r\n", GET, 1),
    Kind(b"\x16\x03\x01\x02\x00", b"\x00" * 1000),
]


class Server:
    """`timeloom view` of a run, at a port or at a socket."""

    def __init__(self, run: pathlib.Path, home: pathlib.Path, path: str = "", cwd: pathlib.Path | None = None):
        self.path = path
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115  # until __exit__()
        words = [world.TIMELOOM, "view", "--no-browser", str(run), *(["--socket", path] if path else [])]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=self.errors, start_new_session=True,
                                        env=world.environment(home), cwd=cwd)  # fmt: skip
        assert self.process.stdout
        line = self.process.stdout.readline().decode().strip()
        if "/#t=" not in line:
            raise world.Fallen(f"timeloom view has not begun: {line} {self.said()}")
        address, self.token = line.split("/#t=")
        self.port = 0 if path else int(address.rsplit(":", 1)[-1])

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *unused: object) -> None:
        world.end_group(self.process)
        self.errors.close()

    def said(self) -> str:
        self.errors.seek(0)
        return self.errors.read().decode(errors="replace")

    def connect(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX if self.path else socket.AF_INET)
        connection.settimeout(ANSWERED)
        connection.connect(self.path or ("127.0.0.1", self.port))
        return connection

    def ask(self, method: str, path: str, host: str = "localhost", token: str = "") -> tuple[int, bytes]:
        """Status and body of the answer, which must be complete."""
        words = [f"{method} {path} HTTP/1.1", f"Host: {host}", "Content-Length: 0", "Connection: close",
                 *([f"X-Timeloom-Token: {token}"] if token else [])]  # fmt: skip
        try:
            with self.connect() as connection:
                connection.sendall("\r\n".join([*words, "", ""]).encode())
                answer = connection.makefile("rb").read()
        except OSError as error:
            raise world.Fallen(f"{method} {path} of {host} was not answered: {error!r}; {self.said()}") from None
        head, _, body = answer.partition(b"\r\n\r\n")
        lengths = [int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.startswith(b"Content-Length:")]
        if lengths != [len(body)]:
            raise world.Fallen(f"{method} {path}: an answer of {len(body)} bytes with the head {head!r}")
        return int(head.split()[1]), body

    def interrupt(self) -> None:
        """Ends the server as Ctrl-C does."""
        self.process.send_signal(signal.SIGINT)
        try:
            status = self.process.wait(world.LONGEST)
        except subprocess.TimeoutExpired:
            raise world.Fallen("timeloom view has not ended at SIGINT, with connections open") from None
        if (status, self.said()) != (0, ""):
            raise world.Fallen(f"timeloom view ended with {status} at SIGINT, with connections open: {self.said()}")


class Half:
    """A connection of a kind, which starts again when it is closed."""

    def __init__(self, server: Server, kind: Kind):
        self.server, self.kind = server, kind
        self.connections = 0
        self.begin()

    def begin(self) -> None:
        self.socket = self.server.connect()
        self.sent = 0
        self.connections += 1
        with contextlib.suppress(OSError):  # beyond the limit, connections are closed
            self.socket.sendall(self.kind.begin)
        self.socket.setblocking(False)

    def go_on(self) -> None:
        try:
            if self.kind.more and self.sent < len(self.kind.more):
                self.sent += self.socket.send(self.kind.more[self.sent : self.sent + self.kind.piece])
            elif not self.kind.more and self.socket.recv(1, socket.MSG_PEEK) == b"":
                raise ConnectionResetError
        except BlockingIOError:
            pass
        except OSError:
            self.socket.close()
            self.begin()


# Request and status.
REQUESTS = [
    (("GET", "/"), 200), (("GET", "/", "evil.example"), 403), (("GET", "/", "127.0.0.1, evil.example"), 403),
    (("POST", "/api/run"), 401), (("POST", "/api/run", "localhost", "wrong"), 401), (("GET", "/../x"), 404),
]  # fmt: skip


def check_answers(server: Server) -> float:
    """Returns the seconds of the slowest answer."""
    slowest = 0.0
    right = [(("POST", "/api/progress", "localhost", server.token), 200),
             (("POST", "/api/progress", "evil.example", server.token), 403)]  # fmt: skip
    for request, status in REQUESTS + right:
        begin = time.monotonic()
        got, _ = server.ask(*request)
        if got != status:
            raise world.Fallen(f"{' '.join(request[:3])} was answered with {got} in place of {status}")
        slowest = max(slowest, time.monotonic() - begin)
    return slowest


def attack(place: pathlib.Path, seconds: float, seed: int) -> str:
    chance = random.Random(seed)
    run = place / "run"
    code = "def f(): pass\nfor _ in range(1000): f()"
    world.checked([world.TIMELOOM, "run", "--quiet", "-o", run, "-c", code], place)
    end, asked, connections, slowest, servers = time.monotonic() + seconds, 0, 0, 0.0, 0
    while servers < 2 or time.monotonic() < end:
        until = time.monotonic() + seconds / 4
        with Server(run, place, str(place / "socket") if servers % 2 else "") as server:
            halves = [Half(server, chance.choice(KINDS)) for _ in range(COUNTS[servers % len(COUNTS)])]
            while asked == 0 or time.monotonic() < until:
                for half in chance.sample(halves, len(halves) // 4):
                    half.go_on()
                slowest = max(slowest, check_answers(server))
                asked += len(REQUESTS) + 2
                time.sleep(0.1)
            server.interrupt()
            for half in halves:
                connections += half.connections
                half.socket.close()
        servers += 1
    return f"{servers} servers, {connections:,} connections, {asked:,} requests, the slowest {slowest:.1f} s"
