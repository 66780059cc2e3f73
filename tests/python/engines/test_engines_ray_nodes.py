"""Questions of a program to the nodes of a cluster of Ray, with modules that stand in for Ray's."""

import sys
import types
from typing import ClassVar

import pytest

from timeloom._engines import _clocks, _ray_host, _ray_hosts

pytestmark = pytest.mark.any_python

TOKEN = "0" * 32
MISSING = "ModuleNotFoundError\nNo module named 'timeloom._engines'"


class Node:
    """Answers as the actor on a node does; `fails`: texts of errors in place of answers, by the function."""

    order: ClassVar[list[str]] = []  # of the questions to all nodes

    def __init__(self, boot="boot", place=(1, 2), fails=()):
        self.boot, self.place, self.fails, self.asked = boot, place, dict(fails), []

    def answer(self, function, *arguments):
        self.asked.append(function)
        Node.order.append(function)
        if function in self.fails:
            raise RuntimeError(self.fails[function])
        answers = {"clock_here": (self.boot, 0), "place_here": self.place and (self.boot, *self.place), "files_here": []}
        return answers.get(function)


@pytest.fixture
def run_program(tmp_path, monkeypatch, capsys):
    """Connects a program to nodes, by their ids and names, and disconnects it; returns the lines."""
    (tmp_path / "run/spool/host-1-2-1").mkdir(parents=True)
    Node.order.clear()

    def run_program(nodes, ray_fails=""):
        def remote(**_):
            return lambda _: types.SimpleNamespace(options=lambda scheduling_strategy, runtime_env: types.SimpleNamespace(
                remote=lambda: types.SimpleNamespace(ask=types.SimpleNamespace(
                    remote=lambda *question: lambda: nodes[scheduling_strategy].answer(*question)))))  # fmt: skip

        def all_nodes():
            moment = next(moments)
            if moment == ray_fails:
                raise RuntimeError(f"no nodes at the {moment}")
            named = [{"NodeID": node, "NodeManagerHostname": node.rstrip("+"), "Alive": True} for node in nodes]
            return [*named, {"NodeID": "own", "NodeManagerHostname": "own", "Alive": True}]

        moments = iter(["start", "end"])
        context = types.SimpleNamespace(get_node_id=lambda: "own")
        ray = types.SimpleNamespace(nodes=all_nodes, get_runtime_context=lambda: context, remote=remote,
                                    get=lambda answer, timeout: answer())  # fmt: skip
        strategies = types.SimpleNamespace(NodeAffinitySchedulingStrategy=lambda node, soft: node)
        monkeypatch.setitem(sys.modules, "ray", ray)
        monkeypatch.setitem(sys.modules, "ray.util.scheduling_strategies", strategies)
        variables = {"TIMELOOM_PARENT": str(tmp_path / "run/spool/host-1-2-1"), "TIMELOOM_RUN_ID": ""}
        hosts = _ray_hosts.Hosts(TOKEN, variables)
        hosts.begin()
        hosts.end()
        return [line.removeprefix("timeloom: ") for line in capsys.readouterr().err.splitlines()]

    return run_program


def fetched(node):
    return node.asked.count("files_here")


def compared(node):
    return node.asked.count("note_offset")


def test_nodes_of_other_hosts(run_program):
    nodes = {"a": Node("boot-a"), "b": Node("boot-b")}
    assert run_program(nodes) == []
    assert [(compared(node), fetched(node)) for node in nodes.values()] == [(2, 1), (2, 1)]


def test_hosts_of_one_name(run_program):
    """Containers and machines that are copies may have the program's name, or the same one."""
    nodes = {"own+": Node("boot-a"), "own++": Node("boot-b")}
    assert run_program(nodes) == []
    assert [(compared(node), fetched(node)) for node in nodes.values()] == [(2, 1), (2, 1)]


def test_two_nodes_on_a_host(run_program):
    """Their clock is compared once, their records are fetched once; records in two containers, from both."""
    nodes = {"a": Node(), "a+": Node(), "a++": Node(place=(3, 4)), "a+++": Node(place=None)}
    assert run_program(nodes) == []
    assert [compared(node) for node in nodes.values()] == [2, 0, 0, 0]
    assert [fetched(node) for node in nodes.values()] == [1, 0, 1, 0]
    # No actor still records when files are fetched.
    order = [function for function in Node.order if function in ("end_here", "files_here")]
    assert order == ["end_here"] * 4 + ["files_here"] * 2


def test_a_container_on_the_host_of_the_program(run_program):
    nodes = {"a": Node(_clocks.clock_here()[0])}
    assert run_program(nodes) == []
    assert (compared(nodes["a"]), fetched(nodes["a"])) == (0, 1)


def test_clocks_that_cannot_be_compared(run_program):
    """The records come home all the same."""
    nodes = {"a": Node(fails={"note_offset": "busy"}), "b": Node("boot-b")}
    assert run_program(nodes) == ["clocks of hosts are not compared: RuntimeError: busy [TL178]"]
    assert [fetched(node) for node in nodes.values()] == [1, 1]


@pytest.mark.parametrize("when", ["start", "end"])
def test_ray_does_not_name_its_nodes(run_program, when):
    nodes = {"a": Node()}
    assert run_program(nodes, when) == [f"clocks of hosts are not compared: RuntimeError: no nodes at the {when} [TL178]"]
    assert fetched(nodes["a"]) == 1


def test_a_host_that_has_gone(run_program):
    nodes = {"a": Node(fails=dict.fromkeys(["clock_here", "end_here"], "gone")), "b": Node("boot-b")}
    assert run_program(nodes) == [
        "clocks of hosts are not compared: RuntimeError: gone [TL178]",
        "the host of a cannot be asked for records of workers: RuntimeError: gone [TL179]",
    ]
    assert fetched(nodes["b"]) == 1


def test_records_that_cannot_be_fetched(run_program):
    nodes = {"a": Node(fails={"files_here": "full"})}
    assert run_program(nodes) == ["the records of workers on the host of a are not in the run: RuntimeError: full [TL179]"]


def test_a_host_without_timeloom(run_program):
    """It has no records; one line is enough."""
    nodes = {"a": Node(fails=dict.fromkeys(["clock_here", "end_here"], MISSING))}
    assert run_program(nodes) == ["clocks of hosts are not compared: RuntimeError: ModuleNotFoundError [TL178]"]
    assert nodes["a"].asked == ["clock_here"]


def test_an_actor_that_does_not_record():
    """Its host's clock is not noted, which the program is told."""
    with pytest.raises(RuntimeError, match="does not record"):
        _ray_host.TimeloomHost().ask(_ray_host.note_offset.__name__, 1, 1)
