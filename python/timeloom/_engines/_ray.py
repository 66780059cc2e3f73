"""Records which tasks a process of Ray asks for, and of which tasks they take values.

The extension calls watch_submissions() when Ray connects a program or a worker to its cluster
(src/python/observe/engines/engine_tasks.cpp). Functions that differ from the known versions are left as they are.
"""

import sys

from timeloom import _core

_METHODS = (("ray.remote_function", "RemoteFunction", "_remote"), ("ray.actor", "ActorHandle", "_actor_method_call"))


def watch_submissions() -> None:
    """Have the methods of Ray by which a program asks for tasks tell of it."""
    reference = getattr(sys.modules.get("ray"), "ObjectRef", None)
    if not isinstance(reference, type):
        return
    for module, owner, name in _METHODS:
        kind = getattr(sys.modules.get(module), owner, None)
        method = vars(kind).get(name) if kind is not None else None
        if callable(method) and type(method).__module__ != "timeloom._core":
            setattr(kind, name, _core.ray_submission(method, reference))
