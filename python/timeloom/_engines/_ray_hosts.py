"""Compares the clocks of the hosts of a Ray cluster with the clock of the program's host, and brings records home.

An actor on each other host answers (_ray_host.py), through Ray's own connections and its object store. Workers that do
not see the directory of the run record on their own host (timeloom_follow.py). The clocks are compared when the program
has connected and before it disconnects, and the records are fetched then.

All this runs in a thread that is not recorded. It waits for the end of the program, since no thread starts then.
"""

from __future__ import annotations

import _thread
import base64
import contextlib
import importlib
import secrets
import sys
import time
from typing import TYPE_CHECKING, Any

from timeloom import _core
from timeloom._engines._clocks import ROUNDS, Trip, clock_here, offset_of
from timeloom._engines._home import Home, fetch_from
from timeloom._engines._host_records import Place, files_seen_here, place_here, settings_of
from timeloom._engines._ray_host import TimeloomHost, end_here, note_offset

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator

VARIABLE = "TIMELOOM_HOME"  # of a worker: the files that the program sees, the token, and the settings of the run
_MOST = 1 << 16  # bytes of the variable
_OF_ACTOR = {"env_vars": {"TIMELOOM_ANSWERS": "1"}}  # --workers does not choose among actors that answer
_NOT_INSTALLED = "No module named 'timeloom"  # in the error of an actor that cannot begin
_SECONDS = 30  # for an actor to start, and for each answer


def variable_of(token: str, parent: str) -> str:
    """Return what a worker needs to record on its own host; `parent`: the spool of this process.

    Raises ValueError if it is too long: Linux starts no process with a variable of 128 KiB.
    """
    variable = f"{files_seen_here()} {token} {base64.b64encode(settings_of(parent)).decode()}"
    if len(variable) > _MOST:
        raise ValueError(f"the settings of the run are too long for a variable: {len(variable)} bytes")
    return variable


def new_token() -> str:
    """Return a name for the directories on other hosts."""
    return secrets.token_hex(16)


def _first_line(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0]


def print_not_compared(error: Exception) -> None:
    """Print that the clocks of a host, or of all, are not compared."""
    sys.stderr.write(f"timeloom: clocks of hosts are not compared: {_first_line(error)} [TL178]\n")


@contextlib.contextmanager
def _print_no_records(problem: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # the program ends in any case
        sys.stderr.write(f"timeloom: {problem}: {_first_line(error)} [TL179]\n")


def _at_once(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Return the result of a coroutine that awaits nothing but such coroutines."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    raise RuntimeError("the coroutine waits")


class _Host:
    """A node of the cluster, on another host as a rule."""

    def __init__(self, ray: Any, node: dict[str, Any], token: str) -> None:
        """Start an actor on the node."""
        self._ray, self._token, self.name = ray, token, node["NodeManagerHostname"]
        self.is_silent = False
        strategies = importlib.import_module("ray.util.scheduling_strategies")
        where = strategies.NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
        actor = ray.remote(num_cpus=0)(TimeloomHost)
        self.actor = actor.options(scheduling_strategy=where, runtime_env=_OF_ACTOR).remote()

    def ask(self, function: Any, *arguments: Any) -> Any:
        """Return the answer of a function of _clocks.py or _host_records.py."""
        return self._ray.get(self.actor.ask.remote(function.__name__, *arguments), timeout=_SECONDS)

    async def ask_for_records(self, function: Any, *arguments: Any) -> Any:
        """Return the answer of a function of _host_records.py."""
        return self.ask(function, self._token, *arguments)

    def compare_clocks(self, compared: set[str]) -> None:
        """Compare the clock of the host, unless its boot is among the compared ones; add it to them."""
        boot = self.ask(clock_here)[0]
        if boot in compared:
            return
        trips: list[Trip] = []
        for _ in range(ROUNDS):
            begin = time.monotonic_ns()
            there = int(self.ask(clock_here)[1])
            trips.append((begin, there, time.monotonic_ns()))
        self.ask(note_offset, *offset_of(trips))
        compared.add(boot)

    def place(self) -> Place | None:
        """End the recording of the actor; return the place of the records on this host; None: there are none."""
        self.ask(end_here)
        place = self.ask(place_here, self._token)
        return None if place is None else tuple(place)

    def fetch(self, parent: str, run_id: str) -> None:
        """Bring the records of the host home."""
        with Home(parent, run_id) as home:
            _at_once(fetch_from(self.ask_for_records, home))


class Hosts:
    """All other nodes, from the connection of the program to its end. Several may be on one host."""

    def __init__(self, token: str, variables: dict[str, str]) -> None:
        self._token, self._parent, self._run_id = token, variables["TIMELOOM_PARENT"], variables["TIMELOOM_RUN_ID"]
        self._known: dict[str, _Host] = {}  # by the id of the node
        self._without = set[str]()  # ids of nodes without Timeloom
        self._ends, self._ended = _thread.allocate_lock(), _thread.allocate_lock()
        self._ends.acquire()
        self._ended.acquire()

    def begin(self) -> None:
        """Start the thread."""
        _thread.start_new_thread(self._work, ())  # the start of a threading.Thread would be recorded

    def end(self) -> None:
        """Compare the clocks again and fetch the records; return when this is done."""
        self._ends.release()
        self._ended.acquire()

    def _work(self) -> None:
        _core.keep_off_threads([_thread.get_native_id()])
        try:
            self._compare_clocks()
            self._ends.acquire()
            self._compare_clocks()
            self._end_all()
        finally:
            self._known.clear()
            self._ended.release()

    def _add_new_nodes(self) -> None:
        ray: Any = sys.modules["ray"]
        old = {ray.get_runtime_context().get_node_id(), *self._known, *self._without}
        for node in ray.nodes():
            if node["Alive"] and node["NodeID"] not in old:
                self._known[node["NodeID"]] = _Host(ray, node, self._token)

    def _compare_clocks(self) -> None:
        try:
            self._add_new_nodes()
        except Exception as error:  # the program goes on in any case
            print_not_compared(error)
        compared = {clock_here()[0]}
        for node, host in list(self._known.items()):
            try:
                if not host.is_silent:
                    host.compare_clocks(compared)
            except Exception as error:  # the host may have gone
                print_not_compared(error)
                host.is_silent = True
                if _NOT_INSTALLED in str(error):
                    self._without.add(node)
                    del self._known[node]

    def _end_all(self) -> None:
        """Fetch the records of all hosts, also of one that was silent for a while. No actor records any more then."""
        places: dict[Place, _Host] = {}
        for host in self._known.values():
            with _print_no_records(f"the host of {host.name} cannot be asked for records of workers"):
                place = host.place()
                if place is not None:
                    places.setdefault(place, host)
        for host in places.values():
            with _print_no_records(f"the records of workers on the host of {host.name} are not in the run"):
                host.fetch(self._parent, self._run_id)
