"""What a program does when Ray connects it and disconnects it, with modules that stand in for Ray's."""

import importlib
import sys
import types

import pytest

from timeloom import _core
from timeloom._engines import _ray_connection

pytestmark = pytest.mark.any_python


@pytest.fixture
def told(tmp_path, monkeypatch):
    """The events of a connection, in their order."""
    told = []

    class Hosts:
        def __init__(self, token, variables):
            self.token = token

        def begin(self):
            told.append(f"begin {self.token}")

        def end(self):
            told.append(f"end {self.token}")

    monkeypatch.setattr(_ray_connection, "Hosts", Hosts)
    monkeypatch.setattr(_ray_connection, "_waiting", [])
    return told


@pytest.fixture
def worker(told, monkeypatch):
    """Ray's module, as far as it is used, with the hooks of another library before and behind ours."""
    worker = types.SimpleNamespace(
        global_worker=types.SimpleNamespace(mode=0),
        _post_init_hooks=[lambda: told.append("first")],
        disconnect=lambda *_: told.append("disconnect"),
    )
    monkeypatch.setitem(sys.modules, "ray._private.worker", worker)
    return worker


@pytest.fixture
def hook(monkeypatch):
    """The function that Ray calls before it connects."""
    monkeypatch.setenv("RAY_RUNTIME_ENV_HOOK", "timeloom.ray.hook")  # the module sets it
    return importlib.import_module("timeloom.ray").hook


def connect(worker):
    for hook in worker._post_init_hooks:  # as Ray does it
        hook()


def test_an_attempt_fails(told, worker):
    """The next one is watched, and the hooks of other libraries are called."""
    _ray_connection.watch_connection("1", {})
    worker._post_init_hooks.append(lambda: told.append("last"))
    _ray_connection.forget_connection()
    _ray_connection.watch_connection("2", {})
    connect(worker)
    worker.disconnect()
    assert told == ["first", "begin 2", "last", "end 2", "disconnect"]


def test_one_connection_after_the_other(told, worker):
    for token in "12":
        _ray_connection.forget_connection()
        _ray_connection.watch_connection(token, {})
        connect(worker)
        worker.disconnect()
    worker.disconnect()
    assert [event for event in told if event != "first"] == [
        "begin 1", "end 1", "disconnect", "begin 2", "end 2", "disconnect", "disconnect",
    ]  # fmt: skip


def test_another_attempt_while_it_is_connected(told, worker):
    """ray.init(ignore_reinit_error=True) calls the hook, and no more."""
    _ray_connection.watch_connection("1", {})
    connect(worker)
    _ray_connection.forget_connection()
    _ray_connection.watch_connection("2", {})
    worker.disconnect()
    assert told == ["first", "begin 1", "end 1", "disconnect"]


def test_no_measurement_at_the_next_attempt(told, worker, hook, monkeypatch):
    monkeypatch.setattr(_core, "running", lambda: False)
    _ray_connection.watch_connection("1", {})
    assert hook(None) is None
    connect(worker)
    worker.disconnect()
    assert told == ["first", "disconnect"]


def test_no_thread_can_be_started(told, worker, monkeypatch, capsys):
    def begin(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(_ray_connection.Hosts, "begin", begin)
    _ray_connection.watch_connection("1", {})
    connect(worker)
    worker.disconnect()
    assert told == ["first", "disconnect"]
    assert capsys.readouterr().err.endswith("RuntimeError: can't start new thread [TL178]\n")
