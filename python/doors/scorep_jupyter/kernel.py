"""``python -m scorep_jupyter.kernel``: the command in kernelspecs of the Score-P kernel."""

import sys

from timeloom_kernel.__main__ import main  # first: takes the current directory off the path

# isort: split
from typing import Any

from scorep_jupyter.kernel_messages import KERNEL_ERROR_MESSAGES
from scorep_jupyter.userpersistence import PersHelper
from timeloom._notebook._kernel import TimeloomKernel


class scorep_jupyterKernel(TimeloomKernel):
    """Timeloom's kernel with the methods of the Score-P kernel that programs call."""

    def __init__(self, **named: Any) -> None:
        super().__init__(**named)
        self.pershelper = PersHelper()

    def cell_output(self, text: str, stream: str = "stdout") -> None:
        """Write to a stream of the cell."""
        (sys.stderr if stream == "stderr" else sys.stdout).write(text)

    def log_error(self, code: Any, **facts: Any) -> None:
        """Log the error of a KernelErrorCode, and write it to the cell."""
        template = KERNEL_ERROR_MESSAGES.get(code, "Unknown error. Mode: {mode}, Marshaller: {marshaller}")
        text = template.format(mode=self.pershelper.mode, marshaller=self.pershelper.marshaller, **facts)
        self.log.error(text)
        self.cell_output(f"KernelError: {text}", "stderr")


if __name__ == "__main__":
    main()
