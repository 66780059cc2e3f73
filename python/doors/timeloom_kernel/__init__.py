"""The name under which Jupyter knows Timeloom's kernel, and under which it is installed: docs/notebook.md.

The kernel itself is the package ``timeloom._notebook``. Imports nothing: the directory of the notebook is still on the
path here, and ``__main__`` removes it.
"""

TYPE_CHECKING = False  # as typing.TYPE_CHECKING
if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from timeloom._notebook._notebook import Notebook


def load_ipython_extension(shell: "InteractiveShell") -> "Notebook":
    """Load the extension; IPython calls it."""
    from timeloom import _notebook

    return _notebook.load_ipython_extension(shell)


def unload_ipython_extension(shell: "InteractiveShell") -> None:
    """Remove everything that the extension has put into the shell; IPython calls it."""
    from timeloom import _notebook

    _notebook.unload_ipython_extension(shell)
