"""The kernels of GPUs in a run, from its events."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

_STREAM = re.compile(r"CUDA\[(\d+):(\d+)\]")  # as src/weave/gpu/gpu_waits.cpp names them


class _Thread:
    """The open regions of a thread, with their times, and the call of CUDA that was entered last."""

    def __init__(self, name: str) -> None:
        self.stream = _STREAM.fullmatch(name)
        self.open: list[tuple[str, int]] = []
        self.kernel: dict[str, Any] = {}

    def work(self, event: dict[str, Any]) -> None:
        device, stream = self.stream.groups() if self.stream else (0, 0)
        self.kernel = {
            "name": event["name"], "process": event["process"], "device": int(device), "stream": int(stream),
            "start_s": event["time_ns"] * 1e-9, "end_s": None, "queue_s": None, "launched_by": None,
        }  # fmt: skip


def kernels_in(events: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the kernels in order of their starts, from rows of a table of events."""
    kernels: list[tuple[dict[str, Any], tuple[str, int]]] = []  # with process and time of the call
    callers: dict[tuple[str, int], list[str]] = {}  # the functions around calls that started work
    threads: dict[tuple[str, str], _Thread] = {}
    for event in events:
        process, name, kind = event["process"], event["thread"], event["event"]
        thread = threads.get((process, name)) or threads.setdefault((process, name), _Thread(name))
        if kind == "enter":
            if thread.stream:
                thread.work(event)
            thread.open.append((event["name"], event["time_ns"]))
        elif kind == "leave" and thread.open:
            _, start = thread.open.pop()
            if thread.stream and thread.kernel:
                kernel, thread.kernel = thread.kernel, {}
                kernel["end_s"] = event["time_ns"] * 1e-9
                kernels.append((kernel, (process, start - round((kernel["queue_s"] or 0) * 1e9))))
        elif kind == "metric" and event["name"] == "gpu_queue_time" and thread.kernel:
            thread.kernel["queue_s"] = event["number"] * 1e-9
        elif kind == "metric" and event["name"] == "gpu_bytes":
            thread.kernel = {}  # a copy
        elif kind == "metric" and event["name"] == "gpu_time" and thread.open:
            functions = [region for region, _ in thread.open[:-1]]
            callers.setdefault((process, thread.open[-1][1]), functions)
    for kernel, call in kernels:
        kernel["launched_by"] = callers.get(call)
    return [kernel for kernel, _ in sorted(kernels, key=lambda one: float(one[0]["start_s"]))]
