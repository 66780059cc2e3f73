"""Has workers of a Dask cluster that runs already begin to record, and prints a line for those that cannot."""

from __future__ import annotations

import fnmatch
import sys
from importlib import metadata
from typing import TYPE_CHECKING, Any

from timeloom._engines import _dask_marks, _dask_worker, _host_records
from timeloom_follow import workers_setting

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_MOST = 3  # workers that a line names
_PROBE_SECONDS = 5  # for a task to come to a worker


def _workers(reasons: Mapping[str, str]) -> str:
    """Return the workers that are not measured, by their addresses, and the first reason."""
    named = ", ".join(sorted(reasons)[:_MOST]) + (", ..." if len(reasons) > _MOST else "")
    what = "1 worker of Dask is" if len(reasons) == 1 else f"{len(reasons)} workers of Dask are"
    return f"{what} not measured ({named}): {next(iter(reasons.values()))}"


def _print_unable(reasons: Mapping[str, str]) -> None:
    if reasons:
        sys.stderr.write(f"timeloom: {_workers(reasons)} [TL145]\n")


def print_failed(reasons: Mapping[str, str]) -> None:
    """Print a line that names the workers, and the first reason."""
    if reasons:
        sys.stderr.write(f"timeloom: {_workers(reasons)} [TL146]\n")


def _print_taken(addresses: Iterable[str]) -> None:
    taken = dict.fromkeys(addresses, "another program measures them")
    if taken:
        sys.stderr.write(f"timeloom: {_workers(taken)} [TL452]\n")


def _print_unknown_version() -> None:
    version = getattr(sys.modules["distributed"], "__version__", "")
    sys.stderr.write(
        "timeloom: tasks of all clients of Dask's workers are recorded: "
        f"Timeloom does not know distributed {version} [TL453]\n"
    )


def _print_dropped() -> None:
    sys.stderr.write(
        "timeloom: tasks of all clients of Dask's workers are recorded: "
        "their scheduler does not hand annotations of tasks on [TL454]\n"
    )


def _reason(answer: object, version: str) -> str:
    """Return why a worker cannot be measured, from its answer: the version of its Timeloom, or an exception."""
    if isinstance(answer, metadata.PackageNotFoundError):
        return f"Timeloom is not installed there; write: python -m pip install timeloom=={version}"
    if isinstance(answer, BaseException):
        return f"{type(answer).__name__}: {answer}".splitlines()[0]
    return "" if answer == version else f"Timeloom {answer} is installed there, here {version}"


async def _words(client: Any, addresses: list[str], able: list[str]) -> dict[str, list[str]]:
    """Return the texts of each worker that a pattern may match: its address, its name, and its name in the run.

    Only `able` workers, which have this module, are asked for their names.
    """
    names = await client.run(_dask_worker.name_here, workers=able, on_error="return") if able else {}
    words = {address: [address] for address in addresses}
    for address, name in names.items():
        words[address] += [str(name), f"Dask worker {name} {address}"]
    return words


def _number(setting: str) -> int | None:
    """Return the number of workers that the setting allows; None: it is a pattern, or all."""
    if setting == "none":
        return 0
    return int(setting) if setting.isascii() and setting.isdecimal() else None


async def _has_left(client: Any, other: str) -> bool:
    """Return whether a client has left the scheduler, which writes down its coming and going."""
    events = await client.scheduler.events(topic=other)
    actions = [event.get("action") for _, event in events if isinstance(event, dict)]
    known = [action for action in actions if action in ("add-client", "remove-client")]
    return not known or known[-1] == "remove-client"


class Workers:
    """The workers of a cluster that record into the run of this process."""

    def __init__(self, client: Any, variables: Mapping[str, str], token: str) -> None:
        """Begin with no worker. `token`: of the directories on other hosts."""
        self._client, self._variables, self._token = client, dict(variables), token
        self._parent = self._variables["TIMELOOM_PARENT"]
        self._mark = _dask_marks.mark_tasks(self._variables["TIMELOOM_RUN_ID"])
        self._is_mark_tried = False
        self._places = 0  # which the setting has given away
        self.joined: list[str] = []

    async def join(self, addresses: list[str]) -> list[str]:
        """Have these workers begin to record; return those that do."""
        able = await self._able(addresses)
        answers = await self._ask(able)
        if taken := await self._left_behind(answers):
            await self._client.run(_dask_worker.leave, workers=taken, on_error="ignore")
            answers.update(await self._ask(taken))
        marks = ("", _dask_worker.MEASURED, _dask_worker.AT_HOME)
        failed = {address: answer for address, answer in answers.items() if answer not in marks}
        others = [address for address, answer in failed.items() if answer.startswith(_dask_worker.OF_ANOTHER)]
        _print_taken(others)
        print_failed({address: answer for address, answer in failed.items() if address not in others})
        joined = [address for address, answer in answers.items() if answer in ("", _dask_worker.AT_HOME)]
        self.joined += joined
        if joined and not self._is_mark_tried:
            self._is_mark_tried = True
            await self._try_mark(joined)
        return joined

    async def _try_mark(self, workers: list[str]) -> None:
        """Hide nothing if no task at a worker has the mark."""
        if not self._mark:
            _print_unknown_version()
        elif await self._came_without_mark(workers[0]):
            self._mark = ""
            await self._client.run(_dask_marks.show_others, workers=workers, on_error="ignore")
            _print_dropped()

    async def _came_without_mark(self, worker: str) -> bool:
        """Return True if a task of this client comes to the worker without its mark. It need not run there."""
        key = f"{_dask_marks.PROBE}{self._token}"
        future = self._client.submit(bool, key=key, workers=[worker], allow_other_workers=False, pure=False)
        look = (_dask_marks.mark_that_came, key, _PROBE_SECONDS)
        try:
            told = await self._client.run(*look, workers=[worker], on_error="ignore")
        finally:
            future.release()
        return bool(told.get(worker) == "")

    async def _able(self, addresses: list[str]) -> list[str]:
        """Return the workers that are to be measured and can be."""
        version = metadata.version("timeloom")
        versions = await self._client.run(metadata.version, "timeloom", workers=addresses, on_error="return")
        wrong = {address: reason for address, told in versions.items() if (reason := _reason(told, version))}
        able = [address for address in versions if address not in wrong]
        chosen = await self._chosen(list(versions), able)
        _print_unable({address: reason for address, reason in wrong.items() if address in chosen})
        if left := [address for address in able if address not in chosen]:
            await self._client.run(_dask_marks.hand_marks_on, workers=left, on_error="ignore")
        return [address for address in able if address in chosen]

    async def _chosen(self, addresses: list[str], able: list[str]) -> list[str]:
        """Return the workers that the setting workers chooses; print the number of the others."""
        setting = workers_setting(self._parent)
        if setting in ("", "all"):
            return addresses
        if (most := _number(setting)) is not None:
            chosen = sorted(addresses)[: max(0, most - self._places)]
        else:
            words = await _words(self._client, addresses, able)
            chosen = [one for one, own in words.items() if any(fnmatch.fnmatchcase(word, setting) for word in own)]
        self._places += len(chosen)
        if left := len(addresses) - len(chosen):
            sys.stderr.write(f"timeloom: {left} worker{'s' * (left > 1)} of Dask left out: --workers [TL479]\n")
        return chosen

    async def _ask(self, workers: list[str]) -> dict[str, str]:
        if not workers:
            return {}
        settings = _host_records.settings_of(self._parent)
        facts = (self._variables, self._token, settings, (self._client.id, self._mark))
        answers = await self._client.run(_dask_worker.join, *facts, workers=workers, on_error="return")
        return {address: str(answer) for address, answer in answers.items()}

    async def _left_behind(self, answers: Mapping[str, str]) -> list[str]:
        """Return the workers that record into the run of a program that has ended without telling them."""
        mark = _dask_worker.OF_ANOTHER
        clients = {address: answer[len(mark) :] for address, answer in answers.items() if answer.startswith(mark)}
        gone = {other for other in set(clients.values()) if other and await _has_left(self._client, other)}
        return [address for address, other in clients.items() if other in gone]
