"""The function with which subprocess starts programs. Imports only modules that are loaded in a program with -S."""

import sys

TYPE_CHECKING = False  # as typing.TYPE_CHECKING
if TYPE_CHECKING:
    from types import ModuleType


def module_of_fork_exec() -> "ModuleType | None":
    """Return the module _posixsubprocess of this Python, without loading it visibly for the program."""
    name = "_posixsubprocess"
    if name in sys.modules:
        return sys.modules[name]
    from _frozen_importlib import BuiltinImporter, module_from_spec
    from _frozen_importlib_external import PathFinder

    version = f"python{sys.version_info[0]}.{sys.version_info[1]}{sys.abiflags}"
    own = f"{sys.base_exec_prefix}/{sys.platlibdir}/{version}/lib-dynload"
    spec = BuiltinImporter.find_spec(name) or PathFinder.find_spec(name, [own])
    if spec is None:
        return None
    module = module_from_spec(spec)
    sys.modules.pop(name, None)
    return module
