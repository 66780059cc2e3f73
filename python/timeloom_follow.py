"""Continues the measurement in a Python that a measured program has started.

timeloom.pth imports it at the start of Python if TIMELOOM_PARENT names the spool of the process that started this one;
timeloom.start, which takes its place from Python 3.18 on, imports it always. It lies outside of the package, so that a
process that is not measured does not load the package.
"""

import _imp
import os
import sys

TYPE_CHECKING = False  # as typing.TYPE_CHECKING
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Literal

    _Role = Literal["worker", "server", "spark", "daemon", "rank", "program"]

_VARIABLE, _RUN_ID = "TIMELOOM_PARENT", "TIMELOOM_RUN_ID"
_BOOT_ID = "/proc/sys/kernel/random/boot_id"
_HOME, _ANSWERS = "TIMELOOM_HOME", "TIMELOOM_ANSWERS"  # of timeloom._engines._ray_hosts
_SPAWN, _RANK = "TIMELOOM_SPAWN", "TIMELOOM_RANK"
_RAY = "/ray/_private/workers/default_worker.py"
_HELPERS = (
    "resource_tracker import main", "backend.resource_tracker", "/ray/_private/log_monitor.py",
    "/ray/_private/runtime_env/agent/main.py", "/ray/_private/workers/setup_worker.py",
    "/ray/autoscaler/_private/monitor.py", "/ray/dashboard/agent.py", "/ray/dashboard/dashboard.py",
    "/find_spark_home.py",
)  # fmt: skip
_SERVERS = ("multiprocessing.forkserver import main",)
_WORKERS = ("multiprocessing.spawn import spawn_main", "backend.popen_loky", _RAY)
_SPARK_WORKER, _SPARK_DAEMON = "pyspark.worker", "pyspark.daemon"
_OWN_DOORS = ("timeloom", "scorep", "omnitrace", "rocprofsys")  # these start their own run
_TAKE_VALUES = ("-X", "-W", "--check-hash-based-pycs")  # flags of the interpreter
_MOST = 1 << 20  # bytes read to find a setting
_WORKERS_RECORD = b"TIMELOOM_WORKERS="

sub_module: "ModuleType | None" = None  # in a sub-interpreter that is recorded: timeloom._sub
_noted: "list[str]" = []  # in a sub-interpreter: recorded or counted in this run


def _is_own_door(words: "list[str]") -> bool:
    """True if a door is started by its name, or by the path of its package as ``timeloom run`` does."""
    places = [at for at in range(1, len(words)) if words[at][:1] != "-" and words[at - 1] not in _TAKE_VALUES]
    before, word = words[places[0] - 1 : places[0] + 1] if places else ("", "")
    if before[:1] == "-" and before[-1:] == "m":  # -m, also joined with other flags
        return word.partition(".")[0] in _OWN_DOORS
    packages = os.path.realpath(os.path.dirname(__file__))
    paths = [os.path.join(packages, door, "__main__.py") for door in _OWN_DOORS]
    return word.endswith("/__main__.py") and os.path.realpath(word) in paths


def _spark_role(words: "list[str]") -> "_Role | None":
    """Return the purpose of a Python that Spark has started by ``-m MODULE [pyspark.worker]``.

    The module is one of the user's if spark.python.daemon.module names it: it forks the workers as pyspark's does.
    """
    flag, module, worker = (words[1:4] + ["", "", ""])[:3]
    if flag != "-m":
        return None
    if module == _SPARK_WORKER:
        return "spark"
    return "daemon" if module == _SPARK_DAEMON or worker == _SPARK_WORKER else None


def role_of(words: "list[str]") -> "_Role | None":
    """Return the purpose of a Python with this command line.

    "worker" or "server" of multiprocessing and the like, "spark" or "daemon" of Spark, "rank" if MPI_Comm_spawn has
    started it, "program" for anything else, None if there is nothing to measure.
    """
    text = " ".join(words)
    if _is_own_door(words) or any(mark in text for mark in _HELPERS):
        return None
    if _SPAWN in os.environ and _RANK not in os.environ:  # children of the rank itself have both
        return "rank"
    if any(mark in text for mark in _SERVERS):
        return "server"
    if "--multiprocessing-fork" in words or any(mark in text for mark in _WORKERS):
        return "worker"
    return _spark_role(words) or "program"


def records_of(parent: str) -> "list[bytes] | None":
    """Return the records of settings that its processes share; None if the run is gone.

    Settings are the first of them: see src/settings/inheritance.hpp.
    """
    if not os.path.isdir(parent):  # it has been woven, and another run may have its name now
        return None
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK  # as in note_unmeasured()
    try:
        file = os.open(os.path.join(os.path.dirname(parent), "settings"), flags)
    except OSError:
        return None
    try:
        return os.read(file, _MOST).split(b"\0")
    except OSError:
        return None
    finally:
        os.close(file)


def workers_setting(parent: str, records: "list[bytes] | None" = None) -> str:
    """Return the setting workers of the run; empty if it is not given."""
    for record in records_of(parent) or () if records is None else records:
        if record.startswith(_WORKERS_RECORD):
            return record[len(_WORKERS_RECORD) :].decode(errors="replace")
    return ""


def in_sub_interpreter() -> bool:
    """True if this is not the main interpreter of its process."""
    for name in ("_interpreters", "_xxsubinterpreters"):  # from 3.13 on, and before
        known = name in sys.modules
        try:
            module = __import__(name)
        except ImportError:
            continue
        if not known:  # under plain python the program would not find it loaded
            del sys.modules[name]
        return bool(module.get_current() != module.get_main())
    return False


def _is_refused() -> bool:
    """Record the functions of this sub-interpreter from here on; True if the extension has refused to.

    If the extension cannot be asked, the session counts the interpreter at its end.

    The module lies in the file of the extension, whose state it shares. Nothing of it shows in sys.modules.
    """
    global sub_module
    package = os.path.join(os.path.dirname(os.path.abspath(__file__)), "timeloom")
    paths = [os.path.join(package, "_core" + suffix) for suffix in _imp.extension_suffixes()]
    spec = type(__spec__)("timeloom._sub", None, origin=next(filter(os.path.exists, paths), None))
    try:
        module = _imp.create_dynamic(spec)
        _imp.exec_dynamic(module)
        sub_module = module if module.join() else None
    except Exception:  # the program must run in any case
        return False
    return sub_module is None


def _is_run(status: os.stat_result, told: str) -> bool:
    """True if a directory is the run that the parent has named: as src/core/known_directory.hpp."""
    if not told:
        return True
    device, number, *boot = (int(part, 16) for part in told.split("-"))
    with open(_BOOT_ID, "rb") as file:
        here = int(file.read().replace(b"-", b""), 16)
    counts = device != 0 and here == boot[0] << 64 | boot[1]  # 0: of another machine
    return number == status.st_ino and (device == status.st_dev or not counts)


def _open_spools(spools: str, opened: "list[int]", told: str) -> None:
    """Open the run and the directories below it down to this one, which is last, without following a link there.

    ``told`` is the id of the run; empty: any run at this path counts.
    """
    run, _, below = (spools + "/").rpartition("/spool/")
    flags = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
    opened.append(os.open(run, flags))
    if not _is_run(os.fstat(opened[-1]), told):
        raise ValueError(run)
    for name in ["spool", *filter(None, below.split("/"))]:
        opened.append(os.open(name, flags | os.O_NOFOLLOW, dir_fd=opened[-1]))


def note_unmeasured(parent: str, mark: bytes = b".", told: "str | None" = None) -> None:
    """Count an unmeasured process (.), sub-interpreter (i) or worker left out (w): a byte each in a file of the run.

    ``told`` is the id of the run; None: the environment has it.
    """
    if not os.path.isdir(parent):
        return
    told = os.environ.get(_RUN_ID, "") if told is None else told
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
    flags |= os.O_NOFOLLOW | os.O_NONBLOCK  # another user may have put a link or a FIFO in its place
    opened: list[int] = []
    try:
        _open_spools(os.path.dirname(parent), opened, told)
        opened.append(os.open("unmeasured", flags, 0o666, dir_fd=opened[-1]))
        if os.fstat(opened[-1]).st_nlink == 1:  # otherwise it may be any file of the user
            os.write(opened[-1], mark)
    except (OSError, ValueError):  # the run is gone, or another one, or its disk is full
        pass
    finally:
        for descriptor in opened:
            os.close(descriptor)


def _open_places(spools: str, opened: "list[int]") -> int:
    """Open the file in which workers take their places, see src/python/session/worker_places.hpp."""
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    _open_spools(spools, opened, os.environ.get(_RUN_ID, ""))
    opened.append(os.open("workers", flags, 0o666, dir_fd=opened[-1]))
    if os.fstat(opened[-1]).st_nlink != 1:
        raise ValueError(spools)
    return opened[-1]


def _number_of_place(parent: str, mark: bytes) -> int:
    """Return the number of this process among the workers with the same mark, from 1 on; 0 if it is not known."""
    opened: list[int] = []
    try:
        file = _open_places(os.path.dirname(parent), opened)
        os.write(file, mark)
        end = os.lseek(file, 0, os.SEEK_CUR)
        return os.pread(file, end, 0).count(mark) if end <= _MOST else 0
    except (OSError, ValueError):  # the run is gone, or another one, or its disk is full
        return 0
    finally:
        for descriptor in opened:
            os.close(descriptor)


def _is_left_out(role: "_Role", records: "list[bytes]", parent: str) -> bool:
    """True if the setting workers leaves this process out, which is counted then.

    A number or "none" is decided here. A pattern is left to the extension, which decides when the worker has a name.
    A server or daemon is left out only by "none": otherwise its forked children ask.
    """
    chosen = workers_setting(parent, records)
    is_number = chosen.isascii() and chosen.isdecimal() and len(chosen) < 20
    most = 0 if chosen == "none" else int(chosen) if is_number else None
    if most is None or role in ("program", "rank"):
        return False
    if role in ("server", "daemon"):
        if most == 0:  # nothing is loaded for its children either
            told = os.environ.get(_RUN_ID, "")  # they do not find it there: another run may be at this path then
            os.register_at_fork(after_in_child=lambda: note_unmeasured(parent, b"w", told))
        return most == 0
    mark = b"s" if role == "spark" else b"r" if _RAY in " ".join(sys.orig_argv) else b"p"
    if most != 0 and 0 < _number_of_place(parent, mark) <= most:
        return False
    note_unmeasured(parent, b"w")
    return True


def _print_not_recorded(error: Exception) -> None:
    reason = str(error).partition(" [TL")[0]
    sys.stderr.write(f"timeloom: process {os.getpid()} is not recorded: {reason} [TL018]\n")


def _parent_on_this_host(parent: str) -> str:
    """Return what stands for a parent on another host, whose run this one does not see; the parent if nothing does."""
    home = os.environ.pop(_HOME, "")
    if not home or os.path.isdir(parent):
        return parent
    try:
        from timeloom._engines._host_records import begin_apart

        here = begin_apart(parent, home)
    except Exception as error:  # the program must run in any case
        _print_not_recorded(error)
        return parent
    if here:
        os.environ[_VARIABLE] = here
        os.environ.pop(_RUN_ID, None)
    return here or parent


def is_spool_of_this_process(spool: str) -> bool:
    """True if PID in its name, HOST-PID-START-NUMBER, is the id of this process."""
    return os.path.basename(spool).split("-")[-3:-2] == [str(os.getpid())]


def _forget_parent() -> None:
    del os.environ[_VARIABLE]
    os.environ.pop(_RUN_ID, None)


def follow() -> None:
    """Begin to measure this process, if it is to be measured."""
    parent = os.environ[_VARIABLE]
    # The variable may name a spool of this process, if the process became another program meanwhile.
    if is_spool_of_this_process(parent) and in_sub_interpreter():
        if not _noted and _is_refused():  # this module stays, since timeloom.pth may be read twice
            note_unmeasured(parent, b"i")
        _noted.append(parent)
        return
    if is_spool_of_this_process(parent) and "timeloom._core" in sys.modules:  # timeloom.pth was read twice
        sys.modules.pop(__name__, None)
        return
    if sys.hexversion < 0x030B0000:  # it cannot be measured
        note_unmeasured(parent)
        _forget_parent()
        return
    role = role_of(sys.orig_argv)
    parent = _parent_on_this_host(parent) if role == "worker" else parent
    answers = os.environ.pop(_ANSWERS, "") != ""  # an actor of ours, which the setting workers does not choose among
    records = records_of(parent)
    if records is None or (role == "program" and b"TIMELOOM_FOLLOW=all" not in records):
        if records is not None:
            note_unmeasured(parent)
        _forget_parent()  # children of this process have none either
    elif role is not None and not answers and _is_left_out(role, records, parent):
        _forget_parent()
    elif role is not None:
        try:
            from timeloom import _core

            _core.follow(parent, "program" if answers else role)
        except Exception as error:  # the program must run in any case
            _forget_parent()
            _print_not_recorded(error)
    sys.modules.pop(__name__, None)


def start() -> None:
    """Begin to measure this process if a measured one has started it: the entry point of timeloom.start."""
    if os.environ.get(_VARIABLE):
        follow()
    else:
        sys.modules.pop(__name__, None)
