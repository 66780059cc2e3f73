"""Timeloom in notebooks: a kernel, and an IPython extension over the same code.

``%load_ext timeloom`` loads the extension in any IPython; ``python -m timeloom_kernel.install`` installs the kernel.
docs/notebook.md describes both.
"""

# `python -m timeloom_kernel` would search for __future__ and typing in the current directory first.
TYPE_CHECKING = False  # as typing.TYPE_CHECKING
if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from timeloom._notebook._notebook import Notebook


def load_ipython_extension(shell: "InteractiveShell") -> "Notebook":
    """Load the extension; IPython calls it."""
    from timeloom._notebook._notebook import Notebook

    return Notebook.load(shell)


def unload_ipython_extension(shell: "InteractiveShell") -> None:
    """Remove everything that the extension has put into the shell; IPython calls it."""
    from timeloom._notebook._notebook import Notebook

    Notebook.unload(shell)
