"""The kernel: IPython's own, with the extension loaded from the start."""

from __future__ import annotations

from typing import Any

from ipykernel.ipkernel import IPythonKernel

import timeloom
from timeloom._notebook import load_ipython_extension
from timeloom._notebook._measure import hide_kernel_threads


class TimeloomKernel(IPythonKernel):
    """IPython's kernel; the extension adds the magics to its shell."""

    implementation = "timeloom"
    implementation_version = timeloom.__version__

    def __init__(self, **named: Any) -> None:
        super().__init__(**named)
        load_ipython_extension(self.shell)

    def start(self) -> None:
        """Begin to serve; the threads that exist now belong to the kernel."""
        super().start()
        hide_kernel_threads(everything=True)
