"""The viewer's page of a run below a cell."""

from __future__ import annotations

from IPython.display import display

from timeloom._view import View


def show(run: str) -> None:
    """Show the timeline of a woven run. Raises timeloom.Error."""
    display(View([run])._repr_mimebundle_(), raw=True)
