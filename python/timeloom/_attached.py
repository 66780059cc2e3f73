"""The code that `timeloom attach` runs in the process that it records: once, on its main thread.

The attaching command puts this text into a script, with the name REQUEST bound; see _attach.py. The process may have no
Timeloom on its path, or one that it cannot read, so nothing of the package is imported before its version is known. The
code prints nothing, changes no variable or directory of the process, and leaves no name behind.
"""

import sys

TYPE_CHECKING = False  # as typing.TYPE_CHECKING
if TYPE_CHECKING:
    from _socket import socket
    from types import ModuleType
    from typing import TypedDict

    class Request(TypedDict):
        socket: str  # of the attaching command
        package: str  # its timeloom/
        version: str
        run: str
        seconds: float  # 0: until the command ends it
        frames: int  # calls between the program and the script


def load_from(directory: str) -> "ModuleType":
    """Return the package timeloom in `directory`; the search for modules is not used."""
    from _frozen_importlib import module_from_spec
    from _frozen_importlib_external import spec_from_file_location

    spec = spec_from_file_location("timeloom", f"{directory}/__init__.py", submodule_search_locations=[directory])
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules["timeloom"] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules["timeloom"]
        raise
    return module


def load_package(directory: str, version: str) -> "ModuleType":
    """Return the package timeloom: the loaded one, else the one in `directory`, the attaching command's.

    If this process may not read that one, it imports timeloom from its own path. Raises ImportError if the version
    is not `version`.
    """
    module = sys.modules.get("timeloom")
    if module is None:
        try:
            module = load_from(directory)
        except PermissionError as error:
            try:
                import timeloom as module
            except ModuleNotFoundError:
                raise error from None
    assert module is not None
    present = getattr(module, "__version__", None)
    if present != version:
        its = f"Timeloom {present}" if present else "another module of the name timeloom"
        raise ImportError(f"it uses {its}, this is {version}; use the timeloom of its own environment")
    return module


def _refuse(channel: "socket", reason: str) -> None:
    try:  # noqa: SIM105 (the process may not have loaded contextlib)
        channel.sendall(f"refused {reason}\n".encode("utf-8", "backslashreplace"))
    except OSError:
        pass  # the command has ended


def attach(request: "Request") -> None:
    """Begin to record and report so to the attaching command, or the reason for a failure.

    Does nothing if the command does not wait any more.
    """
    import _socket

    channel = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        channel.settimeout(5)  # it answers at once, if it exists
        try:
            channel.connect(request["socket"])
            if channel.recv(2) != b"go":
                return
        except OSError:
            return
        except BaseException as error:  # of a signal handler of the program, which gets it
            _refuse(channel, f"a signal handler of the program has raised {type(error).__name__}; try it again")
            raise
        try:
            load_package(request["package"], request["version"])
            from timeloom import _core

            channel.settimeout(None)
            # Inside the program's call: those that have led to the script, the script, and its calls.
            innermost = sys._getframe(2 + request["frames"]).f_back
            _core.begin_attached(request["run"], channel.fileno(), request["seconds"], innermost)
            channel.detach()
        except KeyboardInterrupt:
            import _thread

            _refuse(channel, "it was interrupted")
            _thread.interrupt_main()  # the signal was meant for the program
        except BaseException as error:
            _refuse(channel, " ".join(f"{error}".split()) or type(error).__name__)
    finally:
        channel.close()


if "REQUEST" in globals():
    attach(globals()["REQUEST"])
