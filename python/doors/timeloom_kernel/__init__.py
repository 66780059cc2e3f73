"""The name by which Jupyter knows Timeloom's kernel, and by which it is installed: docs/notebook.md.

The kernel itself is the package ``timeloom._notebook``.
"""

from timeloom._notebook import load_ipython_extension, unload_ipython_extension

__all__ = ["load_ipython_extension", "unload_ipython_extension"]
