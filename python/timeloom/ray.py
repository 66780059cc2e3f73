"""Measures the workers of a Ray cluster that the program has not started itself.

``timeloom run app.py`` measures the workers of a cluster that ``ray.init()`` starts in the program without this. For a
cluster that runs already, ``import timeloom.ray`` before ``ray.init()`` brings the workers of the program's job into
the run. ``RAY_RUNTIME_ENV_HOOK=timeloom.ray.hook`` in the environment does the same for an unchanged program. A hook
that is there already is called first.
"""

from __future__ import annotations

import copy
import importlib
import os
import sys
from typing import Any

from timeloom import _core
from timeloom._engines import _ray_connection, _ray_hosts

__all__ = ["hook"]

_HOOK, _OWN = "RAY_RUNTIME_ENV_HOOK", "timeloom.ray.hook"
_VARIABLES = ("TIMELOOM_PARENT", "TIMELOOM_RUN_ID")

_before = os.environ.get(_HOOK, "")  # the hook of another package
os.environ[_HOOK] = _OWN


def _after_hook_before(runtime_env: dict[str, Any] | None) -> dict[str, Any] | None:
    module, _, name = _before.rpartition(".")
    if not module or _before == _OWN:
        return runtime_env
    changed: dict[str, Any] | None = getattr(importlib.import_module(module), name)(runtime_env)
    return changed


def _variables_of_hosts(variables: dict[str, str]) -> dict[str, str]:
    """Have other hosts watched; return the variables by which workers record on their own host."""
    token = _ray_hosts.new_token()
    try:
        _ray_connection.watch_connection(token, variables)
    except Exception as error:  # of an unknown version
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        sys.stderr.write(f"timeloom: other hosts of Ray are not asked for clocks and records: {reason} [TL157]\n")
        return {}
    try:
        return {_ray_hosts.VARIABLE: _ray_hosts.variable_of(token, variables["TIMELOOM_PARENT"])}
    except (OSError, ValueError) as error:
        sys.stderr.write(
            f"timeloom: workers of Ray that do not see the directory of the run are not recorded: {error} [TL156]\n"
        )
        return {}


def hook(runtime_env: dict[str, Any] | None) -> dict[str, Any] | None:
    """Add the variables by which workers find the run of this program: ``ray.init()`` calls it.

    Does nothing without a measurement. Workers without Timeloom work as before. Workers that do not see the directory
    of the run record on their own host.
    """
    _ray_connection.forget_connection()
    runtime_env = _after_hook_before(runtime_env)
    variables = {name: os.environ.get(name, "") for name in _VARIABLES}
    if not all(variables.values()) or not _core.running():
        return runtime_env
    variables.update(_variables_of_hosts(variables))
    changed = {} if runtime_env is None else copy.copy(runtime_env)
    changed["env_vars"] = {**(changed.get("env_vars") or {}), **variables}
    return changed
