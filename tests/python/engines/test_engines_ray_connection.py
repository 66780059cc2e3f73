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


@pytest.fixture
def settings(tmp_path, monkeypatch):
    """The file with the settings of a run that is measured."""
    monkeypatch.setattr(_core, "running", lambda: True)
    monkeypatch.setenv("TIMELOOM_PARENT", str(tmp_path / "host-1-2-1"))
    monkeypatch.setenv("TIMELOOM_RUN_ID", "1-2-3")
    (tmp_path / "settings").write_bytes(b"A=1")
    return tmp_path / "settings"


def test_variables_of_workers(worker, hook, settings, capsys):
    variables = hook({"env_vars": {"A": "B"}, "pip": []})
    assert variables["pip"] == [] and set(variables["env_vars"]) == {"A", "TIMELOOM_PARENT", "TIMELOOM_RUN_ID", "TIMELOOM_HOME"}
    assert capsys.readouterr().err == ""


def test_settings_that_are_too_long(told, worker, hook, settings, capsys):
    """Linux would not start the workers; they start without the variable."""
    settings.write_bytes(bytes(50_000))
    assert "TIMELOOM_HOME" not in hook(None)["env_vars"]
    assert capsys.readouterr().err.startswith("timeloom: workers of Ray that do not see the directory of the run are not ")
    connect(worker)
    assert told[1].startswith("begin ")
    settings.write_bytes(bytes(45_000))
    assert 60_000 < len(hook(None)["env_vars"]["TIMELOOM_HOME"]) < 1 << 16


def test_an_unknown_version_of_ray(worker, hook, settings, capsys):
    """Workers that see the directory of the run are recorded."""
    del worker._post_init_hooks
    assert set(hook(None)["env_vars"]) == {"TIMELOOM_PARENT", "TIMELOOM_RUN_ID"}
    assert capsys.readouterr().err.endswith("no attribute '_post_init_hooks' [TL157]\n")
