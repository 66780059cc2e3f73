#!/usr/bin/env python3
"""The cost of a measured cell in a notebook: until its reply, and for the cells around it.

usage: bench/notebook.py [--json] [--cells N]

Needs the packages of timeloom[jupyter] and an installed Timeloom. Starts a separate kernel.
"""

import argparse
import json
import os
import pathlib
import statistics
import sys
import tempfile
import time
from typing import Any

ROUNDS = 15
LOOP = "def spin():\n    total = 0\n    for i in range(300_000): total += abs(i)\n    return total"
CALLS = "def f(): pass\ndef calls(n):\n    for _ in range(n): f()"


class Kernel:
    """A kernel used through the protocol; times end with the reply."""

    def __init__(self, directory: pathlib.Path) -> None:
        from jupyter_client.manager import KernelManager

        from timeloom._notebook import _install as install

        nothing_more = install.Kernel({}, {})
        install.install({"timeloom-bench": "timeloom-bench"}, nothing_more, user=False, prefix=str(directory))
        os.environ["JUPYTER_PATH"] = str(directory / "share" / "jupyter")
        self.manager = KernelManager(kernel_name="timeloom-bench")
        self.manager.start_kernel(cwd=str(directory))
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=60)

    def milliseconds(self, code: str) -> float:
        """Run a cell; raises RuntimeError when it fails."""
        begin = time.perf_counter_ns()
        message = self.client.execute(code)
        while (reply := self.client.get_shell_msg(timeout=600))["parent_header"].get("msg_id") != message:
            pass
        if reply["content"]["status"] != "ok":
            raise RuntimeError(f"{code}: {reply['content']}")
        return (time.perf_counter_ns() - begin) / 1e6

    def close(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


def median_by_turns(kernel: Kernel, plain: str, measured: str) -> tuple[float, float]:
    pairs = [(kernel.milliseconds(plain), kernel.milliseconds(measured)) for _ in range(ROUNDS)]
    return statistics.median(one for one, _ in pairs), statistics.median(two for _, two in pairs)


def measure(directory: pathlib.Path, cells: int) -> dict[str, Any]:
    kernel = Kernel(directory)
    try:
        results: dict[str, Any] = {"cells": cells}
        kernel.milliseconds(f"{LOOP}\n{CALLS}")
        before = [kernel.milliseconds("spin()") for _ in range(ROUNDS)]
        results["first_measured_cell_ms"] = kernel.milliseconds("%%timeloom\npass")
        results["plain_cell_ms"], results["measured_cell_ms"] = median_by_turns(kernel, "pass", "%%timeloom\npass")
        after = [kernel.milliseconds("spin()") for _ in range(ROUNDS)]
        results["loop_after_by_before"] = statistics.median(after) / statistics.median(before)
        kernel.milliseconds("held = [bytearray(50_000_000) for _ in range(20)]")
        _, results["measured_cell_with_1_gb_ms"] = median_by_turns(kernel, "pass", "%%timeloom\npass")
        kernel.milliseconds("del held")
        cell = "%%timeloom\nbegun = time.perf_counter()\ncalls(5_000_000)\nown = time.perf_counter() - begun"
        kernel.milliseconds("import time")
        results["cell_of_10_million_events_ms"] = kernel.milliseconds(cell)
        kernel.milliseconds(f"open({str(directory / 'own')!r}, 'w').write(str(1000 * own))")
        results["of_which_its_own_ms"] = float((directory / "own").read_text())
        results["waiting_for_its_weave_ms"] = kernel.milliseconds("%timeloom wait")
        times = [kernel.milliseconds("%%timeloom\npass") for _ in range(cells)]
        tenth = max(cells // 10, 1)
        results["first_tenth_ms"] = statistics.median(times[:tenth])
        results["last_tenth_ms"] = statistics.median(times[-tenth:])
        return {name: round(value, 3) for name, value in results.items()}
    finally:
        kernel.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--cells", type=int, default=500, help="measured cells in one kernel")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        results = measure(pathlib.Path(directory), arguments.cells)
    if arguments.json:
        print(json.dumps(results, indent=1))
    else:
        print("\n".join(f"{value:>12,}  {name}" for name, value in results.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
