#!/usr/bin/env python3
"""Runs random programs (scripts/trials/soak_program.py) under Timeloom and checks every run.

usage: python3 -m scripts.trials.soak [--minutes 10] [--jobs N] [--seed N] [--one] [--keep DIR]

Each program forks, starts threads, awaits and dies as its seed determines. It must end as intended,
its run must be readable by `weave`, `report` and `info`, and the calls in the run must equal the calls
that the processes counted. Errors are printed with the seed; --seed S --one runs that program again.
The interpreter is the one that runs this; the `timeloom` program is the one beside it, or
TIMELOOM_PROGRAM.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from typing import Any

PROGRAM = pathlib.Path(__file__).with_name("soak_program.py")
TIMELOOM = os.environ.get("TIMELOOM_PROGRAM") or str(pathlib.Path(sys.executable).with_name("timeloom"))
INSTRUMENTERS = ["auto", "frame", "profile", "trace"] + ["monitoring"] * (sys.version_info >= (3, 12))


class Wrong(Exception):
    """A run with wrong contents."""


def options_of(rng: random.Random) -> tuple[list[str], str]:
    """Options of a run, and its value of --follow."""
    follow = rng.choice(["workers", "all"])
    options = ["--follow", follow, "--instrumenter", rng.choice(INSTRUMENTERS)]
    limit = ["--max-size", "4M"]
    options += rng.choice([[], ["--buffer-size", "1M"], limit, [*limit, "--at-max-size", "ring"]])
    options += rng.choice([[], ["--no-weave"], ["--c-functions"]])
    if "--c-functions" in options and not {"profile", "auto", "monitoring"} & set(options):
        options.remove("--c-functions")
    return options, follow


def run_program(seed: int, options: list[str], follow: str, directory: pathlib.Path) -> tuple[int, str]:
    """(status, stderr) of a program, when all its processes have ended."""
    words = [sys.executable, "-W", "ignore", "-m", "timeloom", "--quiet", "-o", str(directory / "run"), *options,
             str(PROGRAM), str(seed), str(directory / "counts"), follow]  # fmt: skip
    environment = {k: v for k, v in os.environ.items() if not k.startswith("TIMELOOM_")}
    with open(directory / "stderr", "wb") as errors:
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True,
                                   env=environment, cwd=directory)  # fmt: skip
        try:
            process.wait(180)
        finally:
            kill_rest(process.pid)
    return process.wait(), (directory / "stderr").read_text(errors="replace")


def kill_rest(group: int) -> None:
    """Ends the rest of a process group: workers wait forever for a program that was killed."""
    time.sleep(0.05)
    for _ in range(200):
        try:
            os.killpg(group, signal.SIGKILL)
        except ProcessLookupError:
            return
        time.sleep(0.05)


def tool(*words: str | pathlib.Path) -> str:
    done = subprocess.run([TIMELOOM, *words], capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        raise Wrong(f"timeloom {words[0]} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def known(counts: pathlib.Path) -> dict[int, list[int]]:
    """[begun, ended] calls by process id."""
    result: dict[int, list[int]] = collections.defaultdict(lambda: [0, 0])
    for path in counts.glob("*-*"):
        data = path.read_bytes()
        numbers = struct.unpack(f"<{len(data) // 8}Q", data)
        sums = result[int(path.name.partition("-")[0])]
        sums[0] += sum(numbers[::2])
        sums[1] += sum(numbers[1::2])
    return result


def recorded(run: pathlib.Path, info: dict[str, Any]) -> collections.Counter[int]:
    """Calls by process id."""
    result: collections.Counter[int] = collections.Counter()
    for group in {location["group"] for location in info["locations"]}:
        rows = json.loads(tool("report", "--json", "--flat", "--group", str(group), run))["flat"]["rows"]
        calls = sum(row["visits"] for row in rows if row["name"] in ("__main__.step", "__mp_main__.step"))
        result[info["groups"][group]["process_id"]] += calls
    return result


def check_counts(directory: pathlib.Path, info: dict[str, Any], limited: bool) -> None:
    calls, missing = recorded(directory / "run", info), info["losses"]
    for process, (begun, ended) in known(directory / "counts").items():
        if limited:
            continue  # only a part is kept
        if not ended <= calls[process] <= begun:
            raise Wrong(f"process {process} made {ended} to {begun} calls, {calls[process]} are recorded; {missing}")
    lost = [loss for loss in missing if "damaged" in loss or "not sound" in loss or "could not be read" in loss]
    lost += [loss for loss in missing if "could not be recorded" in loss and not limited]
    if lost:
        raise Wrong("; ".join(lost))


def soak_one(seed: int, keep: str | None) -> dict[str, Any]:
    """Figures of one run. Raises Wrong."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix="timeloom-soak-"))
    rng = random.Random(seed)
    options, follow = options_of(rng)
    try:
        (directory / "counts").mkdir()
        status, errors = run_program(seed, options, follow, directory)
        expected = directory / "counts" / "expected"
        wanted = int(expected.read_text()) if expected.exists() else "to say how it would end"
        if status != wanted or "timeloom" in errors:
            raise Wrong(f"ended with {status}, meant {wanted}: {errors[-2000:]}")
        tool("info", directory / "run")
        info = json.loads(tool("info", "--json", directory / "run"))
        report = json.loads(tool("report", "--json", directory / "run"))
        check_counts(directory, info, "--max-size" in options)
        endings = collections.Counter(group["ending"] or "in order" for group in info["groups"])
        return {"processes": len(info["groups"]), "threads": len(info["locations"]), "events": info["events"],
                "rows": len(report["flat"]["rows"]), "endings": endings}  # fmt: skip
    except (Wrong, subprocess.TimeoutExpired, OSError, ValueError, KeyError) as error:
        if keep:
            shutil.copytree(directory, pathlib.Path(keep) / f"soak-{seed}", dirs_exist_ok=True)
        raise Wrong(f"seed {seed} ({' '.join(options)}): {error}") from None
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--one", action="store_true", help="only the program of --seed")
    parser.add_argument("--keep", metavar="DIR", help="copy what is wrong to DIR")
    arguments = parser.parse_args()
    # nohup and a shell's & change these signals; the programs die of signals.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    print(f"soak: Python {sys.version.split()[0]}, seeds from {arguments.seed} on", flush=True)
    end = time.monotonic() + (0 if arguments.one else 60 * arguments.minutes)
    seeds, wrong, runs = iter(range(arguments.seed, 1 << 62)), 0, 0
    totals: collections.Counter[str] = collections.Counter()
    endings: collections.Counter[str] = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        begun = range(1 if arguments.one else arguments.jobs)
        pending = {pool.submit(soak_one, next(seeds), arguments.keep) for _ in begun}
        while pending:
            done, pending = concurrent.futures.wait(pending, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in done:
                runs += 1
                try:
                    figures = future.result()
                    endings.update(figures.pop("endings"))
                    totals.update(figures)
                except Wrong as error:
                    wrong += 1
                    print(f"WRONG {error}", flush=True)
                if time.monotonic() < end:
                    pending.add(pool.submit(soak_one, next(seeds), arguments.keep))
    print(f"soak: {runs} runs, {wrong} wrong; {totals['processes']:,} processes, "
          f"{totals['threads']:,} threads, {totals['events']:,} events")  # fmt: skip
    print("soak: ended " + ", ".join(f"{how}: {count}" for how, count in endings.most_common()))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
